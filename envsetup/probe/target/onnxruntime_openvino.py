"""ONNX Runtime with OpenVINO: the CPU and Intel's GPUs and NPUs."""

import importlib
import os

from .hardware import cpu_name
from .interface import Device
from .onnxruntime_base import OnnxRuntimeProbe


class PROBE(OnnxRuntimeProbe):
    """Devices have OpenVINO's names; a GPU comes before the CPU."""

    provider = "OpenVINOExecutionProvider"

    def load(self):
        """Make the openvino package's libraries known: on Windows the wheel has none of its own."""
        if os.name == "nt":
            tools = importlib.import_module("onnxruntime.tools.add_openvino_win_libs")
            tools.add_openvino_libs_to_path()
        return super().load()

    def candidates(self):
        """Return the devices that OpenVINO lists."""
        state = importlib.import_module("onnxruntime.capi._pybind_state")
        listed = getattr(state, "get_available_openvino_device_ids", list)() or ["GPU", "CPU"]
        listed = sorted(listed, key=lambda name: (not name.startswith("GPU"), name != "CPU", name))
        return [Device(name, cpu_name() if name == "CPU" else "") for name in listed]

    def options(self, device):
        """Return the device and float32, as a GPU computes in float16 otherwise."""
        release = tuple(int(part) for part in self.ort.__version__.split(".")[:2])
        if release < (1, 18):
            return {"device_type": device if "_FP" in device else device + "_FP32"}
        return {"device_type": device, "precision": "FP32"}
