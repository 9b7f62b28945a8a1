"""TensorFlow with CUDA, ROCm, or Metal through the tensorflow-metal plugin."""

from .tensorflow_base import TensorFlowProbe


class PROBE(TensorFlowProbe):
    """Devices are ``GPU:N``."""
