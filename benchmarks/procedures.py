"""The procedures that are compared, and the clean place in which each is run."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, Sequence, Tuple

CHECKOUT = Path(__file__).resolve().parents[1]
# The documents install the newest pytorch-directml; that fails today, since every release is yanked.
DEPENDENT, REPLACED, FORK = "torchvision==0.9.0", "torch", "pytorch-directml==1.8.0a0.dev220506"
# A machine that the stack fits, for one without such a GPU: a Radeon RX 480 in an up-to-date WSL 2.
WSL_RADEON = ("wsl=2", "gpu=1002:67df")
_SCRIPTS, _EXE = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")


@dataclasses.dataclass(frozen=True)
class Tools:
    """The programs of a comparison.

    Args:
        envsetup: the console script, in an environment of its own.
        uv: the uv that was installed with it, so that both sides use the same one.
        python: the interpreter of the environments.
        assume: facts for ``envsetup create --assume``.
    """

    envsetup: Path
    uv: Path
    python: Path
    assume: Tuple[str, ...]

    def commands(self, name: str, path: Path) -> List[List[str]]:
        """Return the commands of a procedure: ``pip``, ``uv``, ``envsetup`` or ``envsetup, probed``."""
        inside = str(path / _SCRIPTS / f"python{_EXE}")
        uv = str(self.uv)
        if name == "pip":
            pip = str(path / _SCRIPTS / f"pip{_EXE}")
            return [
                [str(self.python), "-m", "venv", str(path)],
                [pip, "install", DEPENDENT],
                [pip, "uninstall", "-y", REPLACED],
                [pip, "install", FORK],
            ]
        if name == "uv":
            return [
                [uv, "venv", "--python", str(self.python), str(path)],
                [uv, "pip", "install", "--python", inside, DEPENDENT],
                [uv, "pip", "uninstall", "--python", inside, REPLACED],
                [uv, "pip", "install", "--python", inside, FORK],
            ]
        command = [str(self.envsetup), "create", str(path), "--backend", "dml"]
        command += [word for fact in self.assume for word in ("--assume", fact)]
        return [command if name == "envsetup, probed" else [*command, "--no-probe"]]


@contextlib.contextmanager
def installed(program: Path | None = None) -> Iterator[Path]:
    """Yield the console script ``program``, or that of this checkout, installed as a user would."""
    if program is not None:
        yield Path(os.path.abspath(program))  # noqa: PTH100 - a link stays a link: it may be a venv's
        return
    with tempfile.TemporaryDirectory(prefix="envsetup-") as folder:
        run([sys.executable, "-m", "venv", folder], dict(os.environ))
        scripts = Path(folder) / _SCRIPTS
        run([str(scripts / f"pip{_EXE}"), "install", "--quiet", str(CHECKOUT)], dict(os.environ))
        yield scripts / f"envsetup{_EXE}"


def find_tools(envsetup: Path, assume: Sequence[str]) -> Tools:
    """Return the tools that go with an installed envsetup; all take the interpreter that it chooses."""
    tools = Tools(envsetup, envsetup.with_name(f"uv{_EXE}"), Path(), tuple(assume))
    command = [*tools.commands("envsetup", Path("unused"))[0], "--dry-run", "--json"]
    planned = subprocess.run(command, stdout=subprocess.PIPE)
    if planned.returncode:
        sys.exit("the comparison needs a machine that PyTorch-DirectML fits: see --assume")
    interpreter = json.loads(planned.stdout)["interpreter"]
    if not interpreter:
        sys.exit("no Python 3.8 is here; `uv python install 3.8` brings it")
    return dataclasses.replace(tools, python=Path(interpreter))


def clean_environment(caches: Path, proxy: str, index: str | None = None) -> Dict[str, str]:
    """Return an environment in which all tools are as after their installation.

    Settings of the user's are left out, for the tools read different ones; certificates stay.

    Args:
        caches: folder of all caches.
        proxy: URL of the counting proxy.
        index: another package index for all of them, an https URL.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(("PIP_", "UV_")) and not name.upper().endswith("_PROXY")
    }
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"):
        kept.pop(name, None)
    if "PIP_CERT" in os.environ:
        kept["PIP_CERT"] = os.environ["PIP_CERT"]
    if index:
        kept.update(PIP_INDEX_URL=index, UV_DEFAULT_INDEX=index)
    kept.update(
        HTTPS_PROXY=proxy,
        PIP_CONFIG_FILE=os.devnull,
        UV_NO_CONFIG="1",
        PIP_CACHE_DIR=str(caches / "pip"),
        UV_CACHE_DIR=str(caches / "uv"),
        XDG_CACHE_HOME=str(caches / "other"),
    )
    return kept


def run(command: Sequence[str], env: Dict[str, str], allowed: Tuple[int, ...] = (0,)) -> None:
    """Run a command; end the program with its output when it fails.

    Args:
        allowed: exit codes that are no failure.
    """
    done = subprocess.run(
        command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode not in allowed:
        tail = done.stdout.decode("utf-8", "replace")[-3000:]
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{tail}")


def check(path: Path) -> None:
    """End the program unless the fork is in the environment and its files are where torch's would be."""
    name, _, version = FORK.replace("-", "_").partition("==")
    found = list(path.glob(f"**/{name}-{version}.dist-info/RECORD"))
    if not (found and (found[0].parents[1] / "torch" / "__init__.py").is_file()):
        sys.exit(f"{path} does not hold {FORK}: the comparison would not be fair")


def disk(*folders: Path) -> int:
    """Return the bytes that folders take on disk; a file with several names (hard links) counts once."""
    seen = {}
    for folder in folders:
        for file in folder.rglob("*"):
            found = file.lstat()
            # Windows has no blocks: the length stands in.
            seen[found.st_dev, found.st_ino] = getattr(found, "st_blocks", 0) * 512 or found.st_size
    return sum(seen.values())


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it."""
    shutil.rmtree(folder, ignore_errors=True)
