"""What all tests share: the ``--heavy`` switch, the reasons to skip, and a few real things to test against.

Fixtures:
    index       a package index on the loopback interface that serves small wheels and can be told to fail
    tiny_wheel  makes a small real wheel
    pythons     finds an interpreter by version: ``pythons("3.8")``; skips the test when there is none
    uv          the path of the uv program that envsetup itself uses
    wsl_libraries      stand-ins for libdxcore.so and libd3d12.so, a folder for LD_LIBRARY_PATH
    openmp_and_blas    libomp.so.5, libblas.so.3 and liblapack.so.3, folders for LD_LIBRARY_PATH
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable, Iterator

import pytest

from tests import standins
from tests.support.index import Index
from tests.support.wheels import tiny_wheel as make_tiny_wheel
from tests.winlab import lab


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--heavy", action="store_true", help="run tests that download hundreds of MB")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what can't run here, and say why. ``heavy(disk=4)``: GB that must be free for temporary files."""
    heavy, winlab = item.get_closest_marker("heavy"), item.get_closest_marker("winlab")
    if (heavy or winlab) and not item.config.getoption("--heavy"):
        pytest.skip("heavy: run with --heavy")
    if heavy:
        need = heavy.kwargs.get("disk", 2)
        free = shutil.disk_usage(tempfile.gettempdir()).free / 1e9
        if free < need:
            pytest.skip(f"needs {need} GB of disk, {free:.1f} GB are free")
    if winlab and lab.trouble():
        pytest.skip(lab.trouble())
    if item.get_closest_marker("network") or winlab:
        trouble = index_trouble()
        if trouble:
            pytest.skip(f"the package index can't be reached: {trouble}")


@functools.lru_cache(maxsize=None)
def index_trouble() -> str:
    """Return why nothing can be fetched from the package index that pip is set to; empty when it can."""
    environ = {**os.environ, "PIP_RETRIES": "0", "PIP_DEFAULT_TIMEOUT": "15"}
    for python in dict.fromkeys([sys.executable, shutil.which("python3") or sys.executable]):
        if subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0:
            command = [python, "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir", "idna==3.7"]
            break
    else:
        command = [find_uv(), "pip", "install", "-q", "--no-deps", "--no-cache", "idna==3.7"]
        environ.update(UV_HTTP_RETRIES="0", UV_HTTP_TIMEOUT="15")
    with tempfile.TemporaryDirectory() as folder:
        command += ["--target" if "install" in command else "--dest", folder]
        done = subprocess.run(command, capture_output=True, text=True, env=environ)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no reason given"])[-1]


def find_uv() -> str:
    """Return the uv program that belongs to this environment, or the one on PATH."""
    from uv import find_uv_bin

    try:
        return os.fspath(find_uv_bin())
    except FileNotFoundError:
        found = shutil.which("uv")
        assert found, "uv is a dependency of envsetup, and it isn't here"
        return found


@functools.lru_cache(maxsize=None)
def find_python(minor: str) -> Path | None:
    """Return an interpreter of a version such as ``3.8``: the one on PATH, or pyenv's."""
    candidates = [Path(p) for p in [shutil.which(f"python{minor}")] if p]
    candidates += sorted(Path.home().glob(f".pyenv/versions/{minor}.*/bin/python"), reverse=True)
    for candidate in candidates:
        # a pyenv shim may exist and not work; one that works isn't the interpreter itself
        code = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
        done = subprocess.run([str(candidate), "-c", code], capture_output=True, text=True)
        version, _, executable = done.stdout.strip().partition(" ")
        if version == minor:
            return Path(executable)
    return None


@pytest.fixture(scope="session")
def uv() -> str:
    return find_uv()


@pytest.fixture(scope="session")
def pythons() -> Callable[[str], Path]:
    """Return a function from version (``3.8``) to interpreter that skips the test when there is none."""

    def python(minor: str) -> Path:
        found = find_python(minor)
        if found is None:
            pytest.skip(f"no Python {minor} on PATH or in ~/.pyenv")
        return found

    return python


@pytest.fixture
def tiny_wheel(tmp_path: Path) -> Callable[..., Path]:
    """Return :func:`tests.support.wheels.tiny_wheel`, which writes to the folder that ``index`` serves."""
    return functools.partial(make_tiny_wheel, tmp_path / "wheels")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """Serve the wheels of ``tmp_path / "wheels"``; see :class:`tests.support.index.Index`."""
    with Index(tmp_path / "wheels") as server:
        yield server


@pytest.fixture(scope="session")
def wsl_libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with stand-ins for the two libraries of WSL 2; see :mod:`tests.standins`."""
    if sys.platform != "linux" or not shutil.which("gcc"):
        pytest.skip("needs gcc on Linux")
    return standins.build(tmp_path_factory.mktemp("wsl"))


@pytest.fixture(scope="session")
def openmp_and_blas(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return where pytorch-directml finds OpenMP, BLAS and LAPACK; empty when the system has them.

    They come from Debian's packages and are unpacked, not installed.
    """
    cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    if all(name in cache for name in ("libomp.so.5", "libblas.so.3", "liblapack.so.3")):
        return ""
    packages = ["libomp5", "libblas3", "liblapack3", "libgfortran5", "libquadmath0"]
    if not shutil.which("apt-get"):
        pytest.skip(f"needs {', '.join(packages)}")
    listed = subprocess.run(["apt-cache", "depends", "libomp5"], capture_output=True, text=True).stdout
    packages += [
        word for word in listed.split() if word.startswith("libomp5-")
    ]  # libomp5 is an empty package
    folder = tmp_path_factory.mktemp("debian")
    command = ["apt-get", "download", "-qq", *packages]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"needs {', '.join(packages)}: {done.stderr.strip()}")
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)
    found = {
        path.parent
        for name in ("libomp.so.5", "libblas.so.3", "liblapack.so.3", "libgfortran.so.5")
        for path in folder.rglob(name)
    }
    return ":".join(map(str, sorted(found)))
