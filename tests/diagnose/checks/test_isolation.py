from __future__ import annotations

import sys
from pathlib import Path
from typing import Dict

import pytest

from envsetup.diagnose.checks import cudnn
from envsetup.diagnose.checks.isolation import look
from tests.diagnose.checks.site import Site, codes, problem

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX folders")


@pytest.fixture
def other(tmp_path: Path) -> Site:
    """Another environment, with another numpy and a keras of its own."""
    return Site(tmp_path / "other").add("numpy", "1.24").add("keras", "2.9").add("six", "1.0")


def test_nothing_from_outside(site: Site) -> None:
    assert codes(site.add("numpy", "1.20").seen(look)) == []


def test_python_path(site: Site, other: Site) -> None:
    site.add("numpy", "1.20").add("keras", "2.9")
    found = problem(site.seen(look, environ={"PYTHONPATH": f"/nowhere:{other.packages}"}), "environment-leak")
    assert found.severity == "error"
    assert "numpy 1.24 hides 1.20" in found.candidate.evidence
    assert not any("keras" in text for text in found.candidate.evidence)  # the same version hides nothing


def test_an_own_folder_on_python_path_is_nobodys_business(site: Site, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "helpers.py").write_text("")
    site.add("numpy", "1.20")
    assert codes(site.seen(look, environ={"PYTHONPATH": str(tmp_path / "mine")})) == []


def test_a_package_without_a_record_on_python_path(site: Site, tmp_path: Path) -> None:
    (tmp_path / "copy" / "numpy").mkdir(parents=True)
    (tmp_path / "copy" / "numpy" / "__init__.py").write_text("")
    site.add("numpy", "1.20")
    assert codes(site.seen(look, environ={"PYTHONPATH": str(tmp_path / "copy")})) == ["environment-leak"]


def test_a_virtual_environment_does_not_see_the_users_folder(site: Site, tmp_path: Path) -> None:
    user = tmp_path / ".local" / "lib" / "python3.8"
    Site(tmp_path / "u").add("numpy", "1.24").packages.rename(_parent(user) / "site-packages")
    site.add("numpy", "1.20")
    assert codes(site.seen(look, environ={"HOME": str(tmp_path)})) == []


@pytest.mark.parametrize("environ", [{}, {"PYTHONNOUSERSITE": "1"}])
def test_the_users_folder_when_the_environment_sees_the_system(
    tmp_path: Path, environ: Dict[str, str]
) -> None:
    site = Site(tmp_path, config="include-system-site-packages = true\n").add("numpy", "1.20")
    user = tmp_path / ".local" / "lib" / "python3.8"
    Site(tmp_path / "u").add("numpy", "1.24").packages.rename(_parent(user) / "site-packages")
    found = codes(site.seen(look, environ={"HOME": str(tmp_path), **environ}))
    assert found == ([] if environ else ["environment-leak"])


def test_the_base_interpreters_packages(tmp_path: Path) -> None:
    site = Site(tmp_path, config="include-system-site-packages = true\n").add("tensorflow", "2.4.0")
    base = tmp_path / "base" / "lib" / "python3.8"
    Site(tmp_path / "b").add("protobuf", "5.0").add("tensorflow", "1.0").packages.rename(
        _parent(base) / "site-packages"
    )
    found = problem(site.seen(look), "environment-leak")
    assert found.severity == "warning"
    assert "protobuf 5.0 is taken from there" in found.candidate.evidence
    assert not any(
        "tensorflow" in text for text in found.candidate.evidence
    )  # the environment's own comes first


def test_a_path_file(site: Site, other: Site) -> None:
    site.add("numpy", "1.20").write("leak.pth", f"import os\n{other.packages}\n")
    assert "keras 2.9 is taken from there" in problem(site.seen(look), "environment-leak").candidate.evidence


def test_path_files_that_are_no_leak(site: Site, tmp_path: Path) -> None:
    site.add("numpy", "1.20").write("_virtualenv.pth", "import _virtualenv")
    site.write("project.pth", f"{tmp_path / 'project' / 'src'}\n")
    assert codes(site.seen(look)) == []


@pytest.mark.parametrize(
    ("name", "found"), [("torch.py", True), ("torch/__init__.py", True), ("train.py", False)]
)
def test_a_file_of_ones_own(site: Site, name: str, found: bool) -> None:
    site.add("pytorch-directml", "1.8.0")
    path = site.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    assert codes(site.seen(look)) == (["module-shadowed"] if found else [])


def test_python_home(site: Site) -> None:
    assert codes(site.seen(look, environ={"PYTHONHOME": "/usr"})) == ["environment-leak"]


def test_one_cudnn_is_enough(site: Site) -> None:
    site.add(
        "nvidia-cudnn-cu12",
        "9.1",
        files={"nvidia/cudnn/lib/libcudnn.so.9": b"", "nvidia/cudnn/lib/libcudnn_ops.so.9": b""},
    )
    assert codes(site.seen(cudnn.look)) == []


def test_two_copies_of_cudnn(site: Site) -> None:
    site.add("nvidia-cudnn-cu11", "8.6", files={"nvidia/cudnn/lib/libcudnn.so.8": b""})
    site.add("torch", "2.0.1", files={"torch/lib/libcudnn.so.8": b""})
    assert codes(site.seen(cudnn.look)) == ["cudnn-shadowed"]


@pytest.mark.parametrize(
    ("name", "found"), [("libcudnn.so.8", True), ("libcudnn.so.7", False), ("libcudnn_ops_infer.so.8", False)]
)
def test_a_cudnn_on_the_search_path(site: Site, tmp_path: Path, name: str, found: bool) -> None:
    site.add("torch", "2.0.1", files={"torch/lib/libcudnn.so.8": b""})
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / name).write_bytes(b"")
    seen = site.seen(cudnn.look, environ={"LD_LIBRARY_PATH": f":/nowhere:{tmp_path / 'cuda'}"})
    assert codes(seen) == (["cudnn-shadowed"] if found else [])


def _parent(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
