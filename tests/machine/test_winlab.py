"""Facts in the Windows lab: a real Windows interpreter asks DXGI, DXCore, WMI and the registry."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.winlab
ROOT = Path(__file__).resolve().parents[2]
WINLAB = ROOT / "tests" / "winlab" / "winlab"
SCRIPT = r"""
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from envsetup.machine import RealHost, read, windows
from envsetup.machine.gpus import from_native
host = RealHost()
machine = read(host)
wmi = [adapter.id for adapter in windows.wmi(host)]
dxcore = [adapter.id for adapter in from_native(host.native("dxcore"), "DXCore") if not adapter.is_software]
print("FACTS" + json.dumps({**machine.to_json(), "wmi": wmi, "dxcore": dxcore}))
"""


def lab(*arguments, **options):
    return subprocess.run([str(WINLAB), *arguments], capture_output=True, text=True, timeout=900, **options)


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Windows environment with what envsetup needs to read facts; returns its interpreter."""
    if not WINLAB.exists() or os.geteuid() != 0:
        pytest.skip("the lab needs root")
    folder = tmp_path_factory.mktemp("winlab")
    assert lab("build", "3.8").returncode == 0
    windows = lab("path", str(folder / "venv")).stdout.strip()
    assert lab("python", "-V", "3.8", "-m", "venv", windows).returncode == 0
    needed = ["packaging", "platformdirs", "tomli"]
    done = lab("run", windows + r"\Scripts\python.exe", "-m", "pip", "install", "-q", *needed)
    assert done.returncode == 0, done.stderr
    return windows + r"\Scripts\python.exe"


def facts(python, tmp_path):
    script = tmp_path / "facts.py"
    script.write_text(SCRIPT)
    arguments = [lab("path", str(path)).stdout.strip() for path in (script, ROOT)]
    done = lab("run", python, *arguments)
    line = next((line for line in done.stdout.splitlines() if line.startswith("FACTS")), None)
    assert line, done.stdout + done.stderr
    return json.loads(line[5:])


def test_facts_of_the_lab(python, tmp_path):
    found = facts(python, tmp_path)
    value = {name: fact["value"] for name, fact in found["facts"].items()}
    assert (value["os"], value["windows-build"], value["arch"]) == ("windows", 19043, "x86_64")
    (gpu,) = value["gpu"]
    assert (gpu["id"], gpu["name"], gpu["architecture"]) == (
        "1002:67df",
        "Radeon (TM) RX 480 Graphics",
        "gcn4",
    )
    assert found["facts"]["gpu"]["source"] == "DXGI"
    assert found["wmi"] == found["dxcore"] == ["1002:67df"]
    assert value["directx"]["level"] == "12"
    assert value["cuda"] == [] and value["driver.nvidia"] is None
    registered = [p for p in value["python"] if p["version"].startswith("3.8.")]
    assert registered and registered[0]["bits"] == 64
    assert value["cpu"]["flags"] == [
        f for f in ("avx", "avx2", "fma") if f in Path("/proc/cpuinfo").read_text().split()
    ]


def test_without_a_gpu_the_lab_has_none(python, tmp_path):
    assert lab("gpu", "off").returncode == 0
    try:
        found = facts(python, tmp_path)
    finally:
        lab("gpu", "1002:67df")
    assert found["facts"]["gpu"]["value"] == [] and found["facts"]["gpu"]["known"] is True
    assert found["facts"]["directx"]["value"]["level"] is None
