"""ELF on Linux with real small libraries; PE with real programs that pip brings along, on any system."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable, List

import pytest

from envsetup.diagnose.checks import pe
from envsetup.diagnose.checks.libraries import look
from tests.diagnose.checks.site import Site, codes, problem

elf = pytest.mark.skipif(sys.platform != "linux" or not shutil.which("gcc"), reason="needs gcc on Linux")


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., bytes]:
    """Return a function that makes a library which needs the libraries named."""

    def make(*needs: str) -> bytes:
        folder = tmp_path / "build"
        folder.mkdir(exist_ok=True)
        (folder / "c.c").write_text("int answer(void) { return 42; }")
        for name in needs:
            subprocess.run(
                ["gcc", "-shared", f"-Wl,-soname,{name}", "-o", folder / name, folder / "c.c"], check=True
            )
        command = ["gcc", "-shared", "-Wl,--no-as-needed", "-o", folder / "m.so", folder / "c.c"]
        subprocess.run([*command, *(folder / name for name in needs)], check=True)
        return (folder / "m.so").read_bytes()

    return make


@elf
def test_all_missing_libraries_at_once(site: Site, build: Callable[..., bytes]) -> None:
    site.add("torch", "1.8.0", files={"torch/_C.so": build("libomp.so.5", "libnowhere.so.3")})
    found = problem(site.seen(look, environ={"LD_LIBRARY_PATH": ""}), "missing-native-library")
    names = [text.split()[0] for text in found.candidate.evidence]
    assert "libnowhere.so.3" in names
    assert not found.repair  # the system's, which envsetup does not touch
    assert found.fix and any("libnowhere.so.3" in step for step in found.fix.steps)


@elf
def test_the_command_installs_what_the_distribution_has(site: Site, build: Callable[..., bytes]) -> None:
    libraries = site.folder / "none"
    libraries.mkdir()
    site.add("torch", "1.8.0", files={"torch/_C.so": build("libgfortran.so.3")})
    seen = site.seen(look)
    if codes(seen) == []:
        pytest.skip("this system has libgfortran.so.3")
    fix = problem(seen, "missing-native-library").fix
    assert fix and fix.admin == any("apt-get" in step for step in fix.steps)


@elf
def test_what_the_environment_brings_is_not_missing(site: Site, build: Callable[..., bytes]) -> None:
    site.add(
        "torch", "1.8.0", files={"torch/_C.so": build("libmine.so.1"), "torch/lib/libmine.so.1": build()}
    )
    assert codes(site.seen(look)) == []


@elf
def test_a_module_that_nobody_imports_is_no_error(site: Site, build: Callable[..., bytes]) -> None:
    site.add("torch", "1.8.0", files={"torch/_C.so": build()})
    site.add("other", "1", files={"other/_x.so": build("libnowhere.so.3")})
    assert codes(site.seen(look)) == []


@elf
@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({}, "directml-on-native-linux"),
        ({"wsl": 2, "windows-build": 17763}, "wsl-windows-build-too-old"),
        ({"wsl": 2, "windows-build": 19045, "kernel": "4.19.84-microsoft-standard"}, "wsl-kernel-too-old"),
    ],
)
def test_a_library_of_wsl_has_another_cause_on_each_system(
    site: Site, build: Callable[..., bytes], facts: dict[str, object], code: str
) -> None:
    site.facts.update(facts)
    site.add("pytorch-directml", "1.8.0", files={"torch/_C.so": build("libdxcore.so", "libd3d12.so")})
    seen = site.seen(look, environ={"LD_LIBRARY_PATH": ""})
    assert codes(seen) == [code]
    assert len(problem(seen, code).candidate.evidence) == 2


@elf
def test_a_damaged_library_is_not_also_a_missing_one(site: Site, build: Callable[..., bytes]) -> None:
    site.add(
        "torch", "1.8.0", files={"torch/_C.so": build("libmine.so.1"), "torch/lib/libmine.so.1": build()}
    )
    site.write("torch/lib/libmine.so.1", build()[:3000])
    assert codes(site.seen(look)) == []  # its size is not the recorded one: the check of files says so


@elf
def test_damage_that_was_installed_that_way(site: Site, build: Callable[..., bytes]) -> None:
    site.add("torch", "1.8.0", files={"torch/_C.so": build()[:3000]})
    assert codes(site.seen(look)) == ["damaged-file"]


def windows_programs() -> List[Path]:
    """The launchers that setuptools and pip carry: small real programs for Windows."""
    places = [Path(entry) for entry in sys.path if entry.endswith("site-packages")]
    places += list(Path.home().glob(".pyenv/versions/3.*/lib/python3.*/site-packages"))
    names = ("setuptools/cli-64.exe", "pip/_vendor/distlib/t64.exe", "setuptools/gui-64.exe")
    return [place / name for place in places for name in names if (place / name).is_file()]


@pytest.fixture
def program() -> Path:
    pytest.importorskip("pefile")
    found = windows_programs()
    if not found:
        pytest.skip("no setuptools or pip with its launchers here")
    return found[0]


def test_imports_of_a_windows_program(program: Path) -> None:
    found = pe.imported(program)
    assert isinstance(found, tuple) and "kernel32.dll" in [name.lower() for name in found]


@pytest.mark.parametrize("has", [True, False])
def test_a_missing_dll(tmp_path: Path, program: Path, has: bool) -> None:
    module = tmp_path / "site" / "torch" / "_C.pyd"
    module.parent.mkdir(parents=True)
    shutil.copy(program, module)
    system = tmp_path / "System32"
    system.mkdir()
    for name in pe.imported(program) if has else ():
        (system / name.upper()).write_bytes(b"")
    seen = pe.judge([module], [tmp_path / "site"], frozenset({"torch"}), [system, tmp_path / "nowhere"])
    assert codes(seen) == ([] if has else ["missing-native-library"])
    others = pe.judge([module], [tmp_path / "site"], frozenset({"numpy"}), [])
    assert codes(others) == []


@pytest.mark.parametrize("keep", [0, 100, 0.5])
def test_a_windows_library_that_was_cut_off(tmp_path: Path, program: Path, keep: float) -> None:
    module = tmp_path / "torch.pyd"
    content = program.read_bytes()
    module.write_bytes(content[: int(len(content) * keep) if keep == 0.5 else int(keep)])
    assert codes(pe.judge([module], [tmp_path], frozenset(), [])) == ["damaged-file"]


def test_the_visual_c_runtime_has_a_code_of_its_own() -> None:
    problems = list(pe._problems({"msvcp140.dll": ["torch/_C.pyd"], "cudart64_101.dll": ["torch/_C.pyd"]}))
    assert [p.candidate.code for p in problems] == ["msvc-redist-missing", "missing-native-library"]
