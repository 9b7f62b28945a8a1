"""The Python that a stack needs: missing, broken, or to be downloaded."""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import platform
import re
import subprocess
import sys
import tarfile
import threading
from pathlib import Path
from typing import Callable, Dict, Iterator

import pytest

from tests.e2e.bench import Bench

OTHER = "3.8" if sys.version_info[:2] != (3, 8) else "3.9"


@pytest.fixture
def without(bench: Bench) -> Bench:
    """A bench on a machine that lacks the Python that the stack needs."""
    bench.use_python(OTHER)
    empty = bench.folder / "no-programs"
    empty.mkdir()
    bench.env.update(
        PATH=str(empty),
        HOME=str(bench.folder / "home"),
        UV_PYTHON_INSTALL_DIR=str(bench.folder / "pythons"),
        UV_PYTHON_NO_REGISTRY="1",
    )
    for name in list(bench.env):
        if name.startswith(("PYENV", "CONDA")):
            del bench.env[name]
    return bench


def test_a_missing_python_is_a_refusal_that_says_how_to_get_it(without: Bench) -> None:
    done = without.create()
    assert done.code == 3, done.err
    assert f"Python {OTHER}" in done.message and "--yes" in done.message and "pyenv" in done.message
    assert not without.target.parent.exists()


def test_a_dry_run_shows_that_it_would_be_downloaded(without: Bench) -> None:
    done = without.create("--dry-run")
    assert done.code == 0
    assert done.data["fetch_python"] is True


def test_a_mirror_that_is_dead(without: Bench) -> None:
    done = without.create("--yes", UV_PYTHON_INSTALL_MIRROR="http://127.0.0.1:9/pythons")
    assert done.code == 4
    assert "UV_PYTHON_INSTALL_MIRROR" in done.message
    assert without.left_over() == []


