"""PyTorch with DirectML: pytorch-directml (a fork of 1.8, device "dml") and its successor torch-directml."""

import importlib
import importlib.util

from .interface import Device, split
from .torch_step import TorchProbe


class PROBE(TorchProbe):
    """Adapters are counted before any is used: a fork's ``to("dml:1")`` hangs when there is but one."""

    plugin = None

    def load(self):
        """Import torch, and torch_directml where it is installed."""
        found = super().load()
        if importlib.util.find_spec("torch_directml"):
            self.plugin = importlib.import_module("torch_directml")
            found["plugin"] = "torch-directml"
        return found

    def enumerate(self):
        """Return the adapters in the package's own order, or why there is none."""
        source = self.plugin or getattr(self.torch, "dml", None)
        if not hasattr(source, "device_count"):
            return self._enumerate_by_trying()
        try:
            if not source.is_available():
                return [], "DirectML found no adapter"
            return [
                Device("dml:%d" % i, source.device_name(i).strip("\0 ")) for i in range(source.device_count())
            ], ""
        except RuntimeError as error:  # as when an adapter has no usable driver
            return [], " ".join(str(error).split())

    def _enumerate_by_trying(self):
        # dev211021 has device "dml" and neither a count nor names.
        try:
            self.torch.zeros(1).to("dml")
        except RuntimeError as error:
            return [], " ".join(str(error).split())
        return [Device("dml:0", "the default adapter; this release can't list others")], ""

    def place(self, device):
        """Return ``dml:N`` for the fork and torch_directml's device object for the plugin."""
        if self.plugin is None or device == "cpu":
            return device
        return self.plugin.device(split(device)[1])

    def same_device(self, device, ran_on):
        """Take torch-directml's name for its devices, privateuseone, as dml."""
        return super().same_device(device, ran_on.replace("privateuseone", "dml"))
