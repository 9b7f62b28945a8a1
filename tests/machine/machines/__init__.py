"""Fake machines, each as its owner would find it."""

from __future__ import annotations

from tests.machine.machines.linux import NVML_1080TI, alpine, centos_7, debian_1080ti, jetson
from tests.machine.machines.macos import macos_apple, macos_intel
from tests.machine.machines.windows import (
    DISPLAY,
    ENVIRONMENT,
    GTX1650,
    RX480,
    UHD630,
    windows_10_rx480,
    windows_hybrid,
)
from tests.machine.machines.wsl import wsl1, wsl2_nvidia

__all__ = [
    "DISPLAY",
    "ENVIRONMENT",
    "GTX1650",
    "NVML_1080TI",
    "RX480",
    "UHD630",
    "alpine",
    "centos_7",
    "debian_1080ti",
    "jetson",
    "macos_apple",
    "macos_intel",
    "windows_10_rx480",
    "windows_hybrid",
    "wsl1",
    "wsl2_nvidia",
]
