from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import pytest

from envsetup.errors import UsageError
from envsetup.knowledge import cuda, gpu_table, hardware
from envsetup.knowledge.toml import KnowledgeError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
FLOORS = {"nvidia": "kepler", "amd": "gcn1", "intel": "haswell", "qualcomm": "adreno600"}
VENDORS = ("nvidia", "amd", "intel", "qualcomm", "apple")
GPUS: Dict[str, Dict[str, List[Any]]] = tomllib.loads((HERE / "gpus.toml").read_text(encoding="utf-8"))
NAMES = tomllib.loads((HERE / "gpu_names.toml").read_text(encoding="utf-8"))["names"]


@pytest.mark.parametrize(("vendor", "pci_id"), [(v, i) for v, rows in GPUS.items() for i in rows])
def test_a_device_id_gives_its_generation_and_the_right_side_of_the_floor(vendor: str, pci_id: str) -> None:
    product, architecture, target, admitted = GPUS[vendor][pci_id]
    gpu = hardware.find_gpu(pci_id)
    assert (gpu.vendor, gpu.id, gpu.known, gpu.architecture) == (vendor, pci_id, True, architecture), product
    assert (gpu.compute_capability or gpu.gfx or "") == target, product
    assert hardware.at_least(vendor, gpu.architecture, FLOORS[vendor]) is admitted, product


@pytest.mark.parametrize("name", NAMES)
def test_a_name_gives_what_all_its_chips_have_in_common(name: str) -> None:
    vendor, architecture, target = NAMES[name]
    gpu = hardware.find_gpu_by_name(name)
    assert gpu is not None
    assert (gpu.vendor, gpu.architecture or "", gpu.known) == (vendor, architecture, True)
    assert (gpu.compute_capability or gpu.gfx or "") == target
    if not architecture:
        assert "the name alone doesn't say" in gpu.name
        assert gpu.id is None


def test_enough_models_are_checked() -> None:
    assert sum(len(rows) for rows in GPUS.values()) + len(NAMES) >= 120


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "NVIDIA Graphics Device",
        "GeForce",
        "llvmpipe",
        "Microsoft Basic Render Driver",
        "RTX 9090",
        "HD 5000",
    ],
)
def test_a_name_of_no_gpu_gives_none(text: str) -> None:
    assert hardware.find_gpu_by_name(text) is None


def test_a_name_of_one_device_gives_its_id() -> None:
    titan, many = hardware.find_gpu_by_name("NVIDIA TITAN V"), hardware.find_gpu_by_name("Quadro RTX 6000")
    assert titan is not None and titan.id == "10de:1d81"
    assert many is not None and many.id is None


@pytest.mark.parametrize(
    ("pci_id", "integrated"),
    [
        ("8086:0412", True),
        ("8086:56a0", False),
        ("1002:15bf", True),
        ("1002:67df", False),
        ("10de:1e04", False),
        ("10de:2e12", True),
    ],
)
def test_graphics_inside_a_processor_are_integrated(pci_id: str, integrated: bool) -> None:
    assert hardware.find_gpu(pci_id).integrated is integrated


def test_an_ambiguous_name_still_knows_that_all_candidates_are_integrated() -> None:
    gpu = hardware.find_gpu_by_name("AMD Radeon(TM) Graphics")
    assert gpu is not None
    assert (gpu.architecture, gpu.gfx, gpu.integrated) == (None, None, True)


@pytest.mark.parametrize(
    ("pci_id", "name"),
    [
        ("10de:ffff", "unknown NVIDIA GPU (10de:ffff), probably newer than this table"),
        ("10de:0001", "unknown NVIDIA GPU (10de:0001), not in this table"),
        ("1002:7600", "unknown AMD GPU (1002:7600), probably newer than this table"),
        ("1002:0001", "unknown AMD GPU (1002:0001), not in this table"),
        ("8086:ffff", "unknown Intel GPU (8086:ffff), not in this table"),
    ],
)
def test_an_unknown_device_of_a_known_vendor_says_so(pci_id: str, name: str) -> None:
    gpu = hardware.find_gpu(pci_id)
    assert (gpu.name, gpu.known, gpu.architecture, gpu.compute_capability) == (name, False, None, None)
    assert hardware.at_least(gpu.vendor, gpu.architecture, FLOORS[gpu.vendor]) is None


