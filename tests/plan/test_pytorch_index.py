"""Stacks from PyTorch's own indexes: the build that was chosen comes, or an error, and never the CPU build.

The real index can't be reached from everywhere. Its layout can be served: one folder a variant, below it a
page a project with links and hashes, no upload dates, and "403" for whatever is not there.
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import os
import sys
import threading
from pathlib import Path
from urllib.parse import quote

import pytest

from envsetup import uv
from envsetup.errors import EnvsetupError
from envsetup.machine import Machine
from envsetup.machine.assume import overlay
from envsetup.plan.additions import Additions
from envsetup.plan.planner import make_plan
from envsetup.resolve.wish import Wish
from tests.support.wheels import tiny_wheel

MACHINE = ["os=windows", "windows-build=19045", "gpu=GeForce GTX 1650", "driver.nvidia=551.23"]
WISH = Wish(stack="pytorch-cuda==2.4.1+cu118", python="3.8")


class _Handler(http.server.SimpleHTTPRequestHandler):
    missing = 403

    def send_error(self, code, message=None, explain=None):
        super().send_error(self.missing if code == 404 else code)

    def log_message(self, format, *args):
        """Keep standard error free."""


class Mirror:
    """Serves ``folder`` as PyTorch's index does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.handler = type("Handler", (_Handler,), {})
        serve = functools.partial(self.handler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def add(self, variant: str, name: str, version: str, tag: str, hashed: bool = True, **options) -> None:
        """Make a wheel and list it on the page of its project."""
        wheel = tiny_wheel(self.folder / variant, name, version, tag=tag, **options)
        page = self.folder / variant / name / "index.html"
        page.parent.mkdir(exist_ok=True)
        fragment = f"#sha256={hashlib.sha256(wheel.read_bytes()).hexdigest()}" if hashed else ""
        link = f'<a href="/{variant}/{quote(wheel.name)}{fragment}">{wheel.name}</a><br>\n'
        known = page.read_text() if page.exists() else "<!DOCTYPE html>\n"
        page.write_text(known + link)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def mirror(tmp_path):
    served = Mirror(tmp_path / "whl")
    yield served
    served.close()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """uv's cache: what it knows of the interpreters here serves all tests."""
    return tmp_path_factory.mktemp("uv-cache")


@pytest.fixture
def plan(cache, index, mirror):
    """Return a function that plans with only the two indexes; the default one has the CPU builds."""
    for tag in ("cp38-cp38-win_amd64", "cp38-cp38-manylinux2014_x86_64"):
        index.add("torch", "2.4.1", tag=tag, requires=["numpy"])
        index.add("torchvision", "0.19.1", tag=tag, requires=["torch==2.4.1", "numpy"])
    index.add(
        "torch-directml", "0.2.3.dev240715", tag="cp38-cp38-manylinux2014_x86_64", requires=["torch==2.3.1"]
    )
    index.add("numpy", "1.24.4", tag="cp38-cp38-win_amd64")
    index.add("numpy", "1.24.4", tag="cp38-cp38-manylinux2014_x86_64")
    index.add("pip", "25.0.1")
    environ = {
        k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_")) and "proxy" not in k.lower()
    }
    environ.update(UV_CACHE_DIR=str(cache), UV_HTTP_RETRIES="0", ENVSETUP_INDEX_PYTORCH=mirror.url)
    env = uv.settings({"index_url": index.url}, environ)

    def run(wish=WISH, assume=MACHINE, **extra):
        # Any interpreter serves uv here, and one that it need not look for saves seconds.
        machine = overlay(Machine.of([]), [*assume, "python=3.8"])
        machine.value("python")[0]["path"] = sys.executable
        return make_plan(machine, wish, Additions(), {**env, **extra})

    return run


def serve(mirror, variant, tag="cp38-cp38-win_amd64", torch="2.4.1", vision="0.19.1", **options):
    mirror.add(variant, "torch", f"{torch}+{variant}", tag, requires=["numpy"], **options)
    needs = [f"torch=={torch}", "numpy"]
    mirror.add(variant, "torchvision", f"{vision}+{variant}", tag, requires=needs, **options)


def test_the_build_of_the_variant_is_taken_and_the_rest_from_the_default_index(mirror, plan):
    serve(mirror, "cu118")
    packages = {p.name: p for p in plan().lock.packages}
    assert packages["torch"].version == "2.4.1+cu118"
    assert packages["torch"].file == "torch-2.4.1+cu118-cp38-cp38-win_amd64.whl"
    assert packages["torchvision"].version == "0.19.1+cu118"
    assert packages["numpy"].version == "1.24.4"
    assert all(p.sha256 for p in packages.values())


@pytest.mark.parametrize("missing", [403, 404])
def test_an_index_that_does_not_exist_is_an_error_and_not_the_cpu(mirror, plan, missing):
    mirror.handler.missing = missing
    serve(mirror, "cu121")  # another CUDA than the one that is asked for
    with pytest.raises(EnvsetupError) as caught:
        plan()
    assert "torch" in caught.value.message or "refused access" in caught.value.message
    assert f"{mirror.url}/cu118" in f"{caught.value.message}\n{caught.value.hint}"


def test_a_release_that_the_index_has_not_is_an_error_and_not_the_cpu(mirror, plan):
    serve(mirror, "cu118", torch="2.3.1", vision="0.18.1")
    with pytest.raises(EnvsetupError) as caught:
        plan()
    assert "2.4.1+cu118" in caught.value.message
    assert f"{mirror.url}/cu118" in caught.value.hint


def test_an_index_without_a_file_for_this_python_is_an_error_and_not_the_cpu(mirror, plan):
    serve(mirror, "cu118", tag="cp312-cp312-win_amd64")
    with pytest.raises(EnvsetupError) as caught:
        plan()
    assert "2.4.1+cu118" in caught.value.message


def test_an_index_that_can_not_be_reached_is_an_error_and_not_the_cpu(plan):
    with pytest.raises(EnvsetupError) as caught:
        plan(ENVSETUP_INDEX_PYTORCH="http://127.0.0.1:9/whl")
    assert "can't be reached" in caught.value.message


def test_an_index_without_hashes_serves_too(mirror, plan):
    serve(mirror, "cu118", hashed=False)
    packages = {p.name: p for p in plan().lock.packages}
    assert packages["torch"].version == "2.4.1+cu118"


def test_torch_directml_in_wsl_gets_the_cpu_build_of_the_torch_that_it_pins(mirror, plan):
    serve(mirror, "cpu", tag="cp38-cp38-manylinux2014_x86_64", torch="2.3.1", vision="0.18.1")
    wsl = ["os=linux", "wsl=2", "windows-build=22631", "gpu=1002:67df"]
    packages = {p.name: p for p in plan(Wish(stack="torch-directml", python="3.8"), wsl).lock.packages}
    assert packages["torch"].version == "2.3.1+cpu"
    assert not [name for name in packages if name.startswith("nvidia")]
