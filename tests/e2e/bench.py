"""A bench for whole runs of ``envsetup create``: real processes, real uv, tiny wheels from a loopback index.

The stack ``tiny`` has versions 1.0 and 2.0 and the shape of pytorch-directml: ``tiny-torch`` owns the
package ``torch`` and replaces the distribution ``torch``, which ``tiny-vision`` requires. Its ``torch`` is a
fake that answers the real probe with the right numbers, or, by the variable FAKE_TORCH, fails (``raise``,
``hang``) or waits for a file (its path).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import platform
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping

import envsetup
from envsetup.plan.lock import Lock, Package
from tests.support.index import Index

REPOSITORY = Path(envsetup.__file__).parent.parent
MINOR = "{}.{}".format(*sys.version_info)
PLATFORM = f"manylinux_{platform.machine()}"
OWN = ("PIP_", "UV_", "SSL_", "XDG_", "REQUESTS_", "CURL_")
BYTE_CODE = Path(tempfile.gettempdir()) / "envsetup-tests-byte-code"  # halves the time that a run takes
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")

FAKE_TORCH = """
import os, sys, time
__version__ = {version!r}
_how = os.environ.get("FAKE_TORCH", "")
if _how == "raise":
    raise ImportError("FAKE_TORCH says so")
if _how == "hang":
    time.sleep(600)
while _how.startswith("/") and not os.path.exists(_how):
    time.sleep(0.05)
_step = sys.modules.get("_envsetup_probe.torch_step")
if _step:
    def _train(self, device, network):
        ops = [("conv2d", device), ("linear", device)]
        return _step.Step(network.REFERENCE_LOSSES, {{}}, ops, "a fake torch")
    _step.TorchProbe.train = _train
