"""What only infers: its model, its profile, its verdict."""

from __future__ import annotations

import math
import struct
import sys
from typing import Any, Dict, Iterator, List, Tuple, Union

import pytest

from envsetup.probe import snippet
from envsetup.probe.target import cuda_driver, dxgi, judge, network, onnx_model
from envsetup.probe.target.events import Failure
from envsetup.probe.target.inference import InferenceProbe, loss
from envsetup.probe.target.interface import Device, Step
from envsetup.probe.target.onnxruntime_base import OnnxRuntimeProbe, ran_on

Field = Tuple[int, Union[int, bytes]]


def fields(data: bytes) -> Iterator[Field]:
    """Read a message of protocol buffers: field numbers with integers or bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2
            length = varint()
            yield key >> 3, data[at : at + length]
            at += length


def values(data: bytes, number: int) -> List[Any]:
    return [value for key, value in fields(data) if key == number]


def test_the_model_holds_the_network() -> None:
    model = onnx_model.network_model(network)
    assert values(model, 1) == [4]
    (opset,) = values(model, 8)
    assert values(opset, 2) == [9]
    (graph,) = values(model, 7)
    nodes = values(graph, 1)
    chain = [values(node, 4)[0].decode() for node in nodes]
    assert chain == [
        "Conv",
        "Relu",
        "Conv",
        "Relu",
        "MaxPool",
        "Transpose",
        "Flatten",
        "Gemm",
        "Relu",
        "Gemm",
    ]
    names = [values(node, 3)[0].decode() for node in nodes]
    assert dict(zip(names, chain)) == onnx_model.NODES
    known = {values(tensor, 8)[0].decode(): tensor for tensor in values(graph, 5)}
    assert set(known) == {name for name, _, _ in network.weights()}
    made = {"images"}
    for node in nodes:  # every input is there before it is used
        assert {name.decode() for name in values(node, 1)} <= made | set(known)
        made |= {name.decode() for name in values(node, 2)}
    for name, shape, weights in network.weights():
        raw = values(known[name], 9)[0]
        assert len(raw) == 4 * len(weights)
        assert math.prod(values(known[name], 1)) == len(weights) == math.prod(shape)
    # ONNX's kernel is (out, in, row, column): its second number is the next column of the first kernel.
    second = struct.unpack("<2f", values(known["conv1/kernel"], 9)[0][:8])[1]
    assert second == pytest.approx(network.weights()[0][2][32])


def test_a_kernel_is_turned_to_onnx_s_layout() -> None:
    shape = (2, 2, 3, 4)
    flat = list(range(48))
    turned_shape, turned = onnx_model.to_onnx_kernel(shape, flat)
    assert turned_shape == (4, 3, 2, 2)
    for row in range(2):
        for column in range(2):
            for i in range(3):
                for o in range(4):
                    there = ((o * 3 + i) * 2 + row) * 2 + column
                    assert turned[there] == flat[((row * 2 + column) * 3 + i) * 4 + o]


def test_the_loss_is_the_mean_cross_entropy() -> None:
    size = network.BATCH * network.CLASSES
    assert loss([3.0] * size, network) == pytest.approx(math.log(network.CLASSES))
    sure = [0.0] * size
    for number, label in enumerate(network.batch()[1]):
        sure[number * network.CLASSES + label] = 1000.0  # exp of it would overflow
    assert loss(sure, network) == 0.0


def event(name: str, op: str, provider: str | None = "DmlExecutionProvider") -> Dict[str, Any]:
    return {"cat": "Node", "name": name, "args": {"op_name": op, "provider": provider}}


NODES = {"conv1": "Conv", "relu1": "Relu", "logits": "Gemm"}
COMPILED = event("OpenVINO_subgraph_0_kernel_time", "OpenVINO-EP-subgraph_1", "OpenVINOExecutionProvider")


@pytest.mark.parametrize(
    ("events", "ran"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param(
            [event("conv1_fence_before", "Conv", None), event("conv1_kernel_time", "Conv")],
            [("Conv", "DmlExecutionProvider")],
            id="only kernels count",
        ),
        pytest.param(
            [
                event("conv1_kernel_time", "Conv"),
                event("relu1_kernel_time", "Relu"),
                event("logits_kernel_time", "Gemm", "CPUExecutionProvider"),
            ],
            [
                ("Conv", "DmlExecutionProvider"),
                ("Relu", "DmlExecutionProvider"),
                ("Gemm", "CPUExecutionProvider"),
            ],
            id="one left to the CPU",
        ),
        pytest.param(
            [COMPILED],
            [(op, "OpenVINOExecutionProvider") for op in ("Conv", "Relu", "Gemm")],
            id="all compiled into one node",
        ),
        pytest.param(
            [event("logits_kernel_time", "Gemm", "CPUExecutionProvider"), COMPILED],
            [
                ("Gemm", "CPUExecutionProvider"),
                ("Conv", "OpenVINOExecutionProvider"),
                ("Relu", "OpenVINOExecutionProvider"),
            ],
            id="compiled but for one",
        ),
        pytest.param(
            [COMPILED, event("DmlFusedNode_0_0_kernel_time", "DmlFusedNode")],
            [],
            id="two that compile: nothing tells which ran what",
        ),
        pytest.param(
            [event("Memcpy_token_0_kernel_time", "MemcpyFromHost"), event("conv1_kernel_time", "Conv")],
            [("Conv", "DmlExecutionProvider")],
            id="a copy proves nothing of the rest",
        ),
    ],
)
def test_where_nodes_ran(events: List[Dict[str, Any]], ran: List[Tuple[str, str]]) -> None:
    assert ran_on(events, NODES) == ran


@pytest.mark.parametrize(
    ("providers", "problem"),
    [
        (("dml:0", "dml:0"), None),
        (("CPUExecutionProvider", "dml:0"), "Silent fallback: Conv did not run on dml:0"),
        (("dml:0", "CPUExecutionProvider"), "Silent fallback: Gemm did not run on dml:0"),
        (("dml:1", "dml:1"), "Silent fallback: Conv, Gemm did not run on dml:0"),
    ],
)
def test_what_falls_back_to_the_cpu_is_a_failure(providers: Tuple[str, str], problem: str | None) -> None:
    step = Step((1.0,), {}, list(zip(("Conv", "Gemm"), providers)), "its profile")
    placement = judge.placement(OnnxRuntimeProbe("dml"), "dml:0", step)
    if problem is None:
        judge.check_placement(placement)
    else:
        with pytest.raises(Failure, match=problem):
            judge.check_placement(placement)


@pytest.mark.parametrize(
    ("logits", "losses", "problem"),
    [
        ([1.0, -4.0], (2.0,), None),
        ([1.0002, -4.0], (2.0,), None),
        ([1.01, -4.0], (2.0,), "the output differs from the CPU's by 0.0025 of its size"),
        ([math.nan, -4.0], (2.0,), "the output differs from the CPU's by inf"),
        ([1.0], (2.0,), "output came back with 1 numbers; it has 2"),
        ([1.0, -4.0], (2.1,), "Wrong numbers: the loss"),
    ],
)
def test_an_output_is_compared_whole(logits: List[float], losses: Tuple[float], problem: str | None) -> None:
    cpu = Step((2.0,), {"output": [1.0, -4.0]}, [], "")
    there = Step(losses, {"output": logits}, [], "")
    if problem is None:
        assert judge.compare(InferenceProbe(), there, cpu) <= 1e-4
    else:
        with pytest.raises(Failure, match=problem):
            judge.compare(InferenceProbe(), there, cpu)


INTEL = [Device("GPU.0", "UHD 770"), Device("GPU.1", "Arc A770"), Device("CPU", "Core i9")]


@pytest.mark.parametrize(
    ("devices", "wanted", "chosen"),
    [
        (INTEL, None, "GPU.0"),
        (INTEL, "GPU.1", "GPU.1"),
        (INTEL, "gpu.1", "GPU.1"),
        (INTEL, "CPU", "CPU"),
        (INTEL, "1", "GPU.1"),
        (INTEL[2:], "GPU", None),  # a device of OpenVINO's that isn't there is not the CPU
        (INTEL, "NPU", None),
        ([Device("opencl_amd_gfx803.0", "RX 480")], "opencl_amd_gfx803.0", "opencl_amd_gfx803.0"),
        ([Device("cpu", "Core i9")], "cpu:0", "cpu"),
    ],
)
def test_devices_with_names_of_their_own(
    devices: List[Device], wanted: str | None, chosen: str | None
) -> None:
    if chosen is None:
        with pytest.raises(Failure, match=f"There is no device {wanted} here"):
            judge.choose(devices, wanted, "openvino")
    else:
        assert judge.choose(devices, wanted, "openvino") == chosen


@pytest.mark.skipif(sys.platform == "win32", reason="about other systems")
def test_without_dxgi_there_are_no_adapters() -> None:
    assert dxgi.adapters() == []


def test_the_driver_s_devices_are_a_list_in_any_case() -> None:
    assert all(isinstance(name, str) for name in cuda_driver.names())


@pytest.mark.parametrize(
    ("framework", "backend", "device", "says"),
    [
        ("onnxruntime", "dml", "dml:1", '[("DmlExecutionProvider", {"device_id": 1})'),
        ("onnxruntime", "cuda", "", "preload_dlls()"),
        ("onnxruntime", "openvino", "GPU.1", '{"device_type": "GPU.1"}'),
        ("openvino", "openvino", "GPU", 'compile_model("model.onnx", "GPU")'),
        ("tvm", "cuda", "cuda:1", 'tvm.device("cuda", 1)'),
        ("tvm", "cpu", "", 'tvm.device("cpu", 0)'),
        ("plaidml", "opencl", "opencl_amd_gfx803.0", 'device_ids = ["opencl_amd_gfx803.0"]'),
        ("torch", "mps", "", 'torch.device("mps")'),
        ("tensorflow1", "dml", "", "/device:DML:0"),
    ],
)
def test_snippets_are_programs(framework: str, backend: str, device: str, says: str) -> None:
    lines = snippet(framework, backend, device=device)
    compile(lines, "snippet", "exec")
    assert says in lines
