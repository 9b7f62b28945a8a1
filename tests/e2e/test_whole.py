"""Whole runs with real packages: what the documents describe, on machines that they describe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence

import pytest

from tests.e2e.bench import Done, tree

pytestmark = [
    pytest.mark.heavy(disk=8),
    pytest.mark.network,
    pytest.mark.skipif(sys.platform != "linux", reason="runs on Linux; the Windows lab has tests of its own"),
]

RADEON_IN_WSL = ["--backend", "dml", "--assume", "wsl=2", "--assume", "gpu=1002:67df"]
RTX_2080_TI = ["--assume", "gpu=10de:1e04"]
TENSORFLOW_CALL = (
    "import os, sys; os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'; import tensorflow as tf; "
    "x = tf.constant([[1., 2.]]); y = tf.matmul(x, x, transpose_b=True); "
    "print(tf.__version__, y if not hasattr(y, 'numpy') else float(y.numpy()[0][0]))"
)


def run(*arguments: object, code: int = 0) -> Done:
    """Run the program with this machine's own settings and cache."""
    command = [sys.executable, "-m", "envsetup", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def python(environment: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(environment / "bin" / "python"), *arguments]
    env = {**os.environ, "PIP_NO_COMPILE": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=env)


def step(data: Dict[str, Any], action: str) -> Dict[str, Any]:
    (found,) = [s for s in data["steps"] if s["action"] == action]
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def directml(tmp_path_factory: pytest.TempPathFactory, pythons: Callable[[str], Path]) -> Path:
    """PyTorch-DirectML made the short way; the tests must not change it."""
    pythons("3.8")
    path = tmp_path_factory.mktemp("dml") / "env"
    run("create", path, *RADEON_IN_WSL, "--no-probe")
    return path


def without_order(environment: Path) -> Dict[str, str]:
    """Return the tree; of RECORD files the lines in order, and no receipt, which tells how it was made."""
    found = tree(environment, lambda name: name == "envsetup.json")
    found["bin/activate"] = (environment / "bin" / "activate").read_text().replace(str(environment), "HERE")
    for name in found:
        if name.endswith(".dist-info/RECORD"):
            found[name] = "\n".join(sorted((environment / name).read_text().splitlines()))
    return found


@pytest.mark.parametrize("system, saved", [("linux", 735526307), ("windows", 190523841)])
def test_the_plan_says_what_is_saved(system: str, saved: int) -> None:
    machine = RADEON_IN_WSL if system == "linux" else ["--backend", "dml", "--assume", "os=windows"]
    extra = [] if system == "linux" else ["--assume", "windows-build=19045", "--assume", "gpu=1002:67df"]
    data = run("create", "--dry-run", *machine, *extra).data
    assert step(data, "remove") == {
        "action": "remove",
        "packages": ["torch==1.8.0"],
        "files": step(data, "remove")["files"],
        "elided": True,
        "bytes": saved,
    }
    assert data["saved_bytes"] == saved
    documented = run("create", "--dry-run", "--as-documented", *machine, *extra).data
    assert step(documented, "remove")["elided"] is False
    assert documented["download_bytes"] == data["download_bytes"] + saved


def test_as_documented_ends_with_the_same_files(directml: Path, tmp_path: Path) -> None:
    other = tmp_path / "env"
    run("create", other, *RADEON_IN_WSL, "--no-probe", "--as-documented")
    assert without_order(other) == without_order(directml)


def test_pip_finds_nothing_to_complain_of(directml: Path) -> None:
    done = python(directml, "-m", "pip", "check")
    assert done.returncode == 0, done.stdout + done.stderr
    code = "import importlib.metadata as m; print(m.version('torch'), m.version('pytorch-directml'))"
    assert python(directml, "-c", code).stdout.split() == ["1.8.0+directml", "1.8.0a0.dev220506"]


def test_a_later_pip_install_leaves_the_fork_alone(tmp_path: Path) -> None:
    path = tmp_path / "env"
    run("create", path, *RADEON_IN_WSL, "--no-probe")
    before = tree(path)
    done = python(path, "-m", "pip", "install", "timm==0.4.12")
    assert done.returncode == 0, done.stderr
    after = tree(path)
    assert {name: after.get(name) for name in before} == before
    assert python(path, "-m", "pip", "check").returncode == 0
    new = {name.split("/")[3].split("-")[0] for name in after.keys() - before.keys() if name.count("/") > 3}
    assert new == {"timm"}


def test_with_timm_needs_no_torch(tmp_path: Path) -> None:
    data = run("create", "--dry-run", *RADEON_IN_WSL, "--with", "timm==0.4.12").data
    installed = [
        name for s in data["steps"] if s["action"] == "install" and not s["elided"] for name in s["packages"]
    ]
    assert "timm==0.4.12" in installed
    assert not [name for name in installed if name.startswith("torch==")]


@pytest.mark.parametrize("requirement, named", [("torch>=2", "torch"), ("numpy==2.1", "numpy")])
def test_a_contradiction_is_refused_with_the_reason(requirement: str, named: str) -> None:
    done = run("create", "--dry-run", *RADEON_IN_WSL, "--with", requirement, code=3)
    assert named in done.message and "because" in done.message.lower()


def missing_libraries(data: Dict[str, Any]) -> List[str]:
    found = data["probe"]["missing_libraries"]
    assert isinstance(found, list)
    return found


def machine(driver: str, cuda: str, cudnn: str) -> List[str]:
    return [f"--assume={fact}" for fact in (f"driver.nvidia={driver}", f"cuda={cuda}", f"cudnn={cudnn}")]


@pytest.mark.parametrize(
    "arguments, stack, minor, library",
    [
        (machine("440.33", "10.1", "7.6.5"), "tensorflow-gpu==2.3.4", "3.8", "libcudart.so.10.1"),
        # TensorFlow 1 looks for the driver first and for nothing else without it.
        (
            ["--stack", "tensorflow-gpu==1.15", *machine("440.33", "10.0", "7.6.5")],
            "tensorflow-gpu==1.15.5",
            "3.7",
            "libcuda.so.1",
        ),
        (machine("470.57", "11.2", "8.1"), "tensorflow-gpu==2.10.1", "3.10", "libcudart.so.11.0"),
    ],
)
def test_tensorflow_without_its_gpu(
    arguments: Sequence[str],
    stack: str,
    minor: str,
    library: str,
    tmp_path: Path,
    pythons: Callable[[str], Path],
) -> None:
    """Built for another machine's GPU: it computes on the CPU, and the probe says what is missing."""
    pythons(minor)
    path = tmp_path / "env"
    arguments = ["--backend", "cuda", "--python", minor, *RTX_2080_TI, *arguments]
    done = run("create", path, *arguments, code=5)
    assert done.data["stack"] == stack and done.data["ok"] is False
    assert library in missing_libraries(done.data)
    assert "gpu" in done.data["assumed"]
    called = python(path, "-c", TENSORFLOW_CALL)
    assert called.returncode == 0, called.stderr
    assert called.stdout.startswith(stack.split("==")[1])
    assert python(path, "-m", "pip", "check").returncode == 0
    again = run("create", path, *arguments, code=5)
    assert again.data["changed"] is False
    receipt = json.loads((path / "envsetup.json").read_text())
    assert receipt["stack"] == stack


def test_auto_takes_the_cpu_where_there_is_no_gpu(tmp_path: Path) -> None:
    facts = run("facts").data["facts"]
    if facts["gpu"]["value"]:
        pytest.skip("this machine has a GPU")
    done = run("create", tmp_path / "env", "--backend", "auto")
    assert done.data["backend"] == "cpu" and done.data["probe"]["ok"] is True
    assert run("create", tmp_path / "env", "--backend", "auto").data["changed"] is False
