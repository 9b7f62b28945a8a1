"""Real environments with fake frameworks in them, for every Python that is at hand."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict

import pytest

from envsetup.probe.target import network

HERE = Path(__file__).parent
VERSIONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


class Target:
    """An environment whose ``torch`` is the fake one.

    Args:
        home: the environment's directory, made with ``python -m venv``.
    """

    def __init__(self, home: Path) -> None:
        windows = sys.platform == "win32"
        self.python = home / ("Scripts/python.exe" if windows else "bin/python")
        self.site = home / "Lib/site-packages" if windows else next(home.glob("lib/python*/site-packages"))

    def install(self, **behaviour: Any) -> Path:
        """Install the fake torch with a behaviour; return the interpreter."""
        package = self.site / "torch"
        shutil.rmtree(package, ignore_errors=True)
        package.mkdir()
        shutil.copy(HERE / "fake_torch.py", package / "__init__.py")
        behaviour.setdefault("losses", network.REFERENCE_LOSSES)
        (package / "behaviour.json").write_text(json.dumps(behaviour), encoding="utf-8")
        return self.python


def _make(base: Path, home: Path) -> Target:
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    subprocess.run([str(base), "-m", "venv", "--without-pip", str(home)], check=True, env=env)
    return Target(home)


@pytest.fixture(scope="session")
def target_of(
    pythons: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Target]:
    """Return a function that gives the environment of a Python version, or skips."""
    made: Dict[str, Target] = {}

    def get(version: str) -> Target:
        if version not in made:
            ours = version == "{}.{}".format(*sys.version_info)
            base = Path(sys.executable) if ours else pythons(version)
            made[version] = _make(base, tmp_path_factory.mktemp("targets") / f"Umgebung {version} é中")
        return made[version]

    return get


@pytest.fixture
def target(target_of: Callable[[str], Target]) -> Target:
    """An environment of the running Python's version; its path has a space and non-ASCII letters."""
    return target_of("{}.{}".format(*sys.version_info))
