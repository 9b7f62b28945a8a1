"""TensorFlow with DirectML: tensorflow-directml (a fork of 1.15) and tensorflow-directml-plugin (2.10)."""

from .tensorflow_base import TensorFlowProbe


class PROBE(TensorFlowProbe):
    """Devices are ``DML:N`` in the fork and ``GPU:N`` with the plugin."""

    @property
    def kind(self):
        """The device type."""
        return "GPU" if self.eager else "DML"
