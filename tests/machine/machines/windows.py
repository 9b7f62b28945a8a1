"""Windows machines."""

from __future__ import annotations

from tests.machine.fake_host import FakeHost, cudnn_header, pe

DISPLAY = r"HKLM\SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
VERSION = r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion"
CPU = r"HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor\0"
ENVIRONMENT = r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Environment"

RX480 = {
    "name": "Radeon RX 480 Graphics",
    "vendor": 0x1002,
    "device": 0x67DF,
    "memory": 8 << 30,
    "driver": "31.0.21912.14",
    "software": False,
}
UHD630 = {
    "name": "Intel(R) UHD Graphics 630",
    "vendor": 0x8086,
    "device": 0x3E9B,
    "memory": 128 << 20,
    "driver": "31.0.101.2111",
    "software": False,
}
GTX1650 = {
    "name": "NVIDIA GeForce GTX 1650",
    "vendor": 0x10DE,
    "device": 0x1F91,
    "memory": 4 << 30,
    "driver": "31.0.15.3623",
    "software": False,
}
BASIC_RENDER = {
    "name": "Microsoft Basic Render Driver",
    "vendor": 0x1414,
    "device": 0x8C,
    "memory": 0,
    "driver": None,
    "software": True,
}


def windows_10_rx480(**more):
    return FakeHost(
        {"system": "windows", "machine": "AMD64", "release": "10.0.19045"},
        env={
            "USERPROFILE": r"C:\Users\ada",
            "APPDATA": r"C:\Users\ada\AppData\Roaming",
            "LOCALAPPDATA": r"C:\Users\ada\AppData\Local",
            "SystemRoot": r"C:\Windows",
            "PATH": r"C:\Windows\system32;C:\Python38;C:\Users\ada\AppData\Local\Microsoft\WindowsApps",
        },
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
                "DriverDesc": "Radeon RX 480 Graphics",
                "MatchingDeviceId": r"PCI\VEN_1002&DEV_67DF&REV_C7",
                "DriverVersion": "31.0.21912.14",
                "HardwareInformation.qwMemorySize": 8 << 30,
            },
            r"HKLM\SOFTWARE\Python\PythonCore\3.8": {"SysVersion": "3.8", "Version": "3.8.10"},
            r"HKLM\SOFTWARE\Python\PythonCore\3.8\InstallPath": {
                "": "C:\\Python38\\",
                "ExecutablePath": r"C:\Python38\python.exe",
            },
            r"HKLM\SOFTWARE\WOW6432Node\Python\PythonCore\3.8-32": {"Version": "3.8.10"},
            r"HKLM\SOFTWARE\WOW6432Node\Python\PythonCore\3.8-32\InstallPath": {"": "C:\\Python38-32\\"},
            r"HKLM\SOFTWARE\Python\PyLauncher": {"": "C:\\Windows"},
            r"HKCU\Software\Classes\Local Settings\Software\Microsoft\Windows\CurrentVersion\AppModel"
            r"\Repository\Packages\PythonSoftwareFoundation.Python.3.10_3.10.2800.0_x64__qbz5n2kfra8p0": {},
        },
        native={
            "dxgi": [RX480, BASIC_RENDER],
            "display_devices": [r"PCI\VEN_1002&DEV_67DF&SUBSYS_1\4&1"],
            "cpuid": {"avx": True, "avx2": True, "fma": True},
            **more,
        },
    )


def windows_hybrid():
    host = windows_10_rx480()
    host.own.update(release="10.0.22631")
    host.keys[VERSION] = {"ProductName": "Windows 10 Home", "CurrentBuildNumber": "22631"}
    del host.keys[DISPLAY + r"\0000"]
    host.keys[DISPLAY + r"\0001"] = {
        "DriverDesc": "NVIDIA GeForce GTX 1650",
        "MatchingDeviceId": r"PCI\VEN_10DE&DEV_1F91&SUBSYS_1",
        "DriverVersion": "31.0.15.3623",
    }
    host.keys[DISPLAY + r"\0000"] = {
        "DriverDesc": "Intel(R) UHD Graphics 630",
        "MatchingDeviceId": r"PCI\VEN_8086&DEV_3E9B",
        "DriverVersion": "31.0.101.2111",
    }
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
            toolkit + r"\v11.2\include\cudnn_version.h": cudnn_header(8, 1, 0),
            toolkit + r"\v10.1\bin\cudart64_101.dll": b"",
            r"C:\stray\cudart64_102.dll": b"",
        }
    )
    host.variables.update(
        CUDA_PATH=toolkit + r"\v11.2",
        CUDA_PATH_V11_2=toolkit + r"\v11.2",
        CUDA_PATH_V10_1=toolkit + r"\v10.1",
        PATH=host.variables["PATH"] + ";" + toolkit + r"\v11.2\bin;C:\stray",
    )
    return host
