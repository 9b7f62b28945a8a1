"""Which file is whose, and which are damaged."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from envsetup.diagnose.checks.check import Repair
from envsetup.diagnose.checks.files import look, unlike_record
from envsetup.knowledge.stacks import Replacement
from tests.diagnose.checks.site import Site, codes, problem

FORK = {
    "torch/__init__.py": "fork",
    "torch/_C.so": b"\x7fELF fork",
    "torch/only.py": "1",
    "torch/same.py": "2",
}
TORCH = {"torch/__init__.py": "torch!", "torch/_C.so": b"\x7fELF torch", "torch/same.py": "2"}
PROVIDED = Replacement("torch", "1.8.0", "pytorch-directml", "directml")


def test_what_was_installed_as_it_should_be_is_healthy(site: Site) -> None:
    site.add("pytorch-directml", "1.8.0", files=FORK).add("numpy", "1.20").receipt(
        ["numpy==1.20"], [PROVIDED]
    )
    assert codes(site.seen(look)) == []


def test_one_distribution_over_another(site: Site) -> None:
    site.add("pytorch-directml", "1.8.0", files=FORK).add("torch", "1.8.1", files=TORCH)
    site.receipt(["pytorch-directml==1.8.0"])
    found = problem(site.seen(look), "torch-clobber")
    assert (
        "torch/__init__.py" in found.candidate.evidence[0]
        and "torch/same.py" not in found.candidate.evidence[0]
    )
    assert "2 files of pytorch-directml 1.8.0 are torch 1.8.1's" in found.candidate.evidence[0]
    assert found.repair == Repair(remove=("torch",), restore=("pytorch-directml",))


def test_another_package_than_torch_has_a_code_of_its_own(site: Site) -> None:
    site.add("a", "1", files={"shared/__init__.py": "a"}).add("b", "1", files={"shared/__init__.py": "bb"})
    assert codes(site.seen(look)) == ["package-clobber"]


def test_without_a_receipt_nothing_is_chosen_to_be_removed(site: Site) -> None:
    site.add("pytorch-directml", "1.8.0", files=FORK).add("torch", "1.8.1", files=TORCH)
    assert not problem(site.seen(look), "torch-clobber").repair


@pytest.mark.parametrize(
    "files",
    [
        {"google/__init__.py": "the same in both"},
        {"LICENSE": "{name}"},
        {"tests/__init__.py": "{name}", "tests/test_a.py": "{name}"},
        {"shared/data.json": "{name}", "shared/one.py": "{name}"},  # one module is no mixture
    ],
)
def test_what_two_distributions_may_share(site: Site, files: dict[str, str]) -> None:
    for name in ("first", "second"):
        site.add(name, "1", files={path: text.format(name=name) for path, text in files.items()})
    assert codes(site.seen(look)) == []


def test_removing_torch_took_the_forks_files_along(site: Site) -> None:
    """What is left after `pip install torch` and `pip uninstall torch`: the files that only the fork has."""
    site.add("pytorch-directml", "1.8.0", files=FORK).receipt(["pytorch-directml==1.8.0"])
    for name in TORCH:
        (site.packages / name).unlink()
    found = problem(site.seen(look), "torch-clobber")
    assert found.repair == Repair(restore=("pytorch-directml",))


@pytest.mark.parametrize(
    ("path", "content", "code"),
    [
        ("torch/_C.so", b"\x7fE", "damaged-file"),
        ("torch/_C.so", b"", "damaged-file"),
        ("torch/_C.so", None, "damaged-file"),
        ("numpy/__init__.py", None, "damaged-file"),
        ("numpy/__init__.py", b"", "damaged-file"),
        ("numpy/__init__.py", b"print('my own words')" * 9, "changed-file"),
        ("numpy/readme.txt", None, ""),
        ("numpy/readme.txt", b"other", ""),
    ],
)
def test_damage(site: Site, path: str, content: bytes | None, code: str) -> None:
    site.add("torch", "1.8.0", files=TORCH)
    site.add("numpy", "1.20", files={"numpy/__init__.py": "x = 1", "numpy/readme.txt": "words"})
    if content is None:
        (site.packages / path).unlink()
    else:
        site.write(path, content)
    assert codes(site.seen(look)) == ([code] if code else [])


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("gcc"), reason="needs gcc on Linux")
def test_a_library_that_a_tool_edited_is_not_damaged(site: Site, tmp_path: Path) -> None:
    """patchelf and strip change a library's size, and it stays whole."""
    (tmp_path / "c.c").write_text("int answer(void) { return 42; }")
    library = tmp_path / "c.so"
    subprocess.run(["gcc", "-g", "-shared", "-o", library, tmp_path / "c.c"], check=True)
    site.add("thing", "1", files={"thing/c.so": library.read_bytes()})
    installed = site.packages / "thing" / "c.so"
    subprocess.run(["strip", installed], check=True)
    assert installed.stat().st_size < library.stat().st_size
    assert codes(site.seen(look)) == ["changed-file"]
    installed.write_bytes(installed.read_bytes()[:2000])
    assert codes(site.seen(look)) == ["damaged-file"]


def test_what_programs_rewrite_counts_for_nothing(site: Site) -> None:
    site.add(
        "thing",
        "1",
        files={"thing/__init__.py": "", "thing/__pycache__/a.pyc": "x"},
        scripts={"thing": "thing:x"},
    )
    site.write("thing/__pycache__/a.pyc", "longer than before")
    site.write("thing-1.dist-info/INSTALLER", "pip")
    assert codes(site.seen(look)) == []


def test_two_records_of_one_distribution(site: Site) -> None:
    site.add("numpy", "1.20").receipt(["numpy==1.20"])
    site.add("numpy", "1.24", files={"numpy/more.py": ""})
    found = problem(site.seen(look), "duplicate-distribution")
    assert found.candidate.evidence == ("numpy: 1.20 and 1.24",)
    assert found.repair == Repair(restore=("numpy",))


def test_what_an_interrupted_pip_left(site: Site) -> None:
    site.add("numpy", "1.20")
    (site.packages / "~orch-1.8.0.dist-info").mkdir()
    assert codes(site.seen(look)) == ["interrupted-install"]


def test_a_record_that_makes_no_sense_is_no_crash(site: Site) -> None:
    site.add("numpy", "1.20")
    site.write(
        "odd-1.dist-info/RECORD", b'"\xff\nx,y\n,,\n"a\0b",sha256=x,1\nnumpy/__init__.py,sha256=zz,-5\n'
    )
    site.write("odd-2.dist-info/METADATA", "")
    site.write("odd-3.dist-info/RECORD", "x" * 200_000 + ",sha256=1,1\n" + "٣,a,٣\n")
    assert "damaged-file" not in codes(site.seen(look))


def test_to_the_byte(site: Site) -> None:
    """For what was fetched to repair an environment, sizes are not enough."""
    site.add("numpy", "1.20", files={"numpy/__init__.py": "x = 1"}).add("other", "1")
    assert unlike_record(site.packages) == ()
    site.write("numpy/__init__.py", "x = 2")
    assert unlike_record(site.packages) == ("numpy",)