def test_other_adapters_are_named_and_not_known() -> None:
    assert hardware.find_gpu("1414:008c") == hardware.Gpu(
        "other", "1414:008c", "Microsoft software or virtual adapter", known=False
    )
    assert hardware.find_gpu("abcd:0001").name == "unknown GPU (abcd:0001)"


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        ("10DE:1E04", "10de:1e04"),
        ("0x10de:0x1e04", "10de:1e04"),
        ("000010de:00001e04", "10de:1e04"),
        (r"PCI\VEN_10DE&DEV_1E04&SUBSYS_866A1043&REV_A1\4&1C3D25BB&0&0019", "10de:1e04"),
        (r"ACPI\QCOM0C36\2&DABA3FF&0", "4d4f4351:36334330"),
        (r"ACPI\VEN_QCOM&DEV_0C36&SUBSYS_CRD08380", "4d4f4351:36334330"),
    ],
)
def test_device_ids_are_read_in_every_form_that_systems_write(text: str, identity: str) -> None:
    gpu = hardware.find_gpu(text)
    assert (gpu.id, gpu.known) == (identity, True)


@pytest.mark.parametrize("text", ["", "10de", "10de:", ":1e04", "zzzz:1e04", "10de:1e04:0", "x" * 10_000])
def test_what_is_no_device_id_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no device id"):
        hardware.find_gpu(text)


@pytest.mark.parametrize(
    ("vendor_id", "vendor"),
    [
        ("10de", "nvidia"),
        ("0x10DE", "nvidia"),
        ("1002", "amd"),
        ("8086", "intel"),
        ("4d4f4351", "qualcomm"),
        ("5143", "qualcomm"),
        ("106b", "apple"),
        ("1414", "other"),
        ("", "other"),
    ],
)
def test_vendor_ids(vendor_id: str, vendor: str) -> None:
    assert hardware.vendor_name(vendor_id) == vendor


@pytest.mark.parametrize(
    ("vendor", "generations"),
    [
        ("nvidia", "tesla fermi kepler maxwell pascal volta turing ampere ada hopper blackwell"),
        ("amd", "terascale1 terascale2 terascale3 gcn1 gcn2 gcn3 gcn4 gcn5 rdna1 rdna2 rdna3 rdna35 rdna4"),
        (
            "intel",
            "sandybridge ivybridge haswell broadwell skylake kabylake icelake xe-lp alchemist xe-lpg xe2",
        ),
        ("qualcomm", "adreno500 adreno600 adreno700"),
        ("apple", "m1 m2 m3 m4"),
    ],
)
def test_order_grows_with_the_generation(vendor: str, generations: str) -> None:
    order = [_architecture(vendor, name).order for name in generations.split()]
    assert order == sorted(set(order))


@pytest.mark.parametrize(
    ("vendor", "name", "directx12"),
    [
        ("nvidia", "tesla", False),
        ("nvidia", "fermi", True),
        ("nvidia", "kepler", True),
        ("amd", "terascale3", False),
        ("amd", "gcn1", True),
        ("intel", "ivybridge", False),
        ("intel", "haswell", True),
        ("qualcomm", "adreno500", None),
        ("qualcomm", "adreno600", True),
    ],
)
def test_directx12_drivers(vendor: str, name: str, directx12: Optional[bool]) -> None:
    assert _architecture(vendor, name).directx12 is directx12


def test_a_generation_has_its_other_names() -> None:
    assert _architecture("amd", "vega").name == "gcn5"
    assert _architecture("intel", "battlemage").name == "xe2"
    assert hardware.architecture("amd", "kepler") is None
    assert hardware.architectures("other") == ()
    with pytest.raises(UsageError, match="amd has no architecture 'kepler'"):
        hardware.at_least("amd", "gcn1", "kepler")


def _architecture(vendor: str, name: str) -> hardware.Architecture:
    found = hardware.architecture(vendor, name)
    assert found is not None
    return found


def test_only_the_asked_vendors_table_is_read() -> None:
    gpu_table.vendor_table.cache_clear()
    hardware.find_gpu("8086:0412")
    hardware.find_gpu_by_name("Intel(R) UHD Graphics 620")
    assert gpu_table.vendor_table.cache_info().currsize == 1


