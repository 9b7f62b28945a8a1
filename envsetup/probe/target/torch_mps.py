"""PyTorch with Metal (MPS) on Apple's GPUs."""

from .hardware import cpu_name
from .interface import Device
from .torch_step import TorchProbe


class PROBE(TorchProbe):
    """There is one device, ``mps:0``: the GPU of Apple's chip."""

    def enumerate(self):
        """Return the device, or why there is none."""
        mps = getattr(self.torch.backends, "mps", None)  # 1.12
        if mps is None or not mps.is_built():
            return [], "this torch (%s) is built without MPS" % self.torch.__version__
        if not mps.is_available():
            return [], "Metal has no GPU for it, or macOS is older than this torch needs"
        return [Device("mps:0", cpu_name())], ""
