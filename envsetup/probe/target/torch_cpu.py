"""PyTorch on the CPU."""

from .hardware import cpu_name
from .interface import Device
from .torch_step import TorchProbe


class PROBE(TorchProbe):
    """The CPU is its one device."""

    def enumerate(self):
        """Return the CPU."""
        return [Device("cpu", cpu_name())], ""
