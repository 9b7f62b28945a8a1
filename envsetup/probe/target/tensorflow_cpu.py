"""TensorFlow on the CPU."""

from .hardware import cpu_name
from .interface import Device
from .tensorflow_base import TensorFlowProbe


class PROBE(TensorFlowProbe):
    """The CPU is its one device."""

    kind = "CPU"

    def enumerate(self):
        """Return the CPU."""
        return [Device("cpu", cpu_name())], ""
