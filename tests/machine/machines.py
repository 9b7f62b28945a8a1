"""Fake machines, each as its owner would find it."""

from __future__ import annotations

from tests.machine.fake_host import FakeHost, elf, macho, pe

X86_64, ARM64 = 0x01000007, 0x0100000C  # Mach-O

DISPLAY = r"HKLM\SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
VERSION = r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion"
CPU = r"HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor\0"
ENVIRONMENT = r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Environment"

RX480 = {"name": "Radeon RX 480 Graphics", "vendor": 0x1002, "device": 0x67DF, "memory": 8 << 30,
         "driver": "31.0.21912.14", "software": False}  # fmt: skip
UHD630 = {"name": "Intel(R) UHD Graphics 630", "vendor": 0x8086, "device": 0x3E9B, "memory": 128 << 20,
          "driver": "31.0.101.2111", "software": False}  # fmt: skip
GTX1650 = {"name": "NVIDIA GeForce GTX 1650", "vendor": 0x10DE, "device": 0x1F91, "memory": 4 << 30,
           "driver": "31.0.15.3623", "software": False}  # fmt: skip
BASIC_RENDER = {"name": "Microsoft Basic Render Driver", "vendor": 0x1414, "device": 0x8C, "memory": 0,
                "driver": None, "software": True}  # fmt: skip
NVML_1080TI = {
    "driver": "440.33.01", "cuda": "10.2",
    "gpus": [{"name": "GeForce GTX 1080 Ti", "vendor": 0x10DE, "device": 0x1B06, "bus": "0000:01:00.0",
              "memory": 11 << 30, "compute_capability": "6.1"}],
}  # fmt: skip


def windows_10_rx480(**more):
    return FakeHost(
        {"system": "windows", "machine": "AMD64", "release": "10.0.19045"},
        env={"USERPROFILE": r"C:\Users\ada", "APPDATA": r"C:\Users\ada\AppData\Roaming",
             "LOCALAPPDATA": r"C:\Users\ada\AppData\Local", "SystemRoot": r"C:\Windows",
             "PATH": r"C:\Windows\system32;C:\Python38;C:\Users\ada\AppData\Local\Microsoft\WindowsApps"},
        files={
            r"C:\Python38\python.exe": pe(),
            r"C:\Python38-32\python.exe": pe(0x14C, 32),
            r"C:\Users\ada\AppData\Local\Microsoft\WindowsApps\python.exe": b"",
            r"C:\Users\ada\AppData\Local\Microsoft\WindowsApps"
            r"\PythonSoftwareFoundation.Python.3.10_qbz5n2kfra8p0\python.exe": b"",
            r"C:\Users\ada\AppData\Roaming\pip\pip.ini": "[global]\nindex-url = https://ada:pw@index.example/simple\n",
        },
        registry={
            VERSION: {"ProductName": "Windows 10 Pro", "CurrentBuildNumber": "19045", "UBR": 3803},
            CPU: {"ProcessorNameString": "AMD Ryzen 5 2600 Six-Core Processor "},
            ENVIRONMENT: {"PROCESSOR_ARCHITECTURE": "AMD64"},
            DISPLAY + r"\0000": {
                "DriverDesc": "Radeon RX 480 Graphics", "MatchingDeviceId": r"PCI\VEN_1002&DEV_67DF&REV_C7",
                "DriverVersion": "31.0.21912.14", "HardwareInformation.qwMemorySize": 8 << 30},
            r"HKLM\SOFTWARE\Python\PythonCore\3.8": {"SysVersion": "3.8", "Version": "3.8.10"},
            r"HKLM\SOFTWARE\Python\PythonCore\3.8\InstallPath": {
                "": "C:\\Python38\\", "ExecutablePath": r"C:\Python38\python.exe"},
            r"HKLM\SOFTWARE\WOW6432Node\Python\PythonCore\3.8-32": {"Version": "3.8.10"},
            r"HKLM\SOFTWARE\WOW6432Node\Python\PythonCore\3.8-32\InstallPath": {"": "C:\\Python38-32\\"},
            r"HKLM\SOFTWARE\Python\PyLauncher": {"": "C:\\Windows"},
            r"HKCU\Software\Classes\Local Settings\Software\Microsoft\Windows\CurrentVersion\AppModel\Repository"
            r"\Packages\PythonSoftwareFoundation.Python.3.10_3.10.2800.0_x64__qbz5n2kfra8p0": {},
        },
        native={"dxgi": [RX480, BASIC_RENDER], "display_devices": [r"PCI\VEN_1002&DEV_67DF&SUBSYS_1\4&1"],
                "cpuid": {"avx": True, "avx2": True, "fma": True}, **more},
    )  # fmt: skip


