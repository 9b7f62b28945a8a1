"""TensorFlow with CUDA or ROCm."""

from .tensorflow_base import TensorFlowProbe


class PROBE(TensorFlowProbe):
    """Devices are ``GPU:N``."""
