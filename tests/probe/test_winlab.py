"""Real DirectML packages in the Windows lab, probed from Windows: a software adapter with a Radeon's name."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

pytestmark = pytest.mark.winlab
ROOT = Path(__file__).resolve().parents[2]
WINLAB = ROOT / "tests" / "winlab" / "winlab"
SCRIPT = """
import json, sys
from pathlib import Path
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from envsetup.probe import run
print("REPORT" + json.dumps(run(Path(sys.argv[2]), *sys.argv[3:]).to_json()))
"""
REQUIREMENTS = {
    "pytorch-directml": ("3.8", "pytorch-directml==1.8.0a0.dev220506", "numpy<1.25", "typing-extensions"),
    "early pytorch-directml": (
        "3.8",
        "pytorch-directml==1.8.0a0.dev211021",
        "numpy<1.25",
        "typing-extensions",
    ),
    "tensorflow-directml": ("3.7", "tensorflow-directml==1.15.8", "protobuf<3.21", "numpy<1.19", "h5py<3"),
}
Probe = Callable[..., Any]


def lab(*arguments: str) -> str:
    done = subprocess.run([str(WINLAB), *arguments], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    """Return a function that probes a package's environment in the lab and returns the report."""
    lacking = (
        subprocess.run([str(WINLAB), "check"], capture_output=True, text=True) if WINLAB.exists() else None
    )
    if lacking is None or lacking.returncode != 0:
        pytest.skip(f"no Windows lab: {lacking.stdout + lacking.stderr if lacking else 'not here'}")
    folder = tmp_path_factory.mktemp("winlab")
    script = folder / "script.py"
    script.write_text(SCRIPT)
    made: dict[str, str] = {}

    def go(name: str, *arguments: str) -> Any:
        if name not in made:
            version, *requirements = REQUIREMENTS[name]
            lab("build", "3.8", version)
            home = lab("path", str(folder / f"Umgebung é {len(made)}")).strip()
            lab("python", "-V", version, "-m", "venv", home)
            made[name] = home + r"\Scripts\python.exe"
            lab("run", made[name], "-m", "pip", "install", "-q", *requirements)
        paths = [lab("path", str(path)).strip() for path in (script, ROOT)]
        output = lab("python", "-V", "3.8", "-I", *paths, made[name], *arguments)
        line = next(line for line in output.splitlines() if line.startswith("REPORT"))
        return json.loads(line[len("REPORT") :])

    return go


@pytest.fixture
def gpu() -> Iterator[Callable[[str], str]]:
    yield lambda which: lab("gpu", which)
    lab("gpu", "1002:67df")


@pytest.mark.parametrize("name", ["pytorch-directml", "tensorflow-directml"])
def test_trains_on_the_adapter(probe: Probe, name: str) -> None:
    framework = "tensorflow" if "tensorflow" in name else "torch"
    report = probe(name, framework, "dml")
    assert (report["ok"], report["stage"], report["reason"]) == (True, "placement", "")
    assert report["device"].lower() == "dml:0"
    assert report["devices"][0]["name"] == "Radeon (TM) RX 480 Graphics"
    assert report["max_error"] < 1e-3  # measured: 3.4e-5
    assert {op["device"].lower() for op in report["placement"]["ops"]} == {"dml:0"}
    assert report["placement"]["fallbacks"] == []


def test_an_early_release_without_a_count_lists_its_adapter(probe: Probe) -> None:
    report = probe("early pytorch-directml", "torch", "dml")
    assert [device["id"] for device in report["devices"]] == ["dml:0"]
    # It then calls a function that Wine lacks: a crash, which has to be told as one.
    assert report["ok"] or (report["stage"], report["exit"]["status"]) == ("train", "0x80000100")


def test_an_adapter_that_is_not_there_is_answered_at_once(probe: Probe) -> None:
    report = probe("pytorch-directml", "torch", "dml", "dml:1")
    assert (report["ok"], report["stage"], report["device"]) == (False, "enumerate", None)
    assert "there is dml:0 (Radeon (TM) RX 480 Graphics)" in report["reason"]


def test_without_an_adapter_the_reason_is_the_framework_s_own(
    probe: Probe, gpu: Callable[[str], str]
) -> None:
    gpu("off")
    report = probe("pytorch-directml", "torch", "dml")
    assert (report["ok"], report["stage"], report["devices"]) == (False, "enumerate", [])
    assert report["reason"].startswith("No dml device was found: CHECK failed")
