"""GPUs and NVIDIA's driver: numbers, ids, what tools print, and what is no GPU."""

from __future__ import annotations

import pytest

from envsetup.machine import gpus, nvidia, windows, wsl
from tests.machine.fake_host import FakeHost, read_twice


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
    "-1048576     31.0.14051.5006  Radeon (TM) RX 480 Graphics     "
    "PCI\\VEN_1002&DEV_67DF&REV_00\\0  \r\r\n\r\r\n"
)
WMIC_CSV = (
    "\r\r\nNode,AdapterRAM,DriverVersion,Name,PNPDeviceID\r\r\n"
    "PC,1073741824,31.0.14051.5006,Radeon (TM) RX 480 Graphics,PCI\\VEN_1002&DEV_67DF&REV_00\\0\r\r\n"
)
POWERSHELL = (
    '{"AdapterRAM":1073741824,"DriverVersion":"31.0.14051.5006","Name":"Radeon (TM) RX 480 Graphics",'
    '"PNPDeviceID":"PCI\\\\VEN_1002&DEV_67DF"}'
)


@pytest.mark.parametrize(
    ("wmic", "powershell", "memory"),
    [
        (WMIC_CSV, None, 1 << 30),
        (WMIC_TABLE, None, None),
        (None, POWERSHELL, 1 << 30),
        ("", f"[{POWERSHELL}]", 1 << 30),
    ],
)
def test_win32_video_controller(wmic, powershell, memory):
    host = FakeHost({"system": "windows"}, run={"wmic": wmic, "powershell": powershell})
    (adapter,) = windows.wmi_with(host, "wmic", "powershell")
    assert (adapter.id, adapter.name, adapter.memory, adapter.driver) == (
        "1002:67df",
        "Radeon (TM) RX 480 Graphics",
        memory,
        "31.0.14051.5006",
    )


def test_reg_exe_output():
    text = (
        "\r\nHKEY_LOCAL_MACHINE\\A\\0000\r\n    DriverDesc    REG_SZ    Radeon RX 480\r\n"
        "    Size    REG_QWORD    0x200000000\r\n"
        "    Raw    REG_BINARY    00FF\r\n    Empty    REG_SZ    \r\n"
        "\r\nHKEY_LOCAL_MACHINE\\A\\0001\r\nERROR: Access is denied.\r\n"
    )
    assert wsl.parse_reg(text) == {
        "HKEY_LOCAL_MACHINE\\A\\0000": {
            "DriverDesc": "Radeon RX 480",
            "Size": 8 << 30,
            "Raw": "hex:00ff",
            "Empty": "",
        },
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
    here = [
        gpus.Adapter("10de", "1b06", bus="0000:01:00.0"),
        gpus.Adapter("10de", "1b06", bus="0000:02:00.0"),
    ]
    more = [
        gpus.Adapter("10de", "1b06", bus="0000:02:00.0", memory=2),
        gpus.Adapter("10de", "1b06", bus="0000:01:00.0", memory=1),
    ]
    assert [adapter.memory for adapter in gpus.fill(here, more)] == [1, 2]
