"""More real Windows packages in the Windows lab: ONNX Runtime, OpenVINO and the DirectML plugins."""

from __future__ import annotations

import pytest

from .test_winlab import REQUIREMENTS, Probe
from .test_winlab import probe as probe  # a fixture

pytestmark = pytest.mark.winlab
REQUIREMENTS.update(
    {
        "onnxruntime-directml": ("3.8", "onnxruntime-directml==1.19.2"),
        "openvino": ("3.8", "openvino==2024.4.0"),
        "torch-directml": (
            "3.10",
            "torch-directml==0.2.5.dev240914",
            "torch==2.4.1",
            "torchvision==0.19.1",
            "numpy<2",
        ),
        "tensorflow-directml-plugin": (
            "3.10",
            "tensorflow-directml-plugin==0.4.0.dev230202",
            "tensorflow-cpu==2.10.0",
            "numpy<1.24",
            "protobuf<3.21",
        ),
    }
)


def test_onnxruntime_infers_on_the_adapter(probe: Probe) -> None:
    report = probe("onnxruntime-directml", "onnxruntime", "dml")
    assert (report["ok"], report["stage"], report["reason"]) == (True, "placement", "")
    assert report["devices"] == [{"id": "dml:0", "name": "Radeon (TM) RX 480 Graphics"}]
    assert report["max_error"] < 1e-4  # measured: 1.2e-6
    ops = report["placement"]["ops"]
    assert {op["op"] for op in ops} == {"Conv", "Relu", "MaxPool", "Transpose", "Flatten", "Gemm"}
    assert {op["device"] for op in ops} == {"dml:0"}


def test_onnxruntime_has_no_second_adapter(probe: Probe) -> None:
    report = probe("onnxruntime-directml", "onnxruntime", "dml", "dml:1")
    assert (report["ok"], report["stage"], report["device"]) == (False, "enumerate", None)
    assert "there is dml:0 (Radeon (TM) RX 480 Graphics)" in report["reason"]


def test_openvino_infers_on_the_processor(probe: Probe) -> None:
    report = probe("openvino", "openvino", "openvino")
    assert (report["ok"], report["reason"], report["device"]) == (True, "", "CPU")


def test_torch_directml_ends_with_its_own_words_where_a_loss_can_t_be_compiled(probe: Probe) -> None:
    report = probe("torch-directml", "torch", "dml")
    assert report["devices"] == [{"id": "dml:0", "name": "Radeon (TM) RX 480 Graphics"}]
    # The lab's Direct3D has no way to compile cross_entropy for this release.
    assert report["ok"] or (report["stage"] == "train" and "CompileGraph" in report["reason"])


def test_the_plugin_of_tensorflow_trains_on_the_adapter(probe: Probe) -> None:
    report = probe("tensorflow-directml-plugin", "tensorflow", "dml")
    assert (report["ok"], report["reason"], report["device"]) == (True, "", "GPU:0")
    assert {op["device"] for op in report["placement"]["ops"]} == {"GPU:0"}