def windows_hybrid():
    host = windows_10_rx480()
    host.own.update(release="10.0.22631")
    host.keys[VERSION] = {"ProductName": "Windows 10 Home", "CurrentBuildNumber": "22631"}
    del host.keys[DISPLAY + r"\0000"]
    host.keys[DISPLAY + r"\0001"] = {
        "DriverDesc": "NVIDIA GeForce GTX 1650", "MatchingDeviceId": r"PCI\VEN_10DE&DEV_1F91&SUBSYS_1",
        "DriverVersion": "31.0.15.3623"}  # fmt: skip
    host.keys[DISPLAY + r"\0000"] = {
        "DriverDesc": "Intel(R) UHD Graphics 630", "MatchingDeviceId": r"PCI\VEN_8086&DEV_3E9B",
        "DriverVersion": "31.0.101.2111"}  # fmt: skip
    host.queries.update(
        dxgi=[UHD630, GTX1650, BASIC_RENDER],
        display_devices=[r"PCI\VEN_8086&DEV_3E9B&SUBSYS_1\3&1", r"PCI\VEN_10DE&DEV_1F91&SUBSYS_1\4&2"],
    )
    toolkit = r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA"
    host.files.update(
        {
            toolkit + r"\v11.2\version.json": '{"cuda": {"name": "CUDA SDK", "version": "11.2.20201221"}}',
            toolkit + r"\v11.2\bin\cudart64_110.dll": b"",
            toolkit + r"\v11.2\bin\cudnn64_8.dll": b"",
            toolkit + r"\v11.2\include\cudnn_version.h":
                "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 0\n",
            toolkit + r"\v10.1\bin\cudart64_101.dll": b"",
            r"C:\stray\cudart64_102.dll": b"",
        }
    )  # fmt: skip
    host.variables.update(
        CUDA_PATH=toolkit + r"\v11.2",
        CUDA_PATH_V11_2=toolkit + r"\v11.2",
        CUDA_PATH_V10_1=toolkit + r"\v10.1",
        PATH=host.variables["PATH"] + ";" + toolkit + r"\v11.2\bin;C:\stray",
    )
    return host


def _wsl(release, **more):
    files = {
        "/etc/os-release": 'NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="22.04"\n',
        "/proc/cpuinfo": "processor\t: 0\nmodel name\t: Intel(R) Core(TM) i7 @ 2.6GHz\nflags\t\t: sse avx avx2 fma\n\n",
        "/proc/version": "Linux",
        "/proc/sys/fs/binfmt_misc/WSLInterop": "enabled",
        "/sys/bus/pci/devices/x/class": "0x030200", "/sys/bus/pci/devices/x/vendor": "0x1414",
        "/sys/bus/pci/devices/x/device": "0x008e",
        "/mnt/c/Windows/System32/reg.exe": pe(),
        "/usr/bin/python3.10": elf(),
        **more,
    }  # fmt: skip
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
        **{"/dev/dxg": "", "/usr/lib/wsl/lib/libdxcore.so": "", "/usr/lib/wsl/lib/libd3d12.so": "",
           "/usr/lib/wsl/lib/libnvidia-ml.so.1": ""},
    )  # fmt: skip
    host.queries["dxcore"] = [{**GTX1650, "integrated": False}, BASIC_RENDER]
    host.queries["nvml"] = {
        "driver": "536.23", "cuda": "12.2",
        "gpus": [{"name": "NVIDIA GeForce GTX 1650", "vendor": 0x10DE, "device": 0x1F91, "bus": "0000:01:00.0",
                  "memory": 4 << 30, "compute_capability": "7.5"}],
    }  # fmt: skip
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