"""

STACK = """
name = "tiny"
title = "a stack for tests"
summary = "tiny wheels"
framework = "torch"
backend = "cpu"
preference = 1
local = "tiny"
systems = ["linux", "wsl"]
platforms = ["{platform}"]
source = "tests"
ceilings = ["tiny-numbers<2"]
"""
ROW = """
[[row]]
version = "{version}"
python = {pythons}
install = ["tiny-torch=={version}", "tiny-vision=={version}"]
replaces = {{ torch = "{version}" }}
cut-off = "2021-01-01"
"""


@dataclasses.dataclass(frozen=True)
class Done:
    """A run that ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Dict[str, Any]:
        """The one JSON object on stdout."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def message(self) -> str:
        """What went wrong and what to do, as one line."""
        error = self.data["error"]
        return " ".join(f"{error['message']} {error['hint']}".split())


class Bench:
    """Runs the program against a loopback index.

    Attributes:
        target: where :meth:`create` makes the environment.
        env: the environment of the runs, without this machine's settings for pip and uv.
        wrapper: put in front of the command, e.g. ``setpriv``.
    """

    def __init__(self, folder: Path, index: Index) -> None:
        self.folder, self.index = folder, index
        self.target = folder / "lab" / "env"
        self.constraints = folder / "constraints"
        self.wrapper: List[str] = []
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(OWN) and k.upper() not in PROXIES}
        self.env.pop("PYTHONDONTWRITEBYTECODE", None)
        self.env.update(
            PYTHONPATH=str(REPOSITORY),
            PYTHONPYCACHEPREFIX=str(BYTE_CODE),
            PIP_CONFIG_FILE=os.devnull,
            PIP_INDEX_URL=index.url,
            UV_HTTP_TIMEOUT="2",
            UV_HTTP_RETRIES="0",
            UV_CACHE_DIR=str(folder / "uv-cache"),
            XDG_CACHE_HOME=str(folder / "cache"),
            XDG_CONFIG_HOME=str(folder / "config"),
            XDG_CONFIG_DIRS=str(folder / "etc"),
        )
        self._make_wheels()
        self._make_constraints([MINOR])

    def _make_wheels(self) -> None:
        for version in ("1.0", "2.0"):
            code = FAKE_TORCH.format(version=version)
            self.index.add("torch", version, files={"torch/__init__.py": "", "torch/left_over.py": ""})
            self.index.add(
                "tiny-torch", version, files={"torch/__init__.py": code}, requires=["tiny-numbers"]
            )
            self.index.add("tiny-vision", version, requires=[f"torch=={version}"])
            self.index.add("tiny-numbers", version)
        self.index.add("pip", "20.0")

    def _make_constraints(self, pythons: List[str]) -> None:
        """Copy the real ones, but for stacks and locks."""
        shutil.copytree(
            REPOSITORY / "constraints", self.constraints, ignore=shutil.ignore_patterns("stacks", "locks")
        )
        (self.constraints / "stacks").mkdir()
        rows = "".join(ROW.format(version=v, pythons=json.dumps(pythons)) for v in ("1.0", "2.0"))
        text = STACK.format(platform=PLATFORM) + rows
        (self.constraints / "stacks" / "tiny.toml").write_text(text, encoding="utf-8")
        for version in ("1.0", "2.0"):
            packages = [self.package(n, version) for n in ("tiny-torch", "tiny-vision")]
            packages += [self.package("tiny-numbers", "1.0"), self.package("pip", "20.0")]
            lock = Lock(tuple(packages), (self.package("torch", version),), "tiny")
            for python in pythons:
                self.write_lock(version, python, lock)

    def write_lock(self, version: str, python: str, lock: Lock) -> None:
        """Write the lock of ``tiny==version``."""
        path = self.constraints / "locks" / "tiny" / version / f"py{python}-{PLATFORM}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lock.text(), encoding="utf-8")

    def use_python(self, minor: str) -> None:
        """Make the stack one for another Python."""
        shutil.rmtree(self.constraints)
        self._make_constraints([minor])

    def package(self, name: str, version: str) -> Package:
        """Return the lock's entry for a wheel of the index."""
        wheel = self.index.folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
        content = wheel.read_bytes()
        return Package(name, version, wheel.name, len(content), hashlib.sha256(content).hexdigest())

    def command(self, *arguments: object) -> List[str]:
        """Return the command line for ``envsetup ARGUMENTS``."""
        launcher = Path(__file__).with_name("launch.py")
        return [*self.wrapper, sys.executable, str(launcher), str(self.constraints), *map(str, arguments)]

    def run(self, *arguments: object, cwd: Path | None = None, **env: str) -> Done:
        """Run ``envsetup ARGUMENTS`` to its end; no traceback is ever acceptable."""
        done = subprocess.run(
            self.command(*arguments),
            env={**self.env, **env},
            cwd=cwd or self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in err and "bug in envsetup" not in err, err
        return Done(done.returncode, out, err)

    def create(self, *arguments: object, path: object = None, **env: str) -> Done:
        """Run ``envsetup create --json`` on the target; stdout is one JSON object, whatever happens."""
        done = self.run("create", path or self.target, "--stack", "tiny", "--json", *arguments, **env)
        assert done.data["schema"] == 1, done.out
        return done

    def made(self, *arguments: object, path: object = None, **env: str) -> Done:
        """Return :meth:`create`'s run, which must succeed."""
        done = self.create(*arguments, path=path, **env)
        assert done.code == 0, done.err
        return done

    def start(self, *arguments: object, **env: str) -> subprocess.Popen[str]:
        """Start ``envsetup create`` on the target, in a process group of its own as a shell does."""
        return subprocess.Popen(
            self.command("create", self.target, "--stack", "tiny", "--json", *arguments),
            env={**self.env, **env},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def left_over(self) -> List[str]:
        """Return what lies beside the target."""
        return sorted(p.name for p in self.target.parent.iterdir() if p != self.target)

    def version(self) -> str:
        """Import the environment's torch with its own interpreter and return the version."""
        return imported(self.target, "torch")


def imported(environment: Path, module: str) -> str:
    """Import a module with an environment's interpreter and return its version."""
    python = environment / "bin" / "python"
    code = f"import {module}; print({module}.__version__)"
    done = subprocess.run([str(python), "-I", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def tree(folder: Path, leave_out: Callable[[str], bool] = lambda path: False) -> Dict[str, str]:
    """Return kind, permissions and content of everything below ``folder``, byte code aside."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if "__pycache__" in path.parts or leave_out(name):
            continue
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        else:
            mode = stat.filemode(path.stat().st_mode)
            found[name] = f"{mode} {hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ''}"
    return found


def wait_for(condition: Callable[[], object], seconds: float = 30) -> None:
    """Wait until a condition holds."""
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.02)


def end(process: subprocess.Popen[str], number: signal.Signals, group: bool = False) -> Done:
    """Send a signal to a run, or to its whole group as Ctrl-C on a terminal does, and wait for the end."""
    if group:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=30)
    return Done(process.returncode, out, err)


def processes_below(folder: Path) -> List[Mapping[str, object]]:
    """Return the running processes whose command line names ``folder`` (Linux)."""
    found: List[Mapping[str, object]] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if str(folder) in line and int(entry.name) != os.getpid():
            found.append({"pid": int(entry.name), "line": line.replace("\0", " ")})
    return found