# ------------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_generation_has_a_chip_and_capabilities_fit(vendor: str) -> None:
    table = gpu_table.vendor_table(vendor)
    assert {chip.architecture for chip in table.chips} == {a.name for a in hardware.architectures(vendor)}
    for chip in table.chips:
        assert bool(chip.compute_capability) is (
            vendor == "nvidia" and chip.architecture not in ("legacy", "curie")
        ), chip.name
    assert re.match(r"pci\.ids \d{4}\.\d\d\.\d\d", table.source)


def test_capabilities_grow_with_nvidias_generations() -> None:
    lowest: Dict[str, Tuple[int, int]] = {}
    for chip in gpu_table.vendor_table("nvidia").chips:
        if chip.compute_capability:
            value = hardware.capability(chip.compute_capability)
            lowest[chip.architecture] = min(value, lowest.get(chip.architecture, value))
    in_order = [lowest[a.name] for a in hardware.architectures("nvidia") if a.name in lowest]
    assert in_order == sorted(in_order)


def _copy(tmp_path: Path, name: str, old: str, new: str) -> Tuple[Path, int]:
    text = (gpu_table.folder() / name).read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    path = tmp_path / name
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path, text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('1e04 = "GeForce RTX 2080 Ti"', '1E04 = "GeForce RTX 2080 Ti"', "four hex digits"),
        ('1e04 = "GeForce RTX 2080 Ti"', "1e04 = 2080", "'1e04' must be text"),
        ('1e04 = "GeForce RTX 2080 Ti"', '06c0 = "GeForce RTX 2080 Ti"', "06c0 is also a GF100"),
        ('1e04 = "GeForce RTX 2080 Ti"', "1e04 = GeForce", "is not TOML"),
        ('1d81 = "TITAN V"', '1d81 = "TITAN V"\n1d81 = "again"', "is not TOML"),
    ],
)
def test_a_mistake_in_a_table_is_reported_with_its_line(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    path, line = _copy(tmp_path, "nvidia.toml", old, new)
    with pytest.raises(KnowledgeError) as caught:
        gpu_table.vendor_table("nvidia", path)
    assert problem in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.line in (line, line + 1)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('architecture = "rubin"', 'architecture = "ruby"', "unknown architecture 'ruby'"),
        ('capability = "10.7"', 'capability = "sm_107"', "'capability' can't be 'sm_107'"),
        ('newer = ["3401-ffff"]', 'newer = ["3401"]', "no range of ids"),
        ('[chip.GR100]\narchitecture = "rubin"', "[chip.GR100]\n", "'architecture' is missing"),
        ('capability = "10.7"', 'capability = "10.7"\ncolour = "red"', "unknown key 'colour'"),
    ],
)
def test_a_wrong_chip_is_reported_with_its_line(tmp_path: Path, old: str, new: str, problem: str) -> None:
    path, line = _copy(tmp_path, "nvidia.toml", old, new)
    with pytest.raises(KnowledgeError, match=re.escape(problem)) as caught:
        gpu_table.vendor_table("nvidia", path)
    assert abs(caught.value.line - line) <= 1


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('name = "kepler"', 'name = "fermi"', "'fermi' is there twice"),
        ('title = "NVIDIA Kepler (GeForce GTX 600/700)"', "title = 600", "'title' must be text"),
        ('106b = "apple"', '106b = "apfel"', "'apfel' has no title"),
    ],
)
def test_a_wrong_generation_is_reported_with_its_line(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    path, line = _copy(tmp_path, "architectures.toml", old, new)
    with pytest.raises(KnowledgeError, match=re.escape(problem)) as caught:
        gpu_table.generations(path)
    assert caught.value.line == line or "has no title" in problem


# --------------------------------------------------------------------------------------------- CUDA


@pytest.mark.parametrize(
    ("version", "linux", "windows", "lowest", "highest"),
    [
        ("7.0", "346.46", "347.62", "2.0", "5.3"),
        ("8.0", "367.48", "369.30", "2.0", "6.2"),
        ("9.0", "384.81", "385.54", "3.0", "7.0"),
        ("10.0", "410.48", "411.31", "3.0", "7.5"),
        ("10.1", "418.39", "418.96", "3.0", "7.5"),
        ("10.1.243", "418.39", "418.96", "3.0", "7.5"),
        ("10.2", "440.33", "441.22", "3.0", "7.5"),
        ("11.0", "450.36.06", "451.22", "3.5", "8.0"),
        ("11.2", "450.80.02", "452.39", "3.5", "8.6"),
        ("11.8", "450.80.02", "452.39", "3.5", "9.0"),
        ("12.4", "525.60.13", "528.33", "5.0", "9.0"),
        ("12.8", "525.60.13", "528.33", "5.0", "12.0"),
        ("13.0", "580", "580", "7.5", "12.1"),
    ],
)
def test_toolkits(version: str, linux: str, windows: str, lowest: str, highest: str) -> None:
    toolkit = hardware.cuda_toolkit(version)
    assert toolkit is not None
    assert (toolkit.driver_linux, toolkit.driver_windows) == (linux, windows)
    assert (toolkit.capability_min, toolkit.capability_max) == (lowest, highest)
    assert toolkit.source


def test_every_toolkit_from_7_0_on_is_there() -> None:
    versions = [toolkit.version for toolkit in hardware.cuda_toolkits()]
    old = ["7.0", "7.5", "8.0", "9.0", "9.1", "9.2", "10.0", "10.1", "10.2"]
    assert versions[:18] == old + [f"11.{n}" for n in range(9)]
    assert hardware.cuda_toolkit("12.7") is None, "there was no such toolkit"
    assert hardware.cuda_toolkit("6.5") is None


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('linux = "418.39"', 'linux = "fourhundred"', "a driver version"),
        ('version = "10.1"', 'version = "9.9"', None),
        ('version = "10.2"', 'version = "10.1"', "oldest first"),
        ('version = "11.0"', 'version = "11"', "a version such as 10.1"),
    ],
)
def test_a_wrong_toolkit_is_reported_with_its_line(
    tmp_path: Path, old: str, new: str, problem: Optional[str]
) -> None:
    path, line = _copy(tmp_path, "cuda.toml", old, new)
    with pytest.raises(KnowledgeError, match=problem or "oldest first") as caught:
        cuda.cuda_toolkits(path)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("gpu", "native", "ptx", "how"),
    [
        # TensorFlow 2.3's wheel: sm_35 sm_37 sm_52 sm_60 sm_61 compute_70
        ("3.5", "3.5 3.7 5.2 6.0 6.1", "7.0", "native"),
        ("3.0", "3.5 3.7 5.2 6.0 6.1", "7.0", None),
        ("5.0", "3.5 3.7 5.2 6.0 6.1", "7.0", None),
        ("7.5", "3.5 3.7 5.2 6.0 6.1", "7.0", "jit"),
        ("8.6", "3.5 3.7 5.2 6.0 6.1", "7.0", "jit"),
        # torch 1.7.1 with CUDA 11.0 on RTX 30 and 40: the cubin of a lower minor version runs
        ("8.6", "sm_37 sm_50 sm_60 sm_70 sm_75 sm_80", "", "native"),
        ("8.9", "sm_37 sm_50 sm_60 sm_70 sm_75 sm_80", "", "native"),
        ("9.0", "sm_37 sm_50 sm_60 sm_70 sm_75 sm_80", "", None),
        ("8.0", "sm_86", "", None),
        # torch 2.7 with CUDA 12.8
        ("12.0", "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120", "compute_120", "native"),
        ("12.1", "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120", "compute_120", "native"),
        ("6.1", "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120", "compute_120", None),
        ("10.3", "sm_90 sm_100 sm_120", "", "native"),
        # code for one GPU only, and Jetson
        ("9.0", "sm_90a", "", "native"),
        ("10.0", "sm_90a", "compute_90a", None),
        ("10.3", "sm_100a", "", None),
        ("10.3", "sm_100f", "", "native"),
        ("8.7", "sm_80 sm_86", "", None),
        ("8.7", "sm_80 sm_86", "compute_80", "jit"),
        ("8.9", "sm_87", "", None),
        ("8.7", "sm_87", "", "native"),
        ("8.6", "", "", None),
    ],
)
def test_binary_compatibility(gpu: str, native: str, ptx: str, how: Optional[str]) -> None:
    assert hardware.runs(gpu, native.split(), ptx.split()) == how