def debian_1080ti():
    return FakeHost(
        {"release": "4.19.0-17-amd64", "libc": "glibc 2.28"},
        files={
            "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 10 (buster)"\nNAME="Debian GNU/Linux"\nVERSION_ID="10"\nID=debian\n',
            "/proc/version": "Linux version 4.19",
            "/proc/cpuinfo": "processor : 0\nmodel name : Intel(R) Core(TM) i7-8700K\nflags : sse2 avx avx2 fma\n\n",
            "/proc/driver/nvidia/version":
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  440.33.01  Wed Nov 13 00:00:22 UTC 2019\n",
            "/sys/module/nvidia/version": "440.33.01\n",
            **_pci("0000:00:02.0", "0x030000", "0x8086", "0x3e92"),
            **_pci("0000:01:00.0", "0x030000", "0x10de", "0x1b06"),
            **_pci("0000:01:00.1", "0x040300", "0x10de", "0x10ef"),
            "/usr/local/cuda-10.1/version.txt": "CUDA Version 10.1.243\n",
            "/usr/local/cuda-10.1/bin/nvcc": elf(),
            "/usr/local/cuda-10.1/lib64/libcudart.so.10.1.243": "",
            "/usr/local/cuda-10.1/lib64/libcudnn.so.7.6.5": "",
            "/usr/local/cuda-10.1/include/cudnn.h":
                "#define CUDNN_MAJOR 7\n#define CUDNN_MINOR 6\n#define CUDNN_PATCHLEVEL 5\n",
            "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.440.33.01": "",
            "/home/ada/.pyenv/versions/3.8.18/bin/python3.8": elf(),
            "/usr/bin/python3.7": elf(),
            "/home/ada/work/venv/pyvenv.cfg": "home = /home/ada/.pyenv/versions/3.8.18/bin\nversion = 3.8.18\n",
        },
        links={
            "/usr/local/cuda": "/usr/local/cuda-10.1",
            "/usr/local/cuda-10.1/lib64/libcudart.so.10.1": "/usr/local/cuda-10.1/lib64/libcudart.so.10.1.243",
            "/usr/local/cuda-10.1/lib64/libcudnn.so.7": "/usr/local/cuda-10.1/lib64/libcudnn.so.7.6.5",
            "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1": "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.440.33.01",
            "/usr/bin/python3": "/usr/bin/python3.7",
            "/home/ada/.pyenv/versions/3.8.18/bin/python": "/home/ada/.pyenv/versions/3.8.18/bin/python3.8",
            "/home/ada/work/venv/bin/python": "/home/ada/.pyenv/versions/3.8.18/bin/python3.8",
            "/sys/bus/pci/devices/0000:00:02.0/driver": "/sys/bus/pci/drivers/i915",
        },
        env={"HOME": "/home/ada", "PATH": "/home/ada/work/venv/bin:/usr/local/cuda/bin:/usr/bin",
             "LD_LIBRARY_PATH": "/usr/local/cuda/lib64"},
        run={"/usr/bin/python3": "3.7.3 64 cpython\n", "/usr/bin/python3.7": "3.7.3 64 cpython\n"},
        native={"nvml": NVML_1080TI},
        linker_cache=["/usr/local/cuda-10.1/lib64/libcudart.so.10.1"],
    )  # fmt: skip


def _pci(address, kind, vendor, device):
    folder = f"/sys/bus/pci/devices/{address}"
    return {f"{folder}/class": kind, f"{folder}/vendor": vendor, f"{folder}/device": device}


def alpine():
    return FakeHost(
        {"release": "6.1.0", "libc": None},
        files={
            "/etc/os-release": 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.18.4\n',
            "/lib/ld-musl-x86_64.so.1": elf(),
            "/proc/version": "Linux",
            "/proc/cpuinfo": "processor : 0\nmodel name : Intel(R) Celeron(R) N4505\nflags : sse4_2\n\n",
            "/sys/class/net/lo": "",
            "/usr/bin/python3.11": elf(),
        },
        run={"/lib/ld-musl-x86_64.so.1": (1, "musl libc (x86_64)\nVersion 1.2.4\nDynamic Program Loader\n"),
             "/usr/bin/python3.11": "3.11.6 64 cpython"},
        env={"HOME": "/root", "PATH": "/usr/bin"},
    )  # fmt: skip