class Mirror(http.server.SimpleHTTPRequestHandler):
    """Serves one archive under every name that is asked for."""

    archive = b""

    def do_GET(self) -> None:
        self.send_response(200 if self.archive else 404)
        self.send_header("Content-Length", str(len(self.archive)))
        self.end_headers()
        self.wfile.write(self.archive)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def mirror() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mirror) as server:
        threading.Thread(target=functools.partial(server.serve_forever, 0.05), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/pythons"
        server.shutdown()


def test_a_mirror_that_lacks_it(without: Bench, mirror: str) -> None:
    Mirror.archive = b""
    done = without.create("--yes", UV_PYTHON_INSTALL_MIRROR=mirror)
    assert done.code == 4
    assert "UV_PYTHON_INSTALL_MIRROR" in done.message


def test_a_mirror_that_serves_something_else(without: Bench, mirror: str, tmp_path: Path) -> None:
    """uv knows the hash of each archive, so a mirror can't slip in another Python."""
    archive = tmp_path / "python.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(__file__, "python/bin/python3")
    Mirror.archive = archive.read_bytes()
    done = without.create("--yes", UV_PYTHON_INSTALL_MIRROR=mirror)
    Mirror.archive = b""
    assert done.code == 4
    assert "not the one that is expected" in done.message


def packed(python: Path, archive: Path) -> None:
    """Pack an installed Python as uv expects it, without what nobody needs for a test."""
    code = "import sys, sysconfig; print(sys.base_prefix); print(sysconfig.get_path('stdlib'))"
    told = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout
    base, library = map(Path, told.splitlines())
    left_out = {"test", "__pycache__", "site-packages", "idlelib", "lib2to3", "ensurepip", "tkinter"}

    def keep(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        name = Path(entry.name).name
        return None if name in left_out or name.endswith((".a", ".pyc")) else entry

    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(base / "bin" / f"python{OTHER}", f"python/bin/python{OTHER}")
        tar.add(library, f"python/lib/{library.name}", filter=keep)
        for shared in base.glob(f"lib/libpython{OTHER}*.so*"):
            tar.add(shared, f"python/lib/{shared.name}")


def test_a_missing_python_is_downloaded_when_asked_for(
    without: Bench, mirror: str, pythons: Callable[[str], Path], tmp_path: Path
) -> None:
    archive = tmp_path / "python.tar.gz"
    packed(pythons(OTHER), archive)
    Mirror.archive = archive.read_bytes()
    major, minor = map(int, OTHER.split("."))
    known = {
        "name": "cpython",
        "arch": {"family": platform.machine(), "variant": None},
        "os": "linux",
        "libc": "gnu",
        "major": major,
        "minor": minor,
        "patch": 20,
        "prerelease": "",
        "url": f"{mirror}/python.tar.gz",
        "sha256": hashlib.sha256(Mirror.archive).hexdigest(),
        "variant": None,
    }
    name = f"cpython-{OTHER}.20-linux-{platform.machine()}-gnu"
    downloads = tmp_path / "downloads.json"
    downloads.write_text(json.dumps({name: known}))
    without.env["UV_PYTHON_DOWNLOADS_JSON_URL"] = str(downloads)
    assert without.create().code == 3, "nobody agreed to a download"
    done = without.made("--yes")
    Mirror.archive = b""
    assert "downloading Python" in done.err
    assert without.version() == "2.0"
    home = (without.target / "pyvenv.cfg").read_text()
    assert str(without.folder / "pythons") in home
    assert without.made().data["changed"] is False
    assert not (without.folder / "home" / ".local" / "bin").exists(), "a python was put on PATH unasked"


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "kind",
    ["not there", "a folder", "no program", "not executable", "a script that fails", "hangs", "cut off"],
)
def test_a_broken_interpreter(kind: str, earlier: Bench) -> None:
    path = earlier.folder / "python"
    if kind == "a folder":
        path.mkdir()
    elif kind in ("no program", "not executable"):
        path.write_text("hello")
        path.chmod(0o755 if kind == "no program" else 0o644)
    elif kind == "a script that fails":
        script(path, "#!/bin/sh\nexit 3\n")
    elif kind == "hangs":
        script(path, "#!/bin/sh\nexec sleep 600\n")
    elif kind == "cut off":
        whole = Path(sys.executable).resolve().read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        path.chmod(0o755)
    done = earlier.create("--replace", "--python", path)
    assert done.code == 2, done.message
    assert str(path) in done.message


def test_an_interpreter_given_by_its_path(bench: Bench, pythons: Callable[[str], Path]) -> None:
    python = pythons(OTHER)
    bench.use_python(OTHER)
    done = bench.made("--python", python)
    assert done.data["interpreter"] == str(python)
    version = subprocess.run([str(bench.target / "bin" / "python"), "-V"], capture_output=True, text=True)
    assert f"Python {OTHER}." in version.stdout


def test_an_interpreter_of_another_version(earlier: Bench, pythons: Callable[[str], Path]) -> None:
    done = earlier.create("--replace", "--python", pythons(OTHER))
    assert done.code == 3
    assert OTHER in str(done.data["rejected"])
    done = earlier.create("--replace", "--python", "2.7")
    assert done.code == 2 and "2.7" in done.message
    done = earlier.create("--replace", "--python", "three")
    assert done.code == 2


def test_the_interpreter_of_a_virtual_environment_serves(bench: Bench) -> None:
    other = bench.folder / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(other)], check=True)
    bench.made("--python", other / "bin" / "python")
    home = re.search(r"^home = (.*)$", (bench.target / "pyvenv.cfg").read_text(), re.MULTILINE)
    assert home and str(other) not in home.group(1), "the environment hangs on another one"


def test_variables_of_an_active_environment_do_not_matter(bench: Bench) -> None:
    env: Dict[str, str] = {
        "VIRTUAL_ENV": str(bench.folder / "active"),
        "CONDA_PREFIX": str(bench.folder / "conda"),
        "PYTHONHOME": "",
        "UV_PROJECT_ENVIRONMENT": str(bench.folder / "project"),
        "UV_SYSTEM_PYTHON": "1",
        "UV_BREAK_SYSTEM_PACKAGES": "1",
        "PIP_TARGET": str(bench.folder / "pip-target"),
        "PIP_USER": "1",
    }
    bench.made(**env)
    assert bench.version() == "2.0"
    assert platform.system() == "Linux" and not (bench.folder / "pip-target").exists()
