"""The Python environment in question: where its packages are. Nothing of it is imported."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Tuple

from envsetup.build.environment import Environment
from envsetup.build.receipt import Receipt, read_receipt
from envsetup.errors import UsageError
from envsetup.machine.binaries import architectures

START_LIMIT = 20.0  # seconds for an interpreter to say who it is
# Must run on any Python; -S keeps site-packages and their .pth files out.
_ASK = (
    "import sys, struct, json, sysconfig\n"
    "try:\n    import _ssl; ssl = True\nexcept ImportError: ssl = False\n"
    "paths = [sysconfig.get_path('purelib'), sysconfig.get_path('platlib')]\n"
    "print(json.dumps({'version': '%d.%d.%d' % sys.version_info[:3], 'bits': struct.calcsize('P') * 8,"
    " 'prefix': sys.prefix, 'ssl': ssl, 'paths': paths}))"
)


@dataclasses.dataclass(frozen=True)
class Target:
    """An environment, or an interpreter's own packages.

    Args:
        python: the interpreter.
        prefix: the environment's folder.
        site: the folders that hold its packages.
        version: minor version such as ``3.8``; empty when unknown.
        kind: ``venv``, ``conda`` or ``system``.
        config: of ``pyvenv.cfg``.
        receipt: when envsetup made it.
    """

    python: Path
    prefix: Path
    site: Tuple[Path, ...]
    version: str
    kind: str
    config: Mapping[str, str] = dataclasses.field(default_factory=dict)
    receipt: Receipt | None = None

    @property
    def environment(self) -> Environment:
        """The same, as the packages that build and probe take it."""
        return Environment(self.prefix)

    @functools.cached_property
    def processor(self) -> Tuple[str, int] | None:
        """The interpreter's processor and bits, from its first bytes; None when it can't be read."""
        try:
            with self.python.open("rb") as file:
                found = architectures(file.read(4096))
        except OSError:
            return None
        return found[0] if found else None

    @functools.cached_property
    def answer(self) -> Dict[str, Any] | str:
        """What the interpreter says of itself when it is started, or why it does not."""
        return ask(self.python)


def open_path(path: Path) -> Target:
    """Return the environment in a folder.

    Raises:
        UsageError: the folder is no environment.
    """
    prefix = path.absolute()
    environment = Environment(prefix)
    conda = (prefix / "conda-meta").is_dir()
    if not environment.is_venv and not conda:
        raise UsageError(
            f"{path} is no environment.",
            "Give the folder of a virtual environment or of conda's, or an interpreter with --python.",
        )
    site = _site_folders(prefix)
    config = environment.config()
    version = _minor(config.get("version") or config.get("version_info") or "") or _version_of(site, prefix)
    kind = "venv" if environment.is_venv else "conda"
    return Target(_interpreter(prefix), prefix, site, version, kind, config, read_receipt(prefix))


def open_python(python: Path) -> Target:
    """Return the environment of an interpreter.

    Raises:
        UsageError: it is not there or does not start.
    """
    python = python.absolute()
    if not python.exists():
        raise UsageError(f"There is no interpreter {python}.", "Give its path, e.g. --python env/bin/python.")
    for prefix in (python.parent.parent, python.parent):
        if (prefix / "pyvenv.cfg").is_file() or (prefix / "conda-meta").is_dir():
            return dataclasses.replace(open_path(prefix), python=python)
    said = ask(python)
    if isinstance(said, str):
        raise UsageError(f"{python} {said}.", "Give an interpreter that starts.")
    version = _minor(str(said["version"]))
    folders = [Path(str(path)) for path in said["paths"]]
    # Debian's own packages and those that pip puts beside them.
    folders += [Path("/usr/lib/python3/dist-packages"), Path(f"/usr/local/lib/python{version}/dist-packages")]
    site = tuple(
        dict.fromkeys(f for f in folders if f.is_dir() and (f.name != "dist-packages" or _debian(said)))
    )
    return Target(python, Path(str(said["prefix"])), site, version, "system")


def ask(python: Path) -> Dict[str, Any] | str:
    """Start an interpreter and return what it says of itself, or the end of a sentence that says why not."""
    try:
        done = subprocess.run(
            [str(python), "-I", "-S", "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=START_LIMIT,
        )
    except subprocess.TimeoutExpired:
        return f"did not answer within {START_LIMIT:.0f} s"
    except OSError as error:
        return f"can't be started: {error.strerror or error}"
    try:
        said = json.loads(done.stdout.decode("utf-8", "replace")[:65536])
        if isinstance(said, dict) and {"version", "bits", "prefix", "ssl", "paths"} <= set(said):
            return said
    except ValueError:
        pass
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"ended with code {done.returncode}: {last[-1][:300] if last else 'it said nothing'}"


def _debian(said: Mapping[str, Any]) -> bool:
    return str(said["prefix"]) == "/usr"


def _interpreter(prefix: Path) -> Path:
    names = ["Scripts/python.exe", "python.exe"] if sys.platform == "win32" else ["bin/python", "bin/python3"]
    return next((prefix / name for name in names if (prefix / name).exists()), prefix / names[0])


def _site_folders(prefix: Path) -> Tuple[Path, ...]:
    found: List[Path] = []
    for pattern in ("lib/python*/site-packages", "lib64/python*/site-packages", "Lib/site-packages"):
        for folder in sorted(prefix.glob(pattern)):
            # lib64 is a link to lib, and Windows makes no difference between Lib and lib
            if folder.is_dir() and not any(folder.samefile(other) for other in found):
                found.append(folder)
    return tuple(found)


def _version_of(site: Tuple[Path, ...], prefix: Path) -> str:
    for folder in site:
        match = re.fullmatch(r"python(\d\.\d+)t?", folder.parent.name)
        if match:
            return match.group(1)
    for record in (prefix / "conda-meta").glob("python-[0-9]*.json"):
        return _minor(record.name[len("python-") :])
    return ""


def _minor(version: str) -> str:
    match = re.match(r"(\d+\.\d+)", version)
    return match.group(1) if match else ""
