"""Frameworks that only infer, and PlaidML, for real on this machine's processor. Run with --heavy."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Callable, Dict, List, Tuple

import pytest

from envsetup.probe import run
from envsetup.probe.target import network

pytestmark = [pytest.mark.heavy(disk=3), pytest.mark.network]
ROOT = Path(__file__).resolve().parents[2]
KERAS = ["keras==2.2.4", "h5py<3", "numpy<1.19", "scipy<1.6", "pyyaml<6"]

# By name: Python, requirements, framework, backend, the device that is proven, the operations that must show.
BUILDS: Dict[str, Tuple[str, List[str], str, str, str, List[str]]] = {
    "onnxruntime 1.10": ("3.6", ["onnxruntime==1.10.0"], "onnxruntime", "cpu", "cpu", ["Conv", "Gemm"]),
    "onnxruntime 1.19": ("3.8", ["onnxruntime==1.19.2"], "onnxruntime", "cpu", "cpu", ["Conv", "Gemm"]),
    "onnxruntime-openvino 1.23": (
        "3.10",
        ["onnxruntime-openvino==1.23.0"],
        "onnxruntime",
        "openvino",
        "CPU",
        ["Conv", "Gemm"],
    ),
    "openvino 2022.2": (
        "3.6",
        ["openvino==2022.2.0", "setuptools==59.6.0"],
        "openvino",
        "openvino",
        "CPU",
        ["Convolution", "MatMul (FullyConnected)"],
    ),
    "openvino 2026.4": (
        "3.12",
        ["openvino==2026.4.1"],
        "openvino",
        "openvino",
        "CPU",
        ["Convolution", "MatMul (FullyConnected)"],
    ),
    "tvm 0.27": ("3.12", ["apache-tvm==0.27.0.post1"], "tvm", "cpu", "cpu", ["conv2d", "matmul"]),
    "plaidml 0.7": (
        "3.7",
        ["plaidml==0.7.0", "plaidml-keras==0.7.0", *KERAS],
        "plaidml",
        "cpu",
        "llvm_cpu.0",
        ["conv", "matmul"],
    ),
    # The last release that takes OpenCL's CPUs, which is what PoCL has.
    "plaidml 0.6": (
        "3.7",
        ["plaidml==0.6.4", "plaidml-keras==0.6.4", *KERAS],
        "plaidml",
        "opencl",
        "opencl_cpu.0",
        ["conv", "matmul"],
    ),
}


@pytest.fixture(scope="module")
def build(
    uv: str, pythons: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    made: Dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            version, requirements, *_ = BUILDS[name]
            home = tmp_path_factory.mktemp("real") / "e"
            python = home / "bin" / "python"
            subprocess.run([uv, "venv", "-q", "-p", str(pythons(version)), str(home)], check=True)
            subprocess.run([uv, "pip", "install", "-q", "-p", str(python), *requirements], check=True)
            made[name] = python
        return made[name]

    return make


@pytest.mark.parametrize("name", [name for name in BUILDS if name != "plaidml 0.6"])
def test_computes_as_the_reference_does(build: Callable[[str], Path], name: str) -> None:
    _, _, framework, backend, device, operations = BUILDS[name]
    report = run(build(name), framework, backend)
    assert (report.ok, report.stage, report.reason, report.device) == (True, "placement", "", device)
    assert report.max_error is not None
    assert report.max_error < 1e-4
    assert report.placement is not None
    shown = {op["op"] for op in report.placement["ops"]}
    assert set(operations) <= shown
    assert report.placement["fallbacks"] == []


def test_plaidml_trains_through_opencl(build: Callable[[str], Path], tmp_path: Path) -> None:
    """On PoCL, with settings for its processor: PlaidML's own name Intel's alone."""
    if not (Path("/etc/OpenCL/vendors/pocl.icd").exists() and list(Path("/usr/lib").glob("*/libOpenCL.so"))):
        pytest.skip("needs pocl-opencl-icd and ocl-icd-opencl-dev")
    python = build("plaidml 0.6")
    config = json.loads((python.parents[1] / "share/plaidml/experimental.json").read_text())
    # Wider vectors give wrong numbers on PoCL 3.1, which the probe notices.
    chosen = {"threads": 1, "vec_size": 1, "mem_width": 64, "max_mem": 32768, "max_regs": 32768}
    config["platform"]["hardware_configs"].append(
        {"description": "PoCL", "sel": {"name_regex": ".*CPU.*"}, "settings": chosen}
    )
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps(config))
    report = run(python, "plaidml", "opencl", env={"PLAIDML_EXPERIMENTAL_CONFIG": str(settings)})
    assert (report.ok, report.reason, report.device) == (True, "", "opencl_cpu.0")
    assert report.placement is not None
    assert {op["device"] for op in report.placement["ops"]} == {"opencl_cpu.0"}


@pytest.mark.parametrize(
    ("name", "framework", "backend", "why"),
    [
        ("onnxruntime 1.19", "onnxruntime", "dml", "has no DmlExecutionProvider, only "),
        ("onnxruntime 1.19", "onnxruntime", "cuda", "has no CUDAExecutionProvider, only "),
        ("tvm 0.27", "tvm", "vulkan", "is built with cuda, llvm"),
    ],
)
def test_a_build_without_the_backend_says_so(
    build: Callable[[str], Path], name: str, framework: str, backend: str, why: str
) -> None:
    report = run(build(name), framework, backend)
    assert (report.ok, report.stage, report.device) == (False, "enumerate", "cpu")
    assert report.reason.startswith(f"No {backend} device was found: ")
    assert why in report.reason
    assert report.max_error is not None  # the rest is proven


def test_a_device_of_openvino_that_is_not_there_is_not_replaced(build: Callable[[str], Path]) -> None:
    if list(Path("/dev").glob("dri/renderD*")):
        pytest.skip("this machine may have a GPU")
    report = run(build("onnxruntime-openvino 1.23"), "onnxruntime", "openvino", "GPU")
    assert (report.ok, report.stage, report.device) == (False, "enumerate", None)
    assert "There is no device GPU here; there is CPU" in report.reason


REFERENCE = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
network = importlib.import_module("envsetup.probe.target.network")
print(*importlib.import_module("envsetup.probe.target.reference").Reference(network).step().losses)
"""


def test_the_reference_s_losses_are_those_of_other_frameworks(build: Callable[[str], Path]) -> None:
    command = [str(build("onnxruntime 1.19")), "-c", REFERENCE, str(ROOT)]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout.split()
    assert [float(x) for x in shown] == pytest.approx(network.REFERENCE_LOSSES, rel=1e-7)