@pytest.mark.parametrize("text", ["", "sm_", "7", "kepler", "7.5.1", "sm_1000a"])
def test_what_is_no_capability_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no compute capability"):
        hardware.capability(text)


@pytest.mark.parametrize(
    ("architecture", "branch"),
    [("fermi", 390), ("kepler", 470), ("maxwell", 580), ("pascal", 580), ("volta", 580), ("turing", None)],
)
def test_last_driver_branches(architecture: str, branch: Optional[int]) -> None:
    found = hardware.last_driver_branch(architecture)
    assert (found.branch if found else None) == branch


def test_a_windows_driver_of_an_old_branch_still_knows_its_gpus() -> None:
    kepler = hardware.last_driver_branch("kepler")
    assert kepler is not None
    assert kepler.branch < 475 < kepler.below, "475.14 is the last Windows driver for Kepler"


def test_driver_branches_name_real_generations_and_none_twice() -> None:
    named = [name for branch in cuda.driver_branches() for name in branch.architectures]
    assert len(named) == len(set(named))
    assert set(named) <= {a.name for a in hardware.architectures("nvidia")}


# ---------------------------------------------------------------------------------------- generator

LISTED = """
#\tVersion: 2000.01.02
10de  NVIDIA Corporation
\t1e04  TU102 [GeForce RTX 2080 Ti]
\t1e30  TU102GL [Quadro RTX 6000/8000]
\t10f7  TU102 High Definition Audio Controller
\tfffe  ZZ999 [GeForce RTX 9090]
\t\t10de 0001  a card
1002  Advanced Micro Devices, Inc. [AMD/ATI]
\t73bf  Navi 21 [Radeon RX 6800/6800 XT / 6900 XT]
\tab28  Navi 21/23 HDMI/DP Audio Controller
8086  Intel Corporation
\t0412  Xeon E3-1200 v3/4th Gen Core Processor Integrated Graphics Controller
C 03  Display controller
"""


