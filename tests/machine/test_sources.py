"""Single sources: names of libraries, drivers' numbers, what tools print, pip's files, programs' headers."""

from __future__ import annotations

import pytest

from envsetup.machine import cuda, cudnn, directx, gpus, nvidia, windows, wsl
from envsetup.machine.binaries import architectures
from envsetup.machine.fact import Fact, unknown
from envsetup.machine.secrets import mask
from tests.machine import machines
from tests.machine.fake_host import FakeHost, elf, macho, pe, read_twice

LINUX, WINDOWS = FakeHost({}), FakeHost({"system": "windows"})


@pytest.mark.parametrize(
    ("host", "path", "version"),
    [
        (LINUX, "/x/libcudart.so.10.1", "10.1"),
        (LINUX, "/x/libcudart.so.10.1.243", "10.1"),
        (LINUX, "/x/libcudart.so.12", "12"),
        (FakeHost({}, files={"/x/libcudart.so.12.4.127": ""}, links={"/x/libcudart.so.12": "/x/libcudart.so.12.4.127"}),
         "/x/libcudart.so.12", "12.4"),
        (LINUX, "/x/libcudart_static.a", None),
        (WINDOWS, r"C:\x\cudart64_101.dll", "10.1"),
        (WINDOWS, r"C:\x\cudart64_80.dll", "8.0"),
        (WINDOWS, r"C:\x\cudart64_110.dll", "11.0"),
        (WINDOWS, r"C:\x\cudart64_12.dll", "12"),
        (WINDOWS, r"C:\x\CUDART64_65.DLL", "6.5"),
    ],
)  # fmt: skip
def test_cuda_versions_in_library_names(host, path, version):
    assert cuda.library_version(host, path) == version


@pytest.mark.parametrize(
    ("path", "version"),
    [("/x/libcudnn.so.7.6.5", "7.6.5"), ("/x/libcudnn.so.8", "8"), (r"C:\x\cudnn64_7.dll", "7"), ("/x/libcudnn_ops.so.9", None)],
)
def test_cudnn_versions_in_library_names(path, version):
    assert cudnn.library_version(LINUX, path) == version


ROOT = "/usr/local/cuda-10.1"
CUDA_ROOTS = {
    "version.json": ({"version.json": '{"cuda": {"version": "11.2.0"}}'}, ["11.2", "10.1"]),
    "version.txt": ({"version.txt": "CUDA Version 10.1.243"}, ["10.1", "10.1"]),
    "cuda.h": ({"include/cuda.h": "#define CUDA_VERSION 10010"}, ["10.1", "10.1"]),
    "a library": ({"lib64/libcudart.so.10.1": ""}, ["10.1", "10.1"]),
    "a stray library beside a version": (
        {"version.txt": "CUDA Version 10.2.89", "lib64/libcudart.so.10.1": ""},
        ["10.2", "10.1", "10.1"],
    ),
    "garbage": ({"version.json": "{", "version.txt": "\ufffd" * 99, "include/cuda.h": "#define CUDA_VERSION ten"}, []),
    "json of another shape": ({"version.json": '{"cuda": 5}', "doc/x": ""}, []),
    "only the compiler": ({"bin/nvcc": elf()}, ["10.1", "10.1"]),
    "nothing": ({}, []),
}


@pytest.mark.parametrize("name", CUDA_ROOTS)
def test_what_a_cuda_folder_says(name):
    files, expected = CUDA_ROOTS[name]
    host = FakeHost(
        {},
        files={f"{ROOT}/{path}": text for path, text in files.items()},
        run={f"{ROOT}/bin/nvcc": "Cuda compilation tools, release 10.1, V10.1.243\n"},
    )
    assert [version for _, version in cuda.version_of(host, ROOT)] == expected


def test_toolkits_keep_the_order_in_which_programs_see_them():
    host = machines.debian_1080ti()
    host.files["/usr/local/cuda-9.0/version.txt"] = "CUDA Version 9.0.176"
    host.files["/opt/cuda-11.2/version.json"] = '{"cuda": {"version": "11.2.2"}}'
    host.variables["CUDA_HOME"] = "/opt/cuda-11.2"
    found = read_twice(host, only=["cuda"]).value("cuda")
    assert [toolkit["version"] for toolkit in found] == ["11.2", "10.1", "9.0"]
    assert found[1]["path"] == "/usr/local/cuda"


