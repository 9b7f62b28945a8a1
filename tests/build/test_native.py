"""Libraries that wheels need and the machine lacks. They are real: gcc makes them, and ldd is the judge."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, Set

import pytest

from envsetup.build import native
from envsetup.build.elf import DamagedError, read

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="about shared libraries of Linux"),
    pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc"),
]

NOTHING: Dict[str, str] = {}


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that compiles a library into ``tmp_path / "site"``."""

    def compile(file: str, *needs: str, soname: str = "", source: str = "", flags: str = "") -> Path:
        out = tmp_path / "site" / file
        out.parent.mkdir(parents=True, exist_ok=True)
        empty = tmp_path / "empty"
        empty.mkdir(exist_ok=True)
        command = [
            "gcc",
            "-shared",
            "-fPIC",
            "-x",
            "c",
            "-",
            "-x",
            "none",
            "-o",
            str(out),
            "-Wl,--no-as-needed",
        ]
        command += [f"-Wl,-soname,{soname}"] if soname else []
        for need in needs:  # a library that isn't there after linking
            subprocess.run(
                ["gcc", "-shared", "-x", "c", "/dev/null", "-o", str(empty / need), f"-Wl,-soname,{need}"],
                check=True,
            )
        command += [f"-L{empty}", *(f"-l:{need}" for need in needs), *flags.split()]
        subprocess.run(command, input=source or "int x;", text=True, check=True)
        return out

    return compile


def check(tmp_path: Path, **options: Any) -> native.Report:
    options.setdefault("environ", NOTHING)
    return native.check(tmp_path / "site", **options)


def not_found(path: Path, **environ: str) -> Set[str]:
    """Return what the real dynamic linker says it does not find."""
    done = subprocess.run(["ldd", str(path)], capture_output=True, text=True, env={**os.environ, **environ})
    return set(re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE))


def test_all_missing_libraries_are_reported_at_once(make: Callable[..., Path], tmp_path: Path) -> None:
    module = make("pkg/_c.cpython-38-x86_64-linux-gnu.so", "libomp.so.5", "libblas.so.3", "libwhatever.so.9")
    report = check(tmp_path)
    assert {library.soname for library in report.missing} == not_found(module) | {"libwhatever.so.9"}
    assert "libwhatever.so.9" in not_found(module)
    assert all(library.required for library in report.missing)
    assert not report.ok
    whatever = next(library for library in report.missing if library.soname == "libwhatever.so.9")
    assert whatever.origin == "unknown"
    assert whatever.needed_by == ("pkg/_c.cpython-38-x86_64-linux-gnu.so",)


def test_a_library_that_the_environment_ships_is_found(make: Callable[..., Path], tmp_path: Path) -> None:
    make("pkg/_c.abi3.so", "libcudart-1234.so.10.1")
    make("other.libs/libcudart-1234.so.10.1")
    make("third/_d.abi3.so", "libby-its-soname.so.1")
    make("third/renamed.so.1", soname="libby-its-soname.so.1")
    assert check(tmp_path).missing == ()


@pytest.mark.parametrize(
    "flags", ["-Wl,--disable-new-dtags", "-Wl,--enable-new-dtags"], ids=["RPATH", "RUNPATH"]
)
@pytest.mark.parametrize("origin", ["$ORIGIN", "${ORIGIN}"])
def test_search_paths_relative_to_the_file_are_followed(
    flags: str, origin: str, make: Callable[..., Path], tmp_path: Path
) -> None:
    elsewhere = make("../elsewhere/libmine.so.1")
    module = make("pkg/_c.abi3.so", "libmine.so.1", flags=f"{flags} -Wl,-rpath,{origin}/../../elsewhere")
    assert check(tmp_path).ok
    assert not_found(module) == set()
    elsewhere.unlink()
    assert not check(tmp_path).ok
    assert not_found(module) == {"libmine.so.1"}


def test_ld_library_path_is_searched(make: Callable[..., Path], tmp_path: Path) -> None:
    folder = make("../elsewhere/libmine.so.1").parent
    module = make("pkg/_c.abi3.so", "libmine.so.1")
    environ = {"LD_LIBRARY_PATH": f"/nowhere::{folder}"}
    assert check(tmp_path, environ=environ).ok
    assert not_found(module, **environ) == set()
    assert [library.soname for library in check(tmp_path).missing] == ["libmine.so.1"]


