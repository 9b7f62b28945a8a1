"""Run uv, with the settings that people already have for pip, and turn its failures into sentences."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
from typing import IO, Any, Callable, Dict, Iterator, List, Mapping, Sequence, Tuple
from urllib.parse import urlsplit

from envsetup.errors import BuildError, EnvsetupError
from envsetup.machine.secrets import mask

Report = Callable[[str], None]

# What uv prints of each failure, and what a person can do about it; the first match wins.
_FAILURES: Tuple[Tuple[str, str, str], ...] = (
    (
        r"no space left|os error 28\b|not enough space|os error 112\b",
        "the disk is full",
        "Free some space, or choose another path; UV_CACHE_DIR moves the download cache to another disk.",
    ),
    (
        r"hash mismatch|does not match the expected hash|bad crc|invalid zip|failed to extract archive:",
        "a downloaded file is not the one that is expected",
        "It was damaged or changed on its way or on the index: try again, or another network or mirror.",
    ),
    (
        r"certificate|invalid peer",
        "the connection to the package index is not trusted",
        "Behind a proxy that inspects traffic, set SSL_CERT_FILE (or pip's `cert`) to its certificate.",
    ),
    (
        r"failed to install (cpython|python)",
        "Python can't be downloaded",
        "Check the network and proxy (HTTPS_PROXY), name a mirror with UV_PYTHON_INSTALL_MIRROR, or install "
        "that Python yourself.",
    ),
    (
        r"\b(401|403) (unauthorized|forbidden)|status code: 40[13]",
        "the package index refused access",
        "Check the user name and token of the index in pip's or uv's configuration.",
    ),
    (
        r"\b5\d\d (internal|bad gateway|service|gateway)|status code: 5\d\d|server error",
        "the package index answered with an error of its own",
        "Try again later, or name another index (PIP_INDEX_URL or UV_DEFAULT_INDEX).",
    ),
    (
        r"dns error|failed to lookup|connection refused|network is unreachable|error sending request|"
        r"connect(ion)? (error|timed out|reset)|operation timed out|network connectivity is disabled|"
        r"tunnel|request failed after|failed to fetch|failed to download|error decoding|"
        r"received some unexpected",
        "the package index can't be reached, or its answer can't be read",
        "Check the network and proxy (HTTPS_PROXY), or name a mirror (PIP_INDEX_URL or UV_DEFAULT_INDEX).",
    ),
    (
        r"permission denied|os error 13\b|access is denied|os error 5\b|read-only file system|os error 30\b",
        "a file or folder can't be written",
        "Choose a path that you may write to; envsetup needs no admin rights.",
    ),
)

# Lines of uv that tell a person how far it is; the others tell what envsetup said already.
_TOLD = ("Downloading ", "Downloaded ", "Building ", "Built ", "Prepared ", "Installed ")

# uv has a switch for it and no variable; this one is ours.
NO_INDEX = "ENVSETUP_NO_INDEX"


def binary() -> str:
    """Return the path of the uv that was installed with envsetup.

    Raises:
        BuildError: when the ``uv`` package is not there.
    """
    try:
        import uv

        return os.fspath(uv.find_uv_bin())
    except (ImportError, FileNotFoundError):
        raise BuildError(
            "uv is missing", "Install envsetup again: `pip install --force-reinstall uv`."
        ) from None


def settings(pip: Mapping[str, Any] | None, environ: Mapping[str, str] | None = None) -> Dict[str, str]:
    """Return the environment for uv: this one, with pip's configuration in uv's words.

    uv reads none of pip's settings. What the user set for uv itself stays. Values travel in the
    environment and not on the command line, where other users could read the credentials.

    Args:
        pip: the ``pip`` fact: ``index_url``, ``extra_index_url``, ``find_links``, ``cert``, ``proxy`` …
        environ: the environment to start from (default: this process's).
    """
    env = dict(os.environ if environ is None else environ)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "UV_PROJECT_ENVIRONMENT"):
        env.pop(name, None)
    env.update(UV_NO_PROGRESS="1", NO_COLOR="1", PYTHONUTF8="1", UV_PYTHON_DOWNLOADS="manual")
    if pip is None:
        return env

    def pass_on(name: str, value: Any) -> None:
        if value:
            env.setdefault(name, value if isinstance(value, str) else " ".join(value))

    pass_on("UV_DEFAULT_INDEX", pip.get("index_url"))
    if pip.get("extra_index_url") and "UV_INDEX" not in env:
        pass_on("UV_INDEX", pip["extra_index_url"])
        # pip takes the best version of all indexes; uv by default stops at the first that has the name.
        env.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")
    links = [_absolute(link) for link in pip.get("find_links") or ()]
    pass_on("UV_FIND_LINKS", ",".join(link for link in links if not _is_absent(link)))
    pass_on("UV_CONSTRAINT", [_absolute(file) for file in pip.get("constraint") or ()])
    pass_on("SSL_CERT_FILE", _absolute(pip.get("cert") or ""))
    pass_on("UV_INSECURE_HOST", pip.get("trusted_host"))
    for name in ("HTTPS_PROXY", "HTTP_PROXY"):
        if name.lower() not in env:
            pass_on(name, pip.get("proxy"))
    if pip.get("no_index"):
        env.setdefault(NO_INDEX, "1")
    return env


def _absolute(path: str) -> str:
    """Return a path from the root, since uv runs in another folder; a URL stays as it is."""
    return path if not path or "://" in path else os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111


def _is_absent(link: str) -> bool:
    """Say whether a folder of wheels is missing: pip only warns then, uv would stop."""
    if link.startswith("file://"):
        from urllib.request import url2pathname  # slow to import, and seldom needed

        link = url2pathname(urlsplit(link).path)
    return "://" not in link and not os.path.exists(link)  # noqa: PTH110


def with_index(env: Mapping[str, str], url: str) -> Dict[str, str]:
    """Return ``env`` with one more index, of which and of the others the best version is taken."""
    known = env.get("UV_INDEX", "")
    return {**env, "UV_INDEX": f"{url} {known}".strip(), "UV_INDEX_STRATEGY": "unsafe-best-match"}


def run(
    arguments: Sequence[str],
    env: Mapping[str, str],
    report: Report = lambda line: None,
    input: str | None = None,
    error: type[EnvsetupError] = BuildError,
) -> str:
    """Run uv and return what it printed on stdout.

    Args:
        arguments: without ``uv`` itself.
        env: from :func:`settings`.
        report: called with each line of progress that uv prints.
        input: text for stdin.
        error: what to raise when it is neither the network's nor the machine's fault that uv fails.

    Raises:
        EnvsetupError: with the failure's kind, uv's own last lines, and what to do.
    """
    if env.get(NO_INDEX) and arguments[:2] in (["pip", "install"], ["pip", "compile"]):
        arguments = [*arguments, "--no-index"]
    # uv reads the settings of the project in the current folder, of which the environment shall not depend;
    # for paths in requirement files the current folder counts, as for pip.
    env = {**env, "UV_PROJECT": os.path.abspath(os.sep)}  # noqa: PTH100
    out: List[bytes] = []
    lines: List[str] = []
    process: subprocess.Popen[bytes] | None = None
    try:
        with _uninterrupted():
            process = subprocess.Popen(
                [binary(), *arguments],
                **_CHILD,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        # Python waits at its end for threads that are no daemons, whatever interrupted the rest.
        reader = threading.Thread(target=_read, args=(process.stdout, out), daemon=True)
        reader.start()
        if process.stdin:
            try:
                process.stdin.write((input or "").encode("utf-8"))
                process.stdin.close()
            except BrokenPipeError:
                pass  # uv ended before it read its input: its exit code says why
        for raw in process.stderr or ():
            line = mask(raw.decode("utf-8", "replace").rstrip())
            lines = [*lines[-200:], line]
            if line.strip().startswith(_TOLD):
                report(line.strip())
        code = process.wait()
        reader.join()
    finally:
        if process is not None and process.poll() is None:
            _kill(process)
    if code:
        raise failure(lines, error)
    return out[0].decode("utf-8", "replace")


def _read(stream: IO[bytes] | None, out: List[bytes]) -> None:
    out.append(stream.read() if stream else b"")


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM until the end of the block.

    While Python forks, it runs functions of other modules, and an exception in one of them is dropped: an
    interruption at that moment would be lost, or uv would be running with nobody who knows of it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: List[int] = []
    kept = {n: signal.signal(n, lambda n, _: came.append(n)) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if came:
            signal.raise_signal(came[0])


def _end_with_parent() -> None:
    """Have the kernel end uv when this process is killed, so that it does not go on writing (Linux)."""
    if _LIBC is not None:
        _LIBC.prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG of linux/prctl.h


_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
# A session of its own: what uv starts, such as the build of a package, is ended with it.
_CHILD: Mapping[str, Any] = (
    {} if sys.platform == "win32" else {"start_new_session": True, "preexec_fn": _end_with_parent}
)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: EPERM for zombies
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def failure(lines: Sequence[str], error: type[EnvsetupError] = BuildError) -> EnvsetupError:
    """Return the error for uv's output ``lines``: a BuildError when network, index or disk are to blame."""
    text = "\n".join(lines)
    said = [
        line
        for line in lines
        if line.strip() and not line.startswith(("Using ", "Resolved ", "Downloading "))
    ]
    detail = "\n".join(said[-12:])
    for pattern, message, hint in _FAILURES:
        if re.search(pattern, text, re.IGNORECASE):
            return BuildError(f"{message[0].upper()}{message[1:]}.\n{detail}", hint)
    return error(f"uv says:\n{detail}", "")