def test_every_cudnn_is_listed_the_first_one_loaded_in_front():
    host = machines.debian_1080ti()
    host.files["/opt/old/libcudnn.so.8.0.4"] = ""
    host.variables["LD_LIBRARY_PATH"] = "/opt/old:/usr/local/cuda/lib64"
    assert [c["version"] for c in read_twice(host, only=["cudnn"]).value("cudnn")] == ["8.0.4", "7.6.5"]
    host.files["/usr/include/cudnn_version.h"] = "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 7\n"
    assert [c["version"] for c in read_twice(host, only=["cudnn"]).value("cudnn")] == ["8.0.4", "7.6.5", "8.9.7"]


@pytest.mark.parametrize(
    ("driver", "number"),
    [
        ("31.0.15.3623", "536.23"),
        ("27.21.14.5671", "456.71"),
        ("26.21.14.4122", "441.22"),
        ("9.18.13.697", "306.97"),
        ("32.0.15.6094", "560.94"),
        ("536.23", None),
        ("", None),
        (None, None),
    ],
)
def test_nvidias_number_in_windows_driver_numbers(driver, number):
    assert nvidia.windows_number(driver) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  440.33.01  Wed", "440.33.01"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.54.03  Release", "535.54.03"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  418.39  Sat Feb", "418.39"),
        ("\ufffd\ufffd garbage", None),
    ],
)
def test_the_kernel_modules_number(text, number):
    host = FakeHost({"release": "6.1"}, files={"/proc/driver/nvidia/version": text, "/proc/version": "Linux"})
    assert read_twice(host, only=["driver.nvidia"]).value("driver.nvidia") == number


WMIC_TABLE = (
    "AdapterRAM   DriverVersion    Name                            PNPDeviceID                       \r\r\n"
    "-1048576     31.0.14051.5006  Radeon (TM) RX 480 Graphics     PCI\\VEN_1002&DEV_67DF&REV_00\\0  \r\r\n\r\r\n"
)
WMIC_CSV = "\r\r\nNode,AdapterRAM,DriverVersion,Name,PNPDeviceID\r\r\nPC,1073741824,31.0.14051.5006,Radeon (TM) RX 480 Graphics,PCI\\VEN_1002&DEV_67DF&REV_00\\0\r\r\n"
POWERSHELL = '{"AdapterRAM":1073741824,"DriverVersion":"31.0.14051.5006","Name":"Radeon (TM) RX 480 Graphics","PNPDeviceID":"PCI\\\\VEN_1002&DEV_67DF"}'


@pytest.mark.parametrize(
    ("wmic", "powershell", "memory"),
    [(WMIC_CSV, None, 1 << 30), (WMIC_TABLE, None, None), (None, POWERSHELL, 1 << 30), ("", f"[{POWERSHELL}]", 1 << 30)],
)
def test_win32_video_controller(wmic, powershell, memory):
    host = FakeHost({"system": "windows"}, run={"wmic": wmic, "powershell": powershell})
    (adapter,) = windows.wmi_with(host, "wmic", "powershell")
    assert (adapter.id, adapter.name, adapter.memory, adapter.driver) == (
        "1002:67df", "Radeon (TM) RX 480 Graphics", memory, "31.0.14051.5006")  # fmt: skip


def test_reg_exe_output():
    text = (
        "\r\nHKEY_LOCAL_MACHINE\\A\\0000\r\n    DriverDesc    REG_SZ    Radeon RX 480\r\n    Size    REG_QWORD    0x200000000\r\n"
        "    Raw    REG_BINARY    00FF\r\n    Empty    REG_SZ    \r\n\r\nHKEY_LOCAL_MACHINE\\A\\0001\r\nERROR: Access is denied.\r\n"
    )
    assert wsl.parse_reg(text) == {
        "HKEY_LOCAL_MACHINE\\A\\0000": {"DriverDesc": "Radeon RX 480", "Size": 8 << 30, "Raw": "hex:00ff", "Empty": ""},
        "HKEY_LOCAL_MACHINE\\A\\0001": {},
    }


