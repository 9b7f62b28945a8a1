"""Runs the probe in an environment's interpreter and judges how it went. Standard library only."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple

from envsetup.errors import UsageError

from .child import Child
from .events import Progress
from .evidence import Evidence
from .log import BoundedLog
from .report import ProbeReport
from .stream import Lines
from .target.registry import FILES
from .verdict import Ending, judge

# Seconds. Importing TensorFlow takes 10 s here and minutes from a cold disk on a small machine; the first
# use of a GPU newer than the build compiles its kernels ("Ampere: over 30 minutes at first start",
# TensorFlow's installation guide of 2020), which is rare enough to leave to the caller's own limit.
LIMITS: Mapping[str, float] = {
    "start": 60,
    "import": 300,
    "enumerate": 120,
    "train": 600,
    "compare": 120,
    "placement": 60,
    "distribute": 300,
}
LOG_LIMIT = 1 << 16
_GRACE = 2.0  # the probe ends itself at the limit, with a trace of where it stands; then it is killed


def supported() -> List[Tuple[str, str]]:
    """Return every (framework, backend) that can be probed."""
    return sorted(FILES)


def run(
    python: Path,
    framework: str,
    backend: str,
    device: Optional[str] = None,
    *,
    limits: Optional[Mapping[str, float]] = None,
    log_limit: int = LOG_LIMIT,
    env: Optional[Mapping[str, str]] = None,
) -> ProbeReport:
    """Train one step in an environment and report what ran where.

    Whatever the environment does (raise, crash, hang, print without end) is a result. Nothing is left
    running, also when this is interrupted.

    Args:
        python: the environment's interpreter, 3.6 or newer.
        framework: "torch" or "tensorflow"; ``supported`` has the list.
        backend: "cpu", "cuda", "rocm" or "dml".
        device: one of the backend's devices, such as "dml:1", "GPU:1" or "1"; None takes the first.
        limits: seconds for stages, over those of LIMITS.
        log_limit: bytes of the framework's output that are kept.
        env: variables to add to the environment.

    Raises:
        UsageError: framework and backend are not a pair that can be probed.
    """
    if (framework, backend) not in FILES:
        pairs = ", ".join(f"{f} with {b}" for f, b in supported())
        raise UsageError(f"{framework} with {backend} can't be probed", f"Known are {pairs}.")
    allowed = {**LIMITS, **(limits or {})}
    directory = Path(tempfile.mkdtemp(prefix="envsetup-probe-"))
    try:
        progress = Progress(directory / "events")
        evidence, log = Evidence(), BoundedLog(log_limit)
        request = {
            "events": str(directory / "events"),
            "framework": framework,
            "backend": backend,
            "device": device,
            "limits": allowed,
        }
        ending = _follow(
            _argv(python, request), _environment(env or {}), directory, allowed, progress, evidence, log
        )
    finally:
        # On Windows a driver or a virus scanner may hold a file a little longer; no reason to fail.
        shutil.rmtree(directory, ignore_errors=True)
    return judge(backend, progress, evidence, log, ending)


def _argv(python: Path, request: Mapping[str, Any]) -> List[str]:
    script = Path(__file__).resolve().parent / "target" / "main.py"
    # -I: neither PYTHON* variables, nor the user's site-packages, nor the current directory.
    # The request is ASCII: an old interpreter decodes its arguments by the locale.
    options = ["-I", "-u", "-X", "utf8", "-X", "faulthandler"]
    # Made absolute, as it starts elsewhere; not resolved, as a venv's link is what makes it that venv's.
    program = os.path.abspath(python if python.exists() else shutil.which(str(python)) or python)  # noqa: PTH100
    return [program, *options, str(script), json.dumps(request)]


def _environment(additions: Mapping[str, str]) -> Dict[str, str]:
    """Return this process's environment without what would change the target interpreter or hide its log."""
    dropped = ("PYTHON", "__PYVENV_LAUNCHER__", "TF_CPP_")
    env = {k: v for k, v in os.environ.items() if not k.upper().startswith(dropped)}
    env["PYTHONNOUSERSITE"] = "1"
    # Numbers are compared in float32; Ampere and later GPUs would round products to 10 bits.
    env["NVIDIA_TF32_OVERRIDE"] = "0"
    # From 2.12 on TensorFlow names the libraries that it misses only when it is asked to be verbose about it.
    env["TF_CPP_VMODULE"] = "dso_loader=1"
    env.update(additions)
    return env


def _follow(
    argv: List[str],
    env: Mapping[str, str],
    cwd: Path,
    limits: Mapping[str, float],
    progress: Progress,
    evidence: Evidence,
    log: BoundedLog,
) -> Ending:
    ending = Ending()

    def take(line: bytes) -> None:
        if evidence.line(line):
            log.feed(line)

    lines = Lines(take)
    try:
        child = Child(argv, env, cwd, lines.feed)
    except OSError as error:
        ending.not_started = f"{argv[0]} could not be started: {error.strerror or error}"
        return ending
    try:
        while ending.code is None:
            ending.code = child.wait(0.05)
            progress.update()
            ending.limit = limits[progress.stage]
            if ending.code is None and time.monotonic() - progress.since > ending.limit + _GRACE:
                break
    finally:
        child.kill()
    lines.end()
    progress.update()
    return ending
