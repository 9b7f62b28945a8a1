"""What DirectML needs follows from other facts."""

from __future__ import annotations

import pytest

from envsetup.machine import directx, gpus
from envsetup.machine.fact import Fact, unknown

DIRECTX = {
    "before DirectML": ({"windows-build": 15063}, None, "15063"),
    "build unknown": ({"windows-build": unknown("windows-build", "no registry")}, "unknown", "no registry"),
    "GPU unknown": ({"gpu": unknown("gpu", "DXGI broken")}, "unknown", "DXGI broken"),
    "no GPU": ({"gpu": []}, None, "no GPU"),
    "GPU too old": ({"gpu": ["1002:9440"]}, None, "Direct3D 12"),
    "GPU too old, build unknown": (
        {"gpu": ["1002:9440"], "windows-build": unknown("windows-build", "?")},
        None,
        "Direct3D 12",
    ),
    "one of two": ({"gpu": ["1002:9440", "1002:67df"]}, "12", "Polaris"),
    "newer than the tables": ({"gpu": ["10de:fff0"]}, "12", "in no table yet"),
    "Matrox": ({"gpu": ["102b:0522"]}, "unknown", "not in the hardware tables"),
    "macOS": ({"os": "macos"}, None, "macOS"),
    "Linux": ({"os": "linux", "wsl": 0}, None, "Linux outside WSL"),
    "WSL of an old Windows": ({"os": "linux", "wsl": 2, "dxg": True, "windows-build": 19042}, None, "19044"),
    "WSL of a preview": ({"os": "linux", "wsl": 2, "dxg": True, "windows-build": 20150}, "12", "Polaris"),
    "WSL without /dev/dxg": ({"os": "linux", "wsl": 2, "dxg": False}, None, "dxg"),
    "WSL of an unknown Windows": (
        {"os": "linux", "wsl": 2, "dxg": True, "windows-build": unknown("windows-build", "?")},
        "12",
        "Polaris",
    ),
    "WSL 1": ({"os": "linux", "wsl": 1, "dxg": False}, None, "WSL 2"),
}


@pytest.mark.parametrize("name", DIRECTX)
def test_directx_follows_from_build_gpu_and_wsl(name):
    changes, level, why = DIRECTX[name]
    values = {
        "os": "windows",
        "wsl": 0,
        "dxg": None,
        "windows-build": 19045,
        "os-version": "",
        "gpu": ["1002:67df"],
        **changes,
    }
    if isinstance(values["gpu"], list):
        values["gpu"] = [gpus.describe(gpus.Adapter(*pci.split(":"))) for pci in values["gpu"]]

    def fact(key):
        return values[key] if isinstance(values[key], Fact) else Fact(key, values[key], key)

    found = directx.derive(fact)
    assert (found.value["level"] if found.known else "unknown") == level
    assert why in (found.value["why"] if found.known else found.source)
