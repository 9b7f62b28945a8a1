"""A virtual environment on disk, and how it is made.

uv makes it (``uv venv --relocatable``) and not virtualenv: current virtualenv can't seed Python 3.8, breaks
3.6 and 3.7 at every start, and writes absolute paths, so that a finished environment could not be moved
into place in one step.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shlex
import sys
from pathlib import Path
from typing import Dict, Mapping, Sequence

from envsetup import uv
from envsetup.errors import BuildError, EnvsetupError
from envsetup.plan.lock import Package


@dataclasses.dataclass(frozen=True)
class Environment:
    """A virtual environment at ``path``."""

    path: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.path / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

    @property
    def is_venv(self) -> bool:
        """Whether a virtual environment is there."""
        return (self.path / "pyvenv.cfg").is_file()

    def config(self) -> Dict[str, str]:
        """Return the settings of ``pyvenv.cfg`` (empty when it can't be read)."""
        try:
            text = (self.path / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")[:65536]
        except OSError:
            return {}
        pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
        return {key.strip().lower(): value.strip() for key, value in pairs}

    @property
    def site_packages(self) -> Path:
        """Where its packages are.

        Raises:
            BuildError: when the folder is not there.
        """
        if sys.platform == "win32":
            folders = [self.path / "Lib" / "site-packages"]
        else:
            folders = sorted(self.path.glob("lib/python*/site-packages"))
        for folder in folders:
            if folder.is_dir():
                return folder
        raise BuildError(f"{self.path} has no site-packages folder", "Make it again with --replace.")


def make(path: Path, python: str, place: Path, env: Mapping[str, str], report: uv.Report) -> Environment:
    """Make an empty, movable virtual environment.

    Args:
        path: where; must not exist.
        python: version or path of the interpreter.
        place: where it will be moved to; its name is what ``activate`` shows.

    Raises:
        BuildError: when the interpreter is not there or does not work.
    """
    prompt = re.sub(r"[^\w .+-]", "_", place.name)  # it is put into shell scripts as it is
    uv.run(
        ["venv", "--relocatable", "--no-project", f"--prompt={prompt}", f"--python={python}", str(path)],
        env,
        report,
    )
    _tell_sh_its_place(path / "bin" / "activate", place)
    return Environment(path)


def _tell_sh_its_place(activate: Path, place: Path) -> None:
    """Name the environment's place in ``activate``: bash, zsh and ksh find it out, a plain ``sh`` can't."""
    with contextlib.suppress(FileNotFoundError):  # Windows
        text = activate.read_text(encoding="utf-8")
        last = '        SCRIPT_PATH="${.sh.file}"\n'
        known = shlex.quote(str(place / "bin" / "activate"))
        text = text.replace(last, f"{last}    else\n        SCRIPT_PATH={known}\n")
        activate.write_bytes(text.encode("utf-8", "surrogateescape"))


def fetch_python(version: str, env: Mapping[str, str], report: uv.Report) -> str:
    """Download a CPython with uv, for this user only, and return its path.

    ``UV_PYTHON_INSTALL_MIRROR`` names another source than uv's own.
    """
    uv.run(["python", "install", "--no-bin", version], env, report)
    return uv.run(["python", "find", "--managed-python", version], env).strip()


def install(
    environment: Environment, packages: Sequence[Package], env: Mapping[str, str], report: uv.Report
) -> None:
    """Install exactly ``packages``, checked against their hashes."""
    if not packages:
        return
    # The plan met the constraints; here they would have to state hashes too.
    env = {name: value for name, value in env.items() if name != "UV_CONSTRAINT"}
    text = "\n".join(p.line() for p in packages)
    command = ["pip", "install", f"--python={environment.python}", "--no-deps", "-r", "-"]
    # A folder, a repository, or a file from an index without hashes has none: then uv can't ask for all.
    if all(p.sha256 for p in packages):
        command.append("--require-hashes")
        with contextlib.suppress(EnvsetupError):
            # With a hash for each, what uv's cache holds needs no question to the index.
            uv.run([*command, "--offline"], env, report, text)
            return
    uv.run(command, env, report, text)


def remove(
    environment: Environment, packages: Sequence[Package], env: Mapping[str, str], report: uv.Report
) -> None:
    """Uninstall ``packages``."""
    command = ["pip", "uninstall", f"--python={environment.python}", *(p.name for p in packages)]
    uv.run(command, env, report)