@pytest.mark.parametrize(
    ("adapter", "software"),
    [
        (gpus.Adapter("1414", "008c", "Microsoft Basic Render Driver"), True),
        (gpus.Adapter(None, None, "llvmpipe (LLVM 15.0.6, 256 bits)"), True),
        (gpus.Adapter("0000", "0000", "WineD3D DirectDraw Emulation"), True),
        (gpus.Adapter("1af4", "1050"), True),
        (gpus.Adapter("10de", "1f91", "anything", software=True), True),
        (gpus.Adapter("10de", "1f91", "NVIDIA GeForce GTX 1650"), False),
        (gpus.Adapter("4d4f4351", "36334330", "Qualcomm(R) Adreno(TM) 630 GPU"), False),
        (gpus.Adapter("1a03", "2000"), False),
    ],
)
def test_software_adapters_are_no_gpus(adapter, software):
    assert adapter.is_software is software


def test_two_gpus_of_one_kind_are_kept_apart():
    here = [gpus.Adapter("10de", "1b06", bus="0000:01:00.0"), gpus.Adapter("10de", "1b06", bus="0000:02:00.0")]
    more = [gpus.Adapter("10de", "1b06", bus="0000:02:00.0", memory=2), gpus.Adapter("10de", "1b06", bus="0000:01:00.0", memory=1)]
    assert [adapter.memory for adapter in gpus.fill(here, more)] == [1, 2]


DIRECTX = {
    "before DirectML": ({"windows-build": 15063}, None, "15063"),
    "build unknown": ({"windows-build": unknown("windows-build", "no registry")}, "unknown", "no registry"),
    "GPU unknown": ({"gpu": unknown("gpu", "DXGI broken")}, "unknown", "DXGI broken"),
    "no GPU": ({"gpu": []}, None, "no GPU"),
    "GPU too old": ({"gpu": ["1002:9440"]}, None, "Direct3D 12"),
    "GPU too old, build unknown": ({"gpu": ["1002:9440"], "windows-build": unknown("windows-build", "?")}, None, "Direct3D 12"),
    "one of two": ({"gpu": ["1002:9440", "1002:67df"]}, "12", "Polaris"),
    "newer than the tables": ({"gpu": ["10de:fff0"]}, "12", "in no table yet"),
    "Matrox": ({"gpu": ["102b:0522"]}, "unknown", "not in the hardware tables"),
    "macOS": ({"os": "macos"}, None, "macOS"),
    "Linux": ({"os": "linux", "wsl": 0}, None, "Linux outside WSL"),
    "WSL of an old Windows": ({"os": "linux", "wsl": 2, "dxg": True, "windows-build": 19042}, None, "19044"),
    "WSL of a preview": ({"os": "linux", "wsl": 2, "dxg": True, "windows-build": 20150}, "12", "Polaris"),
    "WSL without /dev/dxg": ({"os": "linux", "wsl": 2, "dxg": False}, None, "dxg"),
    "WSL of an unknown Windows": ({"os": "linux", "wsl": 2, "dxg": True, "windows-build": unknown("windows-build", "?")}, "12", "Polaris"),
    "WSL 1": ({"os": "linux", "wsl": 1, "dxg": False}, None, "WSL 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", DIRECTX)
def test_directx_follows_from_build_gpu_and_wsl(name):
    changes, level, why = DIRECTX[name]
    values = {"os": "windows", "wsl": 0, "dxg": None, "windows-build": 19045, "os-version": "", "gpu": ["1002:67df"], **changes}
    if isinstance(values["gpu"], list):
        values["gpu"] = [gpus.describe(gpus.Adapter(*pci.split(":"))) for pci in values["gpu"]]

    def fact(key):
        return values[key] if isinstance(values[key], Fact) else Fact(key, values[key], key)

    found = directx.derive(fact)
    assert (found.value["level"] if found.known else "unknown") == level
    assert why in (found.value["why"] if found.known else found.source)


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (elf(), [("x86_64", 64)]),
        (elf(0xB7), [("aarch64", 64)]),
        (elf(0x28, 32), [("armv7", 32)]),
        (elf(0x03, 32), [("x86", 32)]),
        (pe(), [("x86_64", 64)]),
        (pe(0x14C, 32), [("x86", 32)]),
        (pe(0xAA64), [("aarch64", 64)]),
        (macho(0x01000007), [("x86_64", 64)]),
        (macho(0x01000007, 0x0100000C), [("x86_64", 64), ("aarch64", 64)]),
        (b"#!/bin/sh\nexec python", []),
        (b"\xca\xfe\xba\xbe\0\0\0\x41" + bytes(40), []),  # a Java class
        (b"\x7fELF", []),
        (b"MZ" + bytes(100), []),
        (b"MZ" + b"\xff" * 100, []),
        (b"", []),
    ],
)
def test_architectures_in_program_headers(head, found):
    assert architectures(head) == found


