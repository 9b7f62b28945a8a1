"""What the providers of ONNX Runtime share: a session for one device, and its profile as the proof."""

import importlib
import json
import os

from . import onnx_model
from .inference import InferenceProbe


class OnnxRuntimeProbe(InferenceProbe):
    """A subclass says what its provider is called, which devices it has and how one is chosen."""

    provider = "CPUExecutionProvider"

    def __init__(self, backend):
        self.backend = backend
        self.ort = None

    def load(self):
        """Import onnxruntime, and the CUDA and cuDNN that came as packages of their own (1.21 and later)."""
        self.ort = ort = importlib.import_module("onnxruntime")
        if self.backend == "cuda" and hasattr(ort, "preload_dlls"):
            ort.preload_dlls()
        providers = ort.get_available_providers()
        return {"name": "onnxruntime", "version": ort.__version__, "providers": providers}

    def options(self, device):
        """Return the provider's options for a device."""
        return {}

    def candidates(self):
        """Return the devices that may be there, as ``[Device]``; each is tried."""
        raise NotImplementedError

    def enumerate(self):
        """Return the devices that a session can be made on, or why there is none."""
        available = self.ort.get_available_providers()
        if self.provider not in available:
            text = "this onnxruntime (%s) has no %s, only %s"
            return [], text % (self.ort.__version__, self.provider, ", ".join(available))
        devices, reasons = [], []
        for device in self.candidates():
            try:
                self.session(device.id, onnx_model.tiny_model())
            except Exception as error:  # it has no class of its own in older releases
                reasons.append("%s: %s" % (device.id, " ".join(str(error).split())))
            else:
                devices.append(device)
        return devices, "" if devices else "; ".join(reasons)

    def session(self, device, model):
        """Return a session that uses ``device``.

        Raises:
            RuntimeError: ONNX Runtime left the provider out, of which it only writes a line to its log.
        """
        ort = self.ort
        options = ort.SessionOptions()
        options.enable_profiling = True
        options.profile_file_prefix = "onnxruntime"  # in the probe's own directory, which is removed
        # Each node stays what it is, so that the profile names it. DirectML would make one of them all.
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.enable_mem_pattern = self.backend != "dml" or device == "cpu"  # DirectML can't have it
        providers = ["CPUExecutionProvider"]
        if device != "cpu":
            providers.insert(0, (self.provider, self.options(device)))
        session = ort.InferenceSession(model, options, providers=providers)
        if device != "cpu" and self.provider not in session.get_providers():
            raise RuntimeError("%s could not be used; the log says why" % self.provider)
        return session

    def infer(self, device, network):
        """Run the network in a session; where each node ran is in the profile."""
        session = self.session(device, onnx_model.network_model(network))
        numpy = importlib.import_module("numpy")
        pixels = numpy.array(network.batch()[0], numpy.float32)
        images = pixels.reshape((network.BATCH, 1, network.SIDE, network.SIDE))
        (output,) = session.run([onnx_model.OUTPUT], {onnx_model.INPUT: images})
        ran = ran_on(read_profile(session.end_profiling()), onnx_model.NODES)
        expected = "CPUExecutionProvider" if device == "cpu" else self.provider
        ops = [(op, device if provider == expected else provider) for op, provider in ran]
        return output.ravel().tolist(), ops, "ONNX Runtime's profile: the provider of each node"

    def same_device(self, device, ran_on):
        """Compare as they are: what the provider left to another one has that one's name."""
        return ran_on == device


def read_profile(path):
    """Return the profile's events and remove its file."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)
    os.remove(path)
    return events


def ran_on(events, nodes):
    """Return ``[(operation, provider)]`` of a profile's events.

    Args:
        nodes: {node: operation} of the model. A provider that compiles nodes into one of its own (OpenVINO)
            ran those that don't show; with several such, nothing tells which ran what, and they are left out.
    """
    ran, compiled = [], set()
    left = dict(nodes)
    for event in events:
        told = event.get("args", {})
        if event.get("cat") != "Node" or not told.get("provider"):
            continue
        operation = left.pop(event["name"].replace("_kernel_time", ""), None)
        if operation:
            ran.append((operation, told["provider"]))
        elif not str(told.get("op_name")).startswith("Memcpy"):  # copies between devices, of no node
            compiled.add(told["provider"])
    if len(compiled) == 1:
        ran += [(operation, provider) for provider in compiled for operation in left.values()]
    return ran
