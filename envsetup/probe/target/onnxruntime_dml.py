"""ONNX Runtime with DirectML."""

from .dxgi import adapters
from .interface import Device, split
from .onnxruntime_base import OnnxRuntimeProbe


class PROBE(OnnxRuntimeProbe):
    """Its device N is DXGI's adapter N."""

    provider = "DmlExecutionProvider"

    def candidates(self):
        """Return DXGI's adapters but those in software, which the provider refuses."""
        return [Device("dml:%d" % index, name) for index, name, software in adapters() if not software]

    def options(self, device):
        """Return the adapter's number."""
        return {"device_id": split(device)[1]}