PIP = {
    "nothing": ({}, {}, {"index_url": None, "extra_index_url": [], "no_index": False, "sources": []}),
    "all users, then the user": (
        {"/etc/pip.conf": "[global]\nindex-url = https://a/\ncert = /a.pem\n",
         "/home/ada/.config/pip/pip.conf": "[global]\nindex_url = https://b/\n"},
        {},
        {"index_url": "https://b/", "cert": "/a.pem"},
    ),
    "install wins over global": ({"/etc/pip.conf": "[install]\nno-index = yes\n[global]\nno-index = no\n"}, {}, {"no_index": True}),
    "lists": (
        {"/etc/pip.conf": "[global]\nextra-index-url =\n  https://a/\n  https://b/\ntrusted-host = a b\n"},
        {},
        {"extra_index_url": ["https://a/", "https://b/"], "trusted_host": ["a", "b"]},
    ),
    "variables win": (
        {"/etc/pip.conf": "[global]\nindex-url = https://a/\n"},
        {"PIP_INDEX_URL": "https://v/", "PIP_CONSTRAINT": "/c.txt", "PIP_NO_INDEX": "1"},
        {"index_url": "https://v/", "constraint": ["/c.txt"], "no_index": True,
         "sources": ["/etc/pip.conf", "PIP_CONSTRAINT", "PIP_INDEX_URL", "PIP_NO_INDEX"]},
    ),
    "a named file stands in for the user's": (
        {"/named.conf": "[global]\nproxy = p:1\n", "/home/ada/.config/pip/pip.conf": "[global]\nindex-url = https://b/\n"},
        {"PIP_CONFIG_FILE": "/named.conf"},
        {"index_url": None, "proxy": "p:1"},
    ),
    "no file at all": ({"/etc/pip.conf": "[global]\nindex-url = https://a/\n"}, {"PIP_CONFIG_FILE": "/dev/null"}, {"index_url": None}),
    "the environment's": (
        {"/venv/pip.conf": "[global]\nfind-links = /wheels\n"}, {"VIRTUAL_ENV": "/venv"}, {"find_links": ["/wheels"]},
    ),
    "garbage": (
        {"/etc/pip.conf": "\ufffd\ufffd no section", "/home/ada/.config/pip/pip.conf": "[global]\nindex-url = https://b/\n"},
        {},
        {"index_url": "https://b/", "sources": ["/home/ada/.config/pip/pip.conf"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PIP)
def test_pip_settings(name):
    files, env, expected = PIP[name]
    found = read_twice(FakeHost({}, files=files, env={"HOME": "/home/ada", **env}), only=["pip"]).value("pip")
    assert {key: found[key] for key in expected} == expected
    assert bool(found["problems"]) is (name == "garbage")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://me:pw@host/simple", "https://***@host/simple"),
        ("https://token@host/simple", "https://***@host/simple"),
        ("http://me:p@ss@proxy:3128", "http://***@proxy:3128"),
        ("me:pw@proxy:3128", "***@proxy:3128"),
        ("proxy = me:pw@proxy:3128\n", "proxy = ***@proxy:3128\n"),
        ("https://host/x?a=1&access_token=abc#f", "https://host/x?a=1&access_token=***"),
        ("git+https://host/repo@v1.0", "git+https://host/repo@v1.0"),
        ("Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz", "Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz"),
        ("git@host:repo", "git@host:repo"),
    ],
)
def test_credentials_are_hidden_and_nothing_else(text, masked):
    assert mask({"k": [text]}) == {"k": [masked]}