def _generate(pci_ids: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    out.mkdir()
    command = [sys.executable, str(ROOT / "tools" / "hardware.py"), str(pci_ids), "--out", str(out), *options]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)


def test_the_generator_sorts_devices_by_chip(tmp_path: Path) -> None:
    (tmp_path / "pci.ids").write_text(LISTED, encoding="utf-8")
    result = _generate(tmp_path / "pci.ids", tmp_path / "out")
    assert "no chip is known for fffe ZZ999 [GeForce RTX 9090]" in result.stderr
    nvidia = gpu_table.vendor_table("nvidia", tmp_path / "out" / "nvidia.toml")
    assert nvidia.source == "pci.ids 2000.01.02"
    assert {device: chip.name for device, chip in nvidia.by_id.items()} == {"1e04": "TU102", "1e30": "TU102"}
    assert nvidia.by_id["1e30"].names == ("Quadro RTX 6000", "Quadro RTX 8000")
    amd = gpu_table.vendor_table("amd", tmp_path / "out" / "amd.toml")
    assert amd.by_id["73bf"].names == ("Radeon RX 6800", "Radeon RX 6800 XT", "Radeon RX 6900 XT")
    assert "ab28" not in amd.by_id
    intel = gpu_table.vendor_table("intel", tmp_path / "out" / "intel.toml")
    assert intel.by_id["0412"].ids["0412"] == "HD Graphics 4600"


def test_the_generator_writes_the_same_files_each_time(tmp_path: Path) -> None:
    installed = Path("/usr/share/misc/pci.ids")
    if not installed.is_file():
        pytest.skip("no /usr/share/misc/pci.ids here (Debian package pci.ids)")
    shutil.copy(installed, tmp_path / "pci.ids")
    for out in ("first", "second"):
        _generate(tmp_path / "pci.ids", tmp_path / out)
    for vendor in VENDORS:
        first, second = ((tmp_path / out / f"{vendor}.toml").read_bytes() for out in ("first", "second"))
        assert first == second
        assert len(gpu_table.vendor_table(vendor, tmp_path / "first" / f"{vendor}.toml").chips) > 0


def test_the_committed_tables_come_from_the_chip_map() -> None:
    chips = tomllib.loads((ROOT / "tools" / "hardware_chips.toml").read_text(encoding="utf-8"))
    for vendor in VENDORS:
        table = gpu_table.vendor_table(vendor)
        assert [chip.name for chip in table.chips] == list(chips[vendor]["chips"])
        for chip in table.chips:
            facts = chips[vendor]["chips"][chip.name]
            assert chip.architecture == facts["architecture"]
            assert chip.compute_capability == facts.get("capability")
            assert chip.gfx == facts.get("gfx")
            more = chips[vendor].get("more", {}).get(chip.name, [])
            assert {*facts.get("ids", []), *more} <= set(chip.ids)
