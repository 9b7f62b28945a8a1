"""OpenVINO itself: the CPU and Intel's GPUs and NPUs, from release 2022.1 on."""

import importlib
import os

from . import onnx_model
from .inference import InferenceProbe
from .interface import Device
from .reference import Reference


class PROBE(InferenceProbe):
    """Devices have OpenVINO's names: ``GPU``, ``GPU.1``, ``CPU``; a GPU comes before the CPU."""

    def __init__(self, backend):
        self.backend = backend
        self.core = None

    def load(self):
        """Import openvino and start its runtime."""
        module = importlib.import_module("openvino")
        if not hasattr(module, "Core"):  # before 2023.1
            module = importlib.import_module("openvino.runtime")
        self.core = module.Core()
        return {"name": "openvino", "version": module.get_version()}

    def enumerate(self):
        """Return the devices that OpenVINO lists."""
        listed = sorted(self.core.available_devices, key=lambda name: (not name.startswith("GPU"), name))
        names = [self.core.get_property(name, "FULL_DEVICE_NAME") for name in listed]
        return [Device(*both) for both in zip(listed, names)], ""

    def infer(self, device, network):
        """Compile and run the network on one device alone; "cpu" is NumPy, as OpenVINO's CPU is a device."""
        if device == "cpu":
            return Reference(network).infer()
        with open("network.onnx", "wb") as file:  # in the probe's own directory, which is removed
            file.write(onnx_model.network_model(network))
        settings = {"PERF_COUNT": "YES"}
        if "INFERENCE_PRECISION_HINT" in self.core.get_property(device, "SUPPORTED_PROPERTIES"):
            settings["INFERENCE_PRECISION_HINT"] = "f32"  # a GPU computes in float16 otherwise
        compiled = self.core.compile_model(
            self.core.read_model(os.path.abspath("network.onnx")), device, settings
        )
        request = compiled.create_infer_request()
        numpy = importlib.import_module("numpy")
        pixels = numpy.array(network.batch()[0], numpy.float32)
        images = pixels.reshape((network.BATCH, 1, network.SIDE, network.SIDE))
        (output,) = request.infer({0: images}).values()
        place = self._executed_on(compiled, device)
        ops = [(operation(node), place) for node in request.profiling_info if "EXECUTED" in str(node.status)]
        return output.ravel().tolist(), ops, "OpenVINO's execution devices and its profile of the nodes"

    def _executed_on(self, compiled, device):
        try:
            executed = compiled.get_property("EXECUTION_DEVICES")
        except RuntimeError:  # before 2022.3, where a model runs on the device that it was compiled for
            return device
        return ",".join(executed) if isinstance(executed, (list, tuple)) else str(executed)

    def same_device(self, device, ran_on):
        """Compare names as they are: OpenVINO's "CPU" is one device, "GPU.1" another; GPU is GPU.0."""
        plain = {"GPU": "GPU.0", "cpu": "cpu"}
        return plain.get(ran_on, ran_on) == plain.get(device, device)


def operation(node):
    """Return an executed node's type; a matrix product with known weights has another name in a plugin."""
    kind = node.node_type
    return "MatMul (%s)" % kind if kind == "FullyConnected" else kind
