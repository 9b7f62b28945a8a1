"""envsetup as users of Windows have it: installed from its wheel, and making environments for the GPU."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Callable, Dict

import pytest

from tests.winlab.lab import Done, Lab

pytestmark = [pytest.mark.winlab, pytest.mark.heavy(disk=4)]

Call = Callable[..., "Done[str]"]


def data(done: Done[str], code: int = 0) -> Dict[str, Any]:
    """Return the one JSON object of standard output, after checking the exit code."""
    assert done.returncode == code, f"{done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    out: Dict[str, Any] = json.loads(done.stdout)
    return out


def files(folder: Path) -> Dict[str, str]:
    """Return a digest of every file."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def assert_trained_on(result: Dict[str, Any], name: str) -> None:
    probe = result["probe"]
    assert probe["ok"], probe
    assert probe["devices"] == [{"id": "dml:0", "name": name}]
    assert probe["device"] == "dml:0"
    assert probe["max_error"] < 1e-3
    assert probe["placement"]["device"] == "dml:0"


@pytest.fixture(scope="module")
def made(envsetup: Call, tmp_path_factory: pytest.TempPathFactory) -> Dict[str, Any]:
    """An environment for PyTorch on DirectML, at a path with spaces and letters of several scripts."""
    folder = tmp_path_factory.mktemp("students") / "Übung – 演習 1"
    folder.mkdir()
    result = data(envsetup("create", "--backend", "dml", "--json", folder / "env ä", cwd=folder))
    return {**result, "folder": folder / "env ä"}


def test_create_trains_on_the_gpu(made: Dict[str, Any]) -> None:
    assert made["stack"].startswith("pytorch-directml==1.8.0a0.dev220506")
    assert (made["python"][:3], made["platform"], made["changed"]) == ("3.8", "win_amd64", True)
    assert_trained_on(made, "Radeon (TM) RX 480 Graphics")
    assert made["path"].endswith("Übung – 演習 1\\env ä")


def test_the_environment_works_where_it_is(made: Dict[str, Any], winlab: Lab) -> None:
    code = (
        "import sys, torch, torchvision; x = torch.ones(64, 64).to('dml'); print((x @ x).cpu().sum().item())"
    )
    done = winlab.run(made["folder"] / "Scripts/python.exe", "-c", code)
    assert done.stdout.strip() == "262144.0", done.stderr
    utf8 = {"PYTHONIOENCODING": "utf-8"}  # pip can't write this path in the system's encoding
    done = winlab.run(made["folder"] / "Scripts/pip.exe", "--version", env=utf8)
    assert winlab.path(made["folder"]) in done.stdout, done.stderr


def test_a_second_run_does_nothing(made: Dict[str, Any], envsetup: Call) -> None:
    before = files(made["folder"])
    again = data(envsetup("create", "--backend", "dml", "--json", made["folder"]))
    assert again["changed"] is False
    assert_trained_on(again, "Radeon (TM) RX 480 Graphics")
    assert files(made["folder"]) == before


def test_probe_computes_in_it_again(made: Dict[str, Any], envsetup: Call) -> None:
    assert data(envsetup("probe", "--json", made["folder"]))["device"] == "dml:0"


def test_doctor_finds_nothing_wrong_with_it(made: Dict[str, Any], envsetup: Call) -> None:
    result = data(envsetup("doctor", "--json", made["folder"]))
    assert [finding for finding in result["findings"] if finding["severity"] == "error"] == []


def test_pip_is_content_and_keeps_its_hands_off_torch(made: Dict[str, Any], winlab: Lab) -> None:
    python = made["folder"] / "Scripts/python.exe"
    done = winlab.run(python, "-m", "pip", "check")
    assert done.returncode == 0, done.stdout
    before = files(made["folder"] / "Lib/site-packages/torch")
    done = winlab.run(python, "-m", "pip", "install", "-q", "timm==0.4.12")
    assert done.returncode == 0, done.stderr
    assert len(before) > 1000
    assert files(made["folder"] / "Lib/site-packages/torch") == before
    done = winlab.run(python, "-c", "import timm, torch; print(torch.dml.device_count(), timm.__version__)")
    assert done.stdout.split() == ["1", "0.4.12"], done.stderr


@pytest.mark.parametrize(
    "gpu, name",
    [
        ("1002:679a", "AMD Radeon HD 7900 Series"),
        ("8086:0412", "Intel(R) HD Graphics 4600"),
        ("10de:1180", "NVIDIA GeForce GTX 680"),
    ],
)
def test_every_gpu_at_the_lower_end_works(
    gpu: str, name: str, winlab: Lab, envsetup: Call, tmp_path: Path
) -> None:
    winlab.gpu(gpu)
    result = data(envsetup("create", "--backend", "dml", "--json", tmp_path / "env"))
    assert result["gpu"]["id"] == gpu
    assert_trained_on(result, name)


@pytest.mark.parametrize("gpu, says", [("10de:06cd", "Kepler"), ("off", "GPU")])
def test_a_gpu_below_the_floor_is_refused(
    gpu: str, says: str, winlab: Lab, envsetup: Call, tmp_path: Path
) -> None:
    winlab.gpu(gpu)
    result = data(envsetup("create", "--backend", "dml", "--json", tmp_path / "env"), code=3)
    assert says in json.dumps(result["rejected"])
    assert not (tmp_path / "env").exists()
    done = envsetup("create", "--backend", "dml", tmp_path / "env")
    assert done.returncode == 3
    assert says in done.stderr
