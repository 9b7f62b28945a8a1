"""The Windows lab from Python: see ``tests/winlab/winlab`` for what it is."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Mapping, Union

SCRIPT = Path(__file__).with_name("winlab")
RX_480 = "1002:67df"

Argument = Union[str, Path]
Done = subprocess.CompletedProcess  # its output is text, with lines that end as they do here


class Lab:
    """The machine, once built. Arguments that are paths are translated to what they are in there."""

    def __init__(self) -> None:
        self.changed_gpu = False

    def run(
        self,
        program: Argument,
        *arguments: Argument,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: int = 600,
    ) -> Done[str]:
        """Run a Windows program.

        Args:
            program: its path here, or a name such as ``cmd``.
            arguments: for it.
            cwd: the folder that it runs in.
            env: set for it; of this process's environment it only gets pip's and uv's settings and proxies.
            timeout: seconds it may take; its return code is 124 then.
        """
        given = [word for name, value in (env or {}).items() for word in ("-e", f"{name}={value}")]
        command = ["run", *given, self._word(program), *map(self._word, arguments)]
        return _winlab(*command, cwd=cwd, timeout=timeout)

    def python(
        self,
        version: str,
        *arguments: Argument,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: int = 600,
    ) -> Done[str]:
        """Run Windows CPython, which is installed first if it isn't there; see :meth:`run`."""
        if not (home() / f"py{version}/done").exists():
            build(version)
        return self.run(home() / f"py{version}/python.exe", *arguments, cwd=cwd, env=env, timeout=timeout)

    def gpu(self, ids: str) -> None:
        """Make the machine report another GPU, ``vendor:device`` in hex, or none (``off``)."""
        self.changed_gpu = ids != RX_480
        done = _winlab("gpu", ids)
        assert done.returncode == 0, done.stderr

    def path(self, path: Path) -> str:
        """Return a path as Windows programs see it."""
        return "Z:\\host" + str(path.absolute()).replace("/", "\\")

    def _word(self, word: Argument) -> str:
        return self.path(word) if isinstance(word, Path) else word


def home() -> Path:
    """Return the folder that the machine is kept in."""
    return Path(os.environ.get("WINLAB_HOME") or Path.home() / ".cache/winlab")


@functools.lru_cache(maxsize=None)
def trouble() -> str:
    """Return why there can be no lab here; empty when there can."""
    if sys.platform != "linux":
        return "the Windows lab runs on Linux"
    done = _winlab("check")
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[-1]
    place = next(folder for folder in (home(), *home().parents) if folder.exists())
    free = shutil.disk_usage(place).free / 1e9
    if free < 4 and not (home() / "base.done").exists():
        return f"the Windows lab needs 4 GB of disk, {free:.1f} GB are free"
    return ""


def build(*versions: str) -> Lab:
    """Make the machine with these Python versions, or what it lacks of that.

    Raises:
        RuntimeError: it could not be made; the text says why.
    """
    done = _winlab("build", *versions, timeout=1800)
    if done.returncode != 0:
        raise RuntimeError(f"the Windows lab could not be built: {done.stderr.strip()[-2000:]}")
    return Lab()


def _winlab(*words: str, cwd: Path | None = None, timeout: int = 600) -> Done[str]:
    environ = {**os.environ, "WINLAB_TIMEOUT": str(timeout), "WINLAB_PYTHON": _python_with_pip()}
    process = subprocess.Popen(
        [str(SCRIPT), *words],
        cwd=cwd,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate()
    except BaseException:  # a test run that is interrupted must not leave a machine running
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    texts = (output.decode("utf-8", "replace").replace("\r\n", "\n") for output in (out, err))
    return Done(process.args, process.returncode, *texts)


@functools.lru_cache(maxsize=None)
def _python_with_pip() -> str:
    for python in (sys.executable, shutil.which("python3")):
        if python and subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0:
            return python
    return sys.executable
