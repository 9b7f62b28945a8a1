"""Facts in the Windows lab: a real Windows interpreter asks DXGI, DXCore, WMI and the registry."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.winlab
ROOT = Path(__file__).resolve().parents[2]
WINLAB = ROOT / "tests" / "winlab" / "winlab"
# The GPU is a setting of the whole lab, and others may use the lab. So it is set, read and set back by one
# program: the lab runs one at a time.
SCRIPT = r"""
import json, sys, winreg
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from envsetup.machine import RealHost, read, windows
from envsetup.machine.gpus import from_native
NAMES = ("renderer", "VideoPciVendorID", "VideoPciDeviceID")
KEY = winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, r"Software\Wine\Direct3D", 0, winreg.KEY_ALL_ACCESS)

def get(name):
    try:
        return winreg.QueryValueEx(KEY, name)
    except FileNotFoundError:
        return None

def put(name, value):
    if value:
        winreg.SetValueEx(KEY, name, 0, value[1], value[0])
    elif get(name):
        winreg.DeleteValue(KEY, name)

def facts(*values):
    for name, value in zip(NAMES, values):
        put(name, value)
    host = RealHost()
    wmi = [adapter.id for adapter in windows.wmi(host) if not adapter.is_software]
    listed = from_native(host.native("dxcore", 30), "DXCore")
    dxcore = [adapter.id for adapter in listed if not adapter.is_software]
    return {**read(host).to_json(), "wmi": wmi, "dxcore": dxcore}

before = [get(name) for name in NAMES]
try:
    rx480 = facts(None, (0x1002, winreg.REG_DWORD), (0x67df, winreg.REG_DWORD))
    off = facts(("no3d", winreg.REG_SZ))
finally:
    for name, value in zip(NAMES, before):
        put(name, value)
print("FACTS" + json.dumps({"rx480": rx480, "off": off, "restored": [get(name) for name in NAMES] == before}))
"""


def lab(*arguments):
    return subprocess.run([str(WINLAB), *arguments], capture_output=True, text=True, timeout=900)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What a Windows environment with envsetup's dependencies reads, with a GPU and without."""
    lacking = lab("check") if WINLAB.exists() else None
    if lacking is None or lacking.returncode != 0:
        pytest.skip(
            f"no Windows lab: {lacking.stdout + lacking.stderr if lacking else 'tests/winlab is missing'}"
        )
    folder = tmp_path_factory.mktemp("winlab")
    (folder / "facts.py").write_text(SCRIPT)
    assert lab("build", "3.8").returncode == 0
    venv, script, root = (
        lab("path", str(p)).stdout.strip() for p in (folder / "venv", folder / "facts.py", ROOT)
    )
    assert lab("python", "-V", "3.8", "-m", "venv", venv).returncode == 0
    python = venv + r"\Scripts\python.exe"
    done = lab("run", python, "-m", "pip", "install", "-q", "packaging", "platformdirs", "tomli")
    assert done.returncode == 0, done.stderr
    done = lab("run", python, script, root)
    line = next((line for line in done.stdout.splitlines() if line.startswith("FACTS")), None)
    assert line, done.stdout + done.stderr
    return json.loads(line[5:])


def test_facts_of_the_lab(found):
    facts = found["rx480"]["facts"]
    value = {name: fact["value"] for name, fact in facts.items()}
    assert (value["os"], value["windows-build"], value["arch"]) == ("windows", 19043, "x86_64")
    (gpu,) = value["gpu"]
    assert (gpu["id"], gpu["name"], gpu["architecture"]) == (
        "1002:67df",
        "Radeon (TM) RX 480 Graphics",
        "gcn4",
    )
    assert facts["gpu"]["source"] == "DXGI"
    assert found["rx480"]["wmi"] == found["rx480"]["dxcore"] == ["1002:67df"]
    assert value["directx"]["level"] == "12"
    assert value["cuda"] == [] and value["driver.nvidia"] is None
    registered = [p for p in value["python"] if p["version"].startswith("3.8.") and p["source"] == "registry"]
    assert registered and registered[0]["bits"] == 64
    flags = Path("/proc/cpuinfo").read_text().split()
    assert value["cpu"]["flags"] == [flag for flag in ("avx", "avx2", "fma") if flag in flags]


def test_without_a_gpu_the_lab_has_none(found):
    facts = found["off"]["facts"]
    assert facts["gpu"]["value"] == [] and facts["gpu"]["known"] is True
    assert facts["directx"]["value"]["level"] is None
    assert found["off"]["wmi"] == found["off"]["dxcore"] == []


def test_the_lab_is_left_as_it_was(found):
    assert found["restored"] is True
