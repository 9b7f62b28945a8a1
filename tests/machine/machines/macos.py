"""Macs."""

from __future__ import annotations

from tests.machine.fake_host import FakeHost, macho

VERSION = "/System/Library/CoreServices/SystemVersion.plist"
X86_64, ARM64 = 0x01000007, 0x0100000C  # Mach-O


def macos_intel():
    profile = """{"SPDisplaysDataType": [
      {"_name": "kHW_IntelUHDGraphics630Item",
       "sppci_model": "Intel UHD Graphics 630", "sppci_bus": "spdisplays_builtin",
       "spdisplays_device-id": "0x3e9b", "spdisplays_vendor": "Intel", "_spdisplays_vram": "1536 MB"},
      {"sppci_model": "AMD Radeon Pro 5500M", "spdisplays_vendor": "sppci_vendor_amd",
       "sppci_bus": "spdisplays_pcie_device",
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
            VERSION: "<key>ProductVersion</key>\n\t<string>14.5</string>",
            **pythons,
        },
        env={"HOME": "/Users/ada", "PATH": "/usr/local/bin:/usr/bin"},
        run={
            "/usr/sbin/sysctl": (1, sysctl),
            "/usr/sbin/system_profiler": profile,
            **{path: f"{number}.9 64 cpython" for path, number in numbers.items() if number != "3"},
            "/usr/bin/python3": AssertionError("Apple's stub opens a window"),
        },
    )
