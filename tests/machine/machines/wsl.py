"""Linux in WSL."""

from __future__ import annotations

from tests.machine.fake_host import FakeHost, cpuinfo, elf, pe
from tests.machine.machines.windows import BASIC_RENDER, GTX1650


def _wsl(release, **more):
    files = {
        "/etc/os-release": 'NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="22.04"\n',
        "/proc/cpuinfo": cpuinfo("Intel(R) Core(TM) i7 @ 2.6GHz", "sse avx avx2 fma"),
        "/proc/version": "Linux",
        "/proc/sys/fs/binfmt_misc/WSLInterop": "enabled",
        "/sys/bus/pci/devices/x/class": "0x030200",
        "/sys/bus/pci/devices/x/vendor": "0x1414",
        "/sys/bus/pci/devices/x/device": "0x008e",
        "/mnt/c/Windows/System32/reg.exe": pe(),
        "/usr/bin/python3.10": elf(),
        **more,
    }
    reg = (
        "\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\r\n"
        "    CurrentBuildNumber    REG_SZ    19045\r\n\r\n"
    )
    return FakeHost(
        {"release": release, "libc": "glibc 2.35"},
        files=files,
        env={"HOME": "/home/ada", "PATH": "/usr/bin"},
        links={"/usr/bin/python3": "/usr/bin/python3.10"},
        run={"/mnt/c/Windows/System32/reg.exe": reg, "/usr/bin/python3": "3.10.12 64 cpython\n"},
    )


def wsl2_nvidia():
    host = _wsl(
        "5.15.90.1-microsoft-standard-WSL2",
        **{
            "/dev/dxg": "",
            "/usr/lib/wsl/lib/libdxcore.so": "",
            "/usr/lib/wsl/lib/libd3d12.so": "",
            "/usr/lib/wsl/lib/libnvidia-ml.so.1": "",
        },
    )
    host.queries["dxcore"] = [{**GTX1650, "integrated": False}, BASIC_RENDER]
    host.queries["nvml"] = {
        "driver": "536.23",
        "cuda": "12.2",
        "gpus": [
            {
                "name": "NVIDIA GeForce GTX 1650",
                "vendor": 0x10DE,
                "device": 0x1F91,
                "bus": "0000:01:00.0",
                "memory": 4 << 30,
                "compute_capability": "7.5",
            }
        ],
    }
    return host


def wsl1():
    host = _wsl("4.4.0-19041-Microsoft")
    host.programs["/mnt/c/Windows/System32/reg.exe"] = (
        1,  # some subkeys are closed to users
        "\r\nHKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Class\\{4d36e968-e325-11ce-bfc1-08002be10318}\\0000\r\n"
        "    DriverDesc    REG_SZ    Radeon RX 480 Graphics\r\n"
        "    MatchingDeviceId    REG_SZ    PCI\\VEN_1002&DEV_67DF&REV_C7\r\n"
        "    DriverVersion    REG_SZ    31.0.21912.14\r\n"
        "    HardwareInformation.qwMemorySize    REG_QWORD    0x200000000\r\n"
        "    HardwareInformation.AdapterString    REG_BINARY    52006100\r\n"
        "\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\r\n"
        "    CurrentBuildNumber    REG_SZ    19044\r\n",
    )
    return host
