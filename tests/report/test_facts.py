from __future__ import annotations

from typing import Any, List

import pytest

from envsetup.machine.fact import Fact, unknown
from envsetup.report.facts import value_lines

GPU = {
    "vendor": "amd",
    "id": "1002:67df",
    "name": "Radeon RX 480",
    "architecture": "gcn4",
    "compute_capability": None,
    "gfx": "gfx803",
    "memory": 8 << 30,
    "integrated": False,
    "driver": None,
    "source": "sysfs",
}

CASES = [
    ("arch", "x86_64", ["x86_64"]),
    ("wsl", 0, ["0"]),
    ("dxg", True, ["true"]),
    ("rocm", None, ["none"]),
    ("cuda", [], ["none"]),
    ("cuda", [{"version": "10.1", "path": "/usr/local/cuda", "source": "x"}], ["10.1  /usr/local/cuda"]),
    ("cpu", {"model": "A", "flags": ["avx", "avx2"]}, ["A (avx, avx2)"]),
    ("cpu", {"model": None, "flags": []}, ["model not known (no AVX)"]),
    ("disk", {"path": "/home", "free": 39_900_000_000}, ["39.9 GB free at /home"]),
    ("directx", {"level": None, "why": "WSL 1"}, ["none (WSL 1)"]),
    ("gpu", [GPU], ["Radeon RX 480 (1002:67df, gcn4, gfx803, 8.0 GiB)"]),
    ("env", {"A": "1", "B": "2"}, ["A=1", "B=2"]),
    (
        "pip",
        {"index_url": "https://u:p@host/simple", "no_index": False, "cert": None, "sources": ["f"]},
        ["index_url=https://***@host/simple"],
    ),
]


@pytest.mark.parametrize(("name", "value", "lines"), CASES)
def test_a_value_is_said_for_people(name: str, value: Any, lines: List[str]) -> None:
    assert value_lines(Fact(name, value, "test")) == lines


def test_what_is_not_known_is_said() -> None:
    assert value_lines(unknown("cuda", "no answer")) == ["not known"]
