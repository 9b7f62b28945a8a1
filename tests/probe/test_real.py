"""The probe with real frameworks on this machine's CPU. Big: run with --heavy."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from pathlib import Path
from typing import Callable

import pytest

from envsetup.probe import run
from envsetup.probe.target import judge, network
from envsetup.probe.target.events import Failure
from envsetup.probe.target.interface import Probe, Step

pytestmark = [pytest.mark.heavy(disk=6), pytest.mark.network]
ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent

OLD = ["protobuf<3.21", "numpy<1.19", "h5py<3"]


@dataclasses.dataclass(frozen=True)
class Build:
    """A framework's release with what it needs, and what it says on a machine without a GPU."""

    python: str
    framework: str
    version: str
    requirements: list[str]
    missing: tuple[str, ...] = ()


BUILDS = {
    "tensorflow 2.3": Build(
        "3.8", "tensorflow", "2.3.4", ["tensorflow-gpu==2.3.4", *OLD], ("libcudart.so.10.1", "libcuda.so.1")
    ),
    "tensorflow 1.15": Build(
        "3.7", "tensorflow", "1.15.5", ["tensorflow-gpu==1.15.5", *OLD], ("libcuda.so.1",)
    ),
    "tensorflow 2.10": Build(
        "3.10",
        "tensorflow",
        "2.10.1",
        ["tensorflow==2.10.1", "numpy<1.24"],
        ("libcudart.so.11.0", "libcuda.so.1"),
    ),
    "tensorflow 2.20": Build(
        "3.12", "tensorflow", "2.20.0", ["tensorflow==2.20.0"], ("libcudart.so.12", "libcuda.so.1")
    ),
    "torch 1.8": Build("3.8", "torch", "1.8.1", ["torch==1.8.1", "numpy<1.25"]),
}


@pytest.fixture(scope="module")
def build(
    uv: str, pythons: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    made: dict[str, Path] = {}
    env = dict(os.environ)
    env.setdefault("UV_FIND_LINKS", os.environ.get("PIP_FIND_LINKS", ""))

    def make(name: str) -> Path:
        if name not in made:
            home = tmp_path_factory.mktemp("real") / "e"
            one = BUILDS[name]
            subprocess.run([uv, "venv", "-q", "-p", str(pythons(one.python)), str(home)], check=True, env=env)
            python = home / "bin" / "python"
            subprocess.run(
                [uv, "pip", "install", "-q", "-p", str(python), *one.requirements], check=True, env=env
            )
            made[name] = python
        return made[name]

    return make


@pytest.mark.parametrize("name", BUILDS)
def test_trains_on_the_cpu(build: Callable[[str], Path], name: str) -> None:
    report = run(build(name), BUILDS[name].framework, "cpu")
    assert (report.ok, report.reason, report.device) == (True, "", "cpu")
    assert report.framework["version"].startswith(BUILDS[name].version)
    assert report.max_error is not None
    assert report.max_error < 1e-5  # the losses against those of float64
    assert report.missing_libraries == ()


@pytest.mark.parametrize("name", BUILDS)
def test_without_a_gpu_says_why_and_proves_the_rest(build: Callable[[str], Path], name: str) -> None:
    if Path("/proc/driver/nvidia").exists():
        pytest.skip("this machine has an NVIDIA driver")
    report = run(build(name), BUILDS[name].framework, "cuda")
    assert (report.ok, report.stage, report.device, report.devices) == (False, "enumerate", "cpu", ())
    assert {"train", "compare", "placement"} <= set(report.stages)
    assert set(BUILDS[name].missing) <= set(report.missing_libraries)
    assert not any("nvinfer" in library for library in report.missing_libraries)
    for library in report.missing_libraries:
        assert library in report.reason
    assert report.reason.startswith("No cuda device was found: ")


@pytest.mark.parametrize("name", ["tensorflow 2.3", "tensorflow 2.10", "tensorflow 2.20"])
def test_placement_and_mirroring_on_two_devices(build: Callable[[str], Path], name: str) -> None:
    done = subprocess.run(
        [str(build(name)), "-I", str(HERE / "real_steps.py"), str(ROOT)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    probe = Probe()
    second = Step(*told["second"])
    judge.check_placement(judge.placement(probe, "CPU:1", second))
    assert judge.compare(probe, second, second) == 0.0
    with pytest.raises(Failure, match="Silent fallback: Conv2D"):
        judge.check_placement(judge.placement(probe, "GPU:0", Step(*told["absent"])))
    assert told["mirrored"] == {
        "name": "MirroredStrategy",
        "devices": ["CPU:0", "CPU:1"],
        "replicas": 2,
        "ok": True,
    }


FLOAT64 = """
import importlib, sys, torch
sys.path.insert(0, sys.argv[1])
step = importlib.import_module("envsetup.probe.target.torch_step")
network = importlib.import_module("envsetup.probe.target.network")
torch.set_default_dtype(torch.float64)
probe = step.TorchProbe("cpu")
probe.load()
print(*map(repr, probe.train("cpu", network).losses))
"""


def test_the_reference_losses_are_those_of_float64(build: Callable[[str], Path]) -> None:
    command = [str(build("torch 1.8")), "-I", "-c", FLOAT64, str(ROOT)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert [float(x) for x in shown] == pytest.approx(network.REFERENCE_LOSSES, rel=1e-7)