def centos_7():
    return FakeHost(
        {"release": "3.10.0-1160.el7.x86_64", "libc": "glibc 2.17"},
        files={
            "/etc/os-release": 'NAME="CentOS Linux"\nVERSION="7 (Core)"\nID="centos"\nID_LIKE="rhel fedora"\nVERSION_ID="7"\n',
            "/lib64/libc-2.17.so": "",
            "/proc/version": "Linux",
            "/proc/cpuinfo": "processor : 0\nmodel name : Intel(R) Xeon(R) CPU E5-2670\nflags : sse2 avx\n\n",
            **_pci("0000:08:00.0", "0x030000", "0x102b", "0x0522"),
            "/usr/bin/python2.7": elf(),
            "/opt/conda/bin/python": elf(),
            "/opt/conda/conda-meta/python-3.8.5-h7579374_1.json": "{}",
            "/opt/conda/envs/old/bin/python": elf(),
            "/opt/conda/envs/old/conda-meta/python-3.6.13-h12debd9_1.json": "{}",
            "/root/.local/share/uv/python/cpython-3.12.3-linux-x86_64-gnu/bin/python": elf(),
        },
        run={"/usr/bin/python2.7": "2.7.5 64 cpython"},
        env={"HOME": "/root", "PATH": "/usr/bin"},
    )


def macos_intel():
    profile = """{"SPDisplaysDataType": [
      {"_name": "kHW_IntelUHDGraphics630Item", "sppci_model": "Intel UHD Graphics 630", "sppci_bus": "spdisplays_builtin",
       "spdisplays_device-id": "0x3e9b", "spdisplays_vendor": "Intel", "_spdisplays_vram": "1536 MB"},
      {"sppci_model": "AMD Radeon Pro 5500M", "spdisplays_vendor": "sppci_vendor_amd", "sppci_bus": "spdisplays_pcie_device",
       "spdisplays_device-id": "0x7340", "spdisplays_vendor-id": "0x1002", "spdisplays_vram": "4 GB"}]}"""
    return _macos(
        "x86_64",
        "machdep.cpu.brand_string: Intel(R) Core(TM) i9\nmachdep.cpu.features: FPU SSE4.2 FMA AVX1.0\n"
        "machdep.cpu.leaf7_features: AVX2\n",
        profile,
        {"/usr/local/bin/python3.11": macho(X86_64)},
    )


def macos_apple(machine="arm64"):
    profile = """{"SPDisplaysDataType": [
      {"_name": "Apple M2", "sppci_model": "Apple M2", "sppci_bus": "spdisplays_builtin",
       "spdisplays_vendor": "sppci_vendor_Apple", "sppci_cores": "10"}]}"""
    return _macos(
        machine,
        "hw.optional.arm64: 1\nmachdep.cpu.brand_string: Apple M2\nhw.optional.avx1_0: 0\n",
        profile,
        {
            "/opt/homebrew/bin/python3.12": macho(ARM64),
            "/usr/local/bin/python3.10": macho(X86_64),
            "/Library/Frameworks/Python.framework/Versions/3.11/bin/python3.11": macho(X86_64, ARM64),
            "/usr/bin/python3": macho(X86_64, ARM64),
        },
    )


def _macos(machine, sysctl, profile, pythons):
    numbers = {path: path.rsplit("python", 1)[1] for path in pythons}
    return FakeHost(
        {"system": "macos", "machine": machine, "release": "23.5.0"},
        files={
            "/System/Library/CoreServices/SystemVersion.plist":
                "<plist><dict><key>ProductVersion</key>\n\t<string>14.5</string></dict></plist>",
            **pythons,
        },
        env={"HOME": "/Users/ada", "PATH": "/usr/local/bin:/usr/bin"},
        run={
            "/usr/sbin/sysctl": (1, sysctl),
            "/usr/sbin/system_profiler": profile,
            **{path: f"{number}.9 64 cpython" for path, number in numbers.items() if number != "3"},
            "/usr/bin/python3": AssertionError("Apple's stub opens a window"),
        },
    )  # fmt: skip


def jetson():
    return FakeHost(
        {"machine": "aarch64", "release": "5.10.104-tegra", "libc": "glibc 2.31"},
        files={
            "/etc/os-release": 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="20.04"\n',
            "/etc/nv_tegra_release": "# R35",
            "/proc/version": "Linux",
            "/proc/cpuinfo": "processor : 0\nmodel name : ARMv8 Processor rev 1\nFeatures : fp asimd\n\n",
            "/sys/class/drm/card0/device/uevent": "DRIVER=nvgpu\nOF_COMPATIBLE_0=nvidia,ga10b\n",
            "/usr/bin/python3.8": elf(0xB7),
            "/usr/local/bin/python3.9": elf(0x28, 32),
        },
        run={"/usr/bin/python3.8": "3.8.10 64 cpython", "/usr/local/bin/python3.9": "3.9.1 32 cpython"},
        env={"HOME": "/root", "PATH": "/usr/bin:/usr/local/bin"},
    )
