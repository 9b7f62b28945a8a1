"""ONNX Runtime with CUDA."""

from .cuda_driver import names
from .interface import Device, split
from .onnxruntime_base import OnnxRuntimeProbe


class PROBE(OnnxRuntimeProbe):
    """Its devices are the CUDA driver's; ONNX Runtime itself counts none."""

    provider = "CUDAExecutionProvider"

    def candidates(self):
        """Return the driver's devices; without any, one to try: its failure says what is missing."""
        return [Device("cuda:%d" % i, name) for i, name in enumerate(names())] or [Device("cuda:0", "")]

    def options(self, device):
        """Return the device's number."""
        return {"device_id": split(device)[1]}