def test_what_no_import_loads_is_reported_but_not_required(make: Callable[..., Path], tmp_path: Path) -> None:
    make("pkg/_c.abi3.so", "libcore.so")
    make("pkg/lib/libcore.so", "libneeded-indirectly.so.1")
    make("pkg/lib/libplugin.so", "libof-the-plugin.so.1")
    make("torchvision/video_reader.so", "libavcodec.so.58")
    make("torch/lib/libtorch_global_deps.so", "libomp.so.99")
    required = {library.soname: library.required for library in check(tmp_path).missing}
    assert required == {
        "libneeded-indirectly.so.1": True,
        "libof-the-plugin.so.1": False,
        "libavcodec.so.58": False,
        "libomp.so.99": True,
    }


def test_only_the_packages_that_will_be_imported_count(make: Callable[..., Path], tmp_path: Path) -> None:
    make("torch/_C.abi3.so", "libfor-torch.so.1")
    make("other/_c.abi3.so", "libfor-other.so.1")
    required = {library.soname: library.required for library in check(tmp_path, packages=["torch"]).missing}
    assert required == {"libfor-torch.so.1": True, "libfor-other.so.1": False}


def test_what_the_interpreter_has_loaded_is_found(
    make: Callable[..., Path], tmp_path: Path, pythons: Callable[[str], Path]
) -> None:
    folder = make("../python/lib/libpython3.99.so.1.0").parent
    command = [
        "gcc",
        "-x",
        "c",
        "-",
        "-o",
        str(tmp_path / "python/python"),
        f"-L{folder}",
        "-Wl,--no-as-needed",
    ]
    command += ["-l:libpython3.99.so.1.0", "-Wl,-rpath,$ORIGIN/lib"]
    subprocess.run(command, input="int main(void) { return 0; }", text=True, check=True)
    make("pkg/_c.abi3.so", "libpython3.99.so.1.0")
    (tmp_path / "link").symlink_to(tmp_path / "python/python")
    assert check(tmp_path, interpreter=tmp_path / "link").ok
    (library,) = check(tmp_path).missing
    assert (library.origin, library.packages) == ("python", {})


