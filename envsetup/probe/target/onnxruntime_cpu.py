"""ONNX Runtime on the CPU."""

from .hardware import cpu_name
from .interface import Device
from .onnxruntime_base import OnnxRuntimeProbe


class PROBE(OnnxRuntimeProbe):
    """The CPU is its one device."""

    def enumerate(self):
        """Return the CPU."""
        return [Device("cpu", cpu_name())], ""
