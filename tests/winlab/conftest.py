"""Fixtures of the Windows tests.

Fixtures:
    winlab      the machine, with a Radeon RX 480 (:class:`tests.winlab.lab.Lab`); made when it isn't there
    envsetup    envsetup installed there: ``envsetup("create", "--json", path)``
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

from tests.winlab import lab
from tests.winlab.lab import Done, Lab

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def winlab_machine() -> Lab:
    machine = lab.build("3.8")
    machine.gpu(lab.RX_480)  # an earlier run may have ended with another one
    return machine


@pytest.fixture
def winlab(winlab_machine: Lab) -> Iterator[Lab]:
    """The Windows machine; a GPU that the test chose is changed back at the end."""
    yield winlab_machine
    if winlab_machine.changed_gpu:
        winlab_machine.gpu(lab.RX_480)


@pytest.fixture(scope="session")
def envsetup(
    winlab_machine: Lab, uv: str, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Done[str]]:
    """Install a wheel of this checkout there, as a user would, and return a function that calls it."""
    folder = tmp_path_factory.mktemp("tool")
    subprocess.run([uv, "build", "-q", "--wheel", "--out-dir", str(folder), str(ROOT)], check=True)
    (wheel,) = folder.glob("*.whl")
    done = winlab_machine.python("3.8", "-m", "venv", folder / "venv")
    assert done.returncode == 0, done.stderr
    done = winlab_machine.run(folder / "venv/Scripts/python.exe", "-m", "pip", "install", "-q", wheel)
    assert done.returncode == 0, done.stderr

    def call(*arguments: Any, **options: Any) -> Done[str]:
        return winlab_machine.run(folder / "venv/Scripts/envsetup.exe", *arguments, **options)

    return call
