"""PyTorch with CUDA, and with ROCm, which goes by the same names."""

from .interface import Device
from .torch_step import TorchProbe


class PROBE(TorchProbe):
    """CUDA devices by torch.cuda's own count."""

    def enumerate(self):
        """Return the devices, or why there is none."""
        torch = self.torch
        wanted, other = ("hip", "CUDA") if self.backend == "rocm" else ("cuda", "ROCm")
        if not getattr(torch.version, wanted, None):
            built = (
                "for %s" % other
                if torch.version.cuda or getattr(torch.version, "hip", None)
                else "for the CPU only"
            )
            return [], "this torch (%s) is built %s" % (torch.__version__, built)
        if not torch.cuda.is_available():
            try:
                torch.cuda.init()  # says why, where is_available only says no
            except Exception as error:
                return [], " ".join(str(error).split())
            return [], ""
        return [
            Device("cuda:%d" % i, torch.cuda.get_device_name(i)) for i in range(torch.cuda.device_count())
        ], ""

    def details(self):
        """Return the memory that PyTorch had on each device: a proof of its own that it was used."""
        torch = self.torch
        if not torch.cuda.is_available():
            return {}
        count = torch.cuda.device_count()
        return {"memory_used": {"cuda:%d" % i: torch.cuda.max_memory_allocated(i) for i in range(count)}}