def test_a_symbol_version_that_the_system_lacks_is_reported(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    versions = tmp_path / "versions"
    versions.write_text("MINE_1.2 { global: old; };\nMINE_1.10 { global: new; };\n")
    script = f"-Wl,--version-script,{versions}"
    newer = make("../build/libmine.so.1", soname="libmine.so.1", source="int old; int new;", flags=script)
    module = make(
        "pkg/_c.abi3.so", source="extern int new, old; int f(void) { return new + old; }", flags=str(newer)
    )
    assert ("libmine.so.1", "MINE_1.10") in read(module).wants
    versions.write_text("MINE_1.2 { global: old; };\n")
    older = make("../system/libmine.so.1", soname="libmine.so.1", source="int old;", flags=script)
    report = check(tmp_path, environ={"LD_LIBRARY_PATH": str(older.parent)})
    (old,) = report.old
    assert (old.soname, old.needs, old.has, old.path) == ("libmine.so.1", "MINE_1.10", "MINE_1.2", str(older))
    assert old.required and not report.ok
    assert check(tmp_path, environ={"LD_LIBRARY_PATH": str(newer.parent)}).ok


def test_a_wheel_for_a_newer_glibc_is_reported(make: Callable[..., Path], tmp_path: Path) -> None:
    module = make("pkg/_c.abi3.so", source='#include <stdio.h>\nint f(void) { return puts("x"); }')
    (wanted,) = (version for library, version in read(module).wants if library == "libc.so.6")
    data = module.read_bytes()
    future = re.sub(r"\d", "9", wanted)
    module.write_bytes(data.replace(wanted.encode() + b"\0", future.encode() + b"\0"))
    (old,) = check(tmp_path).old
    assert (old.soname, old.needs) == ("libc.so.6", future)
    assert old.has and re.match(r"GLIBC_2\.\d+$", old.has)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4096][: path.stat().st_size // 3])


@pytest.mark.parametrize(
    "damage, says",
    [
        (_truncate, "ends after"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_bytes(b"<html>not found</html>" * 100), "is no shared library"),
        (lambda path: path.write_bytes(path.read_bytes()[:30]), "points outside itself"),
        (
            lambda path: path.write_bytes(path.read_bytes()[:18] + b"\xb7" + path.read_bytes()[19:]),
            "another processor",
        ),
    ],
    ids=["cut off", "empty", "a page", "a header only", "aarch64"],
)
def test_damage_is_a_finding(
    damage: Callable[[Path], Any], says: str, make: Callable[..., Path], tmp_path: Path
) -> None:
    damage(make("pkg/_c.cpython-38-x86_64-linux-gnu.so"))
    make("pkg/_d.abi3.so", "libgone.so.1")
    report = check(tmp_path)
    (damaged,) = report.damaged
    assert says in damaged.reason
    assert damaged.required and not report.ok
    assert [library.soname for library in report.missing] == ["libgone.so.1"]


def test_no_byte_of_a_library_is_trusted(make: Callable[..., Path], tmp_path: Path) -> None:
    path = make(
        "pkg/_c.abi3.so", "libmine.so.1", source='#include <stdio.h>\nint f(void) { return puts("x"); }'
    )
    data = path.read_bytes()
    dynamic = read(path)
    assert dynamic.needed and dynamic.wants
    wrong, started = 0, time.monotonic()
    for value in (b"\xff", b"\x00", b"\x7f"):
        for place in [*range(64 + 56 * 12), *range(0x2D0, min(len(data), 0x5000), 7)]:
            path.write_bytes(data[:place] + value * 4 + data[place + 4 :])
            try:
                read(path)
            except DamagedError:
                wrong += 1
    assert wrong > 100
    assert time.monotonic() - started < 30


def test_lists_without_an_end_end(make: Callable[..., Path], tmp_path: Path) -> None:
    path = make("pkg/_c.abi3.so", source='#include <stdio.h>\nint f(void) { return puts("x"); }')
    out = subprocess.run(["readelf", "-SW", str(path)], capture_output=True, text=True, check=True).stdout
    match = re.search(r"\.gnu\.version_r\s+\S+\s+\S+\s+(\S+)", out)
    assert match
    data, start = bytearray(path.read_bytes()), int(match.group(1), 16)
    data[start + 12 : start + 16] = (1 << 32).to_bytes(5, "little")[:4]  # vn_next: 0
    first = start + int.from_bytes(data[start + 8 : start + 12], "little")
    data[first + 12 : first + 16] = b"\x00\x00\x00\x00"
    path.write_bytes(data)
    assert read(path).wants
    data[start + 12 : start + 16] = b"\x01\x00\x00\x00"  # the next record is one byte on, and so for ever
    path.write_bytes(data)
    started = time.monotonic()
    with pytest.raises(DamagedError):
        read(path)
    assert time.monotonic() - started < 5


def test_links_in_circles_pipes_and_other_files_do_no_harm(make: Callable[..., Path], tmp_path: Path) -> None:
    site = make("pkg/_c.abi3.so", "libgone.so.1").parent.parent
    (site / "pkg/loop").symlink_to(site)
    (site / "pkg/itself.so").symlink_to(site / "pkg/itself.so")
    (site / "pkg/nowhere.so").symlink_to("nowhere")
    os.mkfifo(site / "pkg/pipe.so")
    (site / "pkg/folder.so").mkdir()
    (site / "pkg/libc.so").write_text("/* GNU ld script */ GROUP ( /lib/libc.so.6 )")
    with (site / "pkg/huge.so.1").open("wb") as file:
        file.truncate(50_000_000_000)
    report = check(tmp_path)
    assert [library.soname for library in report.missing] == ["libgone.so.1"]
    assert [(damaged.path, damaged.required) for damaged in report.damaged] == [("pkg/huge.so.1", False)]
    assert report.files == 2


def test_an_environment_without_native_code_is_fine(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    assert check(tmp_path) == native.Report()
    assert native.missing(tmp_path / "not there", environ=NOTHING) == []


@pytest.mark.parametrize(
    "distro, commands",
    [
        ("debian", {"debian": "apt-get install -y libblas3 libomp5"}),
        ("ubuntu", {"debian": "apt-get install -y libblas3 libomp5"}),
        ("fedora", {"fedora": "dnf install -y blas libomp"}),
        ("arch", {"arch": "pacman -S --needed --noconfirm blas openmp"}),
        ("nixos", {}),
    ],
)
def test_advice_is_one_command(
    distro: str, commands: Dict[str, str], make: Callable[..., Path], tmp_path: Path
) -> None:
    needs = ["libomp.so.5", "libblas.so.3", "libcuda.so.1", "libdxcore.so", "libd3d12.so", "libstrange.so"]
    libraries = [native._missing(soname, ["pkg/_c.abi3.so"], {"pkg/_c.abi3.so"}) for soname in needs]
    advice = native.advice(libraries, distro)
    assert {family: text.replace("sudo ", "") for family, text in advice.commands.items()} == commands
    notes = "\n".join(advice.notes)
    assert "libdxcore.so, libd3d12.so: It comes with WSL 2" in notes
    assert "libcuda.so.1: It belongs to the NVIDIA driver" in notes
    assert "libstrange.so: No package is known" in notes
    assert ("libomp.so.5" in notes) == (distro not in ("debian", "ubuntu"))
    assert len(native.advice(libraries).commands) == 3


@pytest.mark.parametrize(
    "soname, origin",
    [
        ("libcublas.so.10", "toolkit"),
        ("libcudnn.so.7", "toolkit"),
        ("libcuda.so.1", "driver"),
        ("libamdhip64.so.6", "toolkit"),
        ("libGL.so.1", "package"),
        ("libpython3.8.so.1.0", "python"),
        ("libc.musl-x86_64.so.1", "libc"),
        ("libcurl.so.4", "unknown"),
    ],
)
def test_the_origin_of_a_library_is_known(soname: str, origin: str) -> None:
    assert native._missing(soname, ["x"], set()).origin == origin


def test_hundreds_of_libraries_take_less_than_two_seconds(make: Callable[..., Path], tmp_path: Path) -> None:
    first = make("pkg/_0.abi3.so", "libgone.so.1")
    for number in range(1, 600):
        shutil.copy(first, first.with_name(f"_{number}.abi3.so"))
    started = time.monotonic()
    report = check(tmp_path)
    assert time.monotonic() - started < 2
    assert report.files == 600
    assert len(report.missing[0].needed_by) == native.SHOWN


def test_this_machines_libraries_are_read_as_readelf_reads_them() -> None:
    if not shutil.which("readelf"):
        pytest.skip("needs readelf")
    for path in list(Path("/usr/lib").glob("*-linux-gnu/lib*.so.?"))[:40]:
        out = subprocess.run(["readelf", "-dVW", str(path)], capture_output=True, text=True).stdout
        elf = read(path)
        assert list(elf.needed) == re.findall(r"\(NEEDED\).*\[(.*)\]", out), path
        assert [elf.soname] == re.findall(r"\(SONAME\).*\[(.*)\]", out), path
        wants = re.findall(r"Name: (\S+)\s+Flags: none", out.partition("Version needs")[2])
        assert {version for _, version in elf.wants} == set(wants), path


@pytest.mark.network
@pytest.mark.heavy(disk=3)
def test_the_real_pytorch_directml_needs_what_was_measured(
    uv: str,
    pythons: Callable[[str], Path],
    wsl_libraries: Path,
    openmp_and_blas: str,
    tmp_path: Path,
) -> None:
    python = pythons("3.8")
    site = tmp_path / "site"
    requirements = ["pytorch-directml==1.8.0a0.dev220506", "numpy==1.24.4", "typing-extensions==4.13.2"]
    command = [uv, "pip", "install", "-q", "--no-deps", "-p", str(python), "--target", str(site)]
    subprocess.run([*command, *requirements], check=True)
    found = not_found(site / "torch/lib/libtorch_cpu.so")
    assert {"libdxcore.so", "libd3d12.so"} <= found <= {
        "libdxcore.so", "libd3d12.so", "libomp.so.5", "libblas.so.3", "liblapack.so.3"
    }  # fmt: skip
    report = check(tmp_path, packages=["torch"], interpreter=python)
    assert {library.soname for library in report.missing if library.required} == found

    path = f"{wsl_libraries}:{openmp_and_blas}"
    report = check(tmp_path, packages=["torch"], interpreter=python, environ={"LD_LIBRARY_PATH": path})
    assert report.ok, report
    code = "import torch; x = torch.ones(2, requires_grad=True); x.dot(x).backward(); print(x.grad.tolist())"
    code += "; print(torch.dml.is_available(), torch.dml.device_count(), flush=True)"
    code += "; import os; os._exit(0)"  # this torch may wait for its threads for ever after a backward pass
    environ = {**os.environ, "LD_LIBRARY_PATH": path, "PYTHONPATH": str(site)}
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, env=environ, timeout=120)
    assert done.stdout.splitlines() == ["[2.0, 2.0]", "False 0"], done.stderr
