"""Facts inside pasted reports."""

from __future__ import annotations

import io
from typing import Any

import pytest

from envsetup.diagnose import text_facts
from envsetup.diagnose.lines import read
from envsetup.diagnose.patterns import Observation, observe

COLLECT_ENV = """\
PyTorch version: 2.1.0+cu121
CUDA used to build PyTorch: 12.1
OS: Ubuntu 22.04.3 LTS (x86_64)
Libc version: glibc-2.35
Python version: 3.10.12 (main, Nov 20 2023, 15:14:05) [GCC 11.4.0] (64-bit runtime)
Python platform: Linux-5.15.90.1-microsoft-standard-WSL2-x86_64-with-glibc2.35
GPU models and configuration: GPU 0: NVIDIA GeForce RTX 3090
Nvidia driver version: 525.105.17
cuDNN version: /usr/lib/x86_64-linux-gnu/libcudnn.so.8.9.0
[pip3] numpy==1.26.2
[conda] pytorch                   1.4.0               py3.7_cpu_0  [cpuonly]  pytorch
"""
SMI = """\
| NVIDIA-SMI 470.86       Driver Version: 470.86       CUDA Version: 11.4     |
|   0  NVIDIA GeForce RTX 3080 ...  Off  | 00000000:01:00.0  On |                  N/A |
"""
DXDIAG = """\
       Operating System: Windows 10 Pro 64-bit (10.0, Build 19045) (19041.vb_release.191206-1406)
              Card name: AMD Radeon HD 6450
           Driver Model: WDDM 1.3
         Feature Levels: 11_0,10_1,10_0,9_3
"""
WSL = """\
WSL version: 1.0.3.0
Kernel version: 5.15.79.1
Windows version: 10.0.22621.1105
"""
WSL_CHINESE = "WSL 版本： 1.0.3.0\n内核版本： 5.15.79.1\nWindows版本： 10.0.22621.1105\n"


def seen(text: str) -> list[Observation]:
    return observe(read(io.BytesIO(text.encode())).lines)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        (COLLECT_ENV, "driver.nvidia", "525.105.17"),
        (COLLECT_ENV, "glibc", "2.35"),
        (COLLECT_ENV, "wsl", 2),
        (COLLECT_ENV, "os", "linux"),
        (SMI, "driver.nvidia", "470.86"),
        (SMI, "cuda.driver", "11.4"),
        (DXDIAG, "windows-build", 19045),
        (DXDIAG, "os", "windows"),
        (WSL, "windows-build", 22621),
        (WSL, "kernel", "5.15.79.1"),
        (WSL, "wsl", 2),
        (WSL_CHINESE, "windows-build", 22621),
        (WSL_CHINESE, "kernel", "5.15.79.1"),
        ("Version 22H2 (OS Build 19045.3448)", "windows-build", 19045),
        ("Microsoft Windows [Version 10.0.22000.318]", "windows-build", 22000),
        ("Linux version 4.19.104-microsoft-standard (oe-user@oe-host)", "wsl", 2),
        ("Linux version 4.4.0-19041-Microsoft (x@y)", "wsl", 1),
        ("* Ubuntu-20.04    Running         1", "wsl", 1),
        ("Cuda compilation tools, release 11.2, V11.2.152", "cuda", "11.2"),
        ("| tensorflow on Jetson aarch64", "arch", "aarch64"),
        (
            "You're on Linux (`manylinux_2_17_x86_64`), but `torch` (v2.6.0) only has wheels "
            "for the following platforms: `x`",
            "glibc",
            "2.17",
        ),
    ],
)
def test_fact_is_read(text: str, name: str, value: Any) -> None:
    fact = text_facts.facts(seen(text))[name]
    found = fact.value[0]["version"] if isinstance(fact.value, list) else fact.value
    assert found == value
    assert fact.source.startswith("the text, line")


@pytest.mark.parametrize(
    ("text", "version", "bits", "store"),
    [
        ("Python 3.8.5 (tags/v3.8.5:580fbb0) [MSC v.1926 32 bit (Intel)] on win32", "3.8.5", 32, False),
        ("Python version: 3.10.12 (main) (64-bit runtime)", "3.10.12", None, False),
        ("Using CPython 3.12.3 interpreter at: /usr/bin/python3", "3.12.3", None, False),
        ("  Downloading torch-2.2.0-cp311-cp311-win_amd64.whl (198 MB)", "3.11", None, False),
        ('  File "/usr/lib/python3.6/site-packages/torch/__init__.py", line 45', "3.6", None, False),
        (
            r"C:\Users\u\AppData\Local\Packages\PythonSoftwareFoundation.Python.3.9_qbz5n2kfra8p0\x",
            "3.9",
            None,
            True,
        ),
    ],
)
def test_interpreter_is_read(text: str, version: str, bits: int | None, store: bool) -> None:
    row = text_facts.facts(seen(text))["python"].value[0]
    assert (row["version"], row["bits"], row["store"]) == (version, bits, store)


def test_gpus_are_looked_up() -> None:
    row = text_facts.facts(seen(SMI))["gpu"].value[0]
    assert (row["vendor"], row["compute_capability"]) == ("nvidia", "8.6")
    assert text_facts.facts(seen(DXDIAG))["gpu"].value[0]["vendor"] == "amd"


@pytest.mark.parametrize(
    ("text", "package", "shown"),
    [
        ("torch                    2.9.1+cu130", "torch", "torch 2.9.1+cu130"),
        ("[pip3] numpy==1.26.2", "numpy", "numpy 1.26.2"),
        ("| tensorflow-cpu             | 2.10.0|", "tensorflow-cpu", "tensorflow-cpu 2.10.0"),
        ("Successfully installed numpy-1.14.5 torch-1.1.0", "torch", "torch 1.1.0"),
        (" + torch-directml==0.2.5.dev240914", "torch-directml", "torch-directml 0.2.5.dev240914"),
        ("pytorch   1.4.0   py3.7_cpu_0  [cpuonly]  pytorch", "pytorch", "pytorch 1.4.0+cpu"),
        ("pip 18.1 from /usr/lib/python3/dist-packages/pip (python 3.7)", "pip", "pip 18.1"),
        (
            "TensorFlow version (use command below): v2.11.0-rc2-15-g6290819256d 2.11.0",
            "tensorflow",
            "tensorflow 2.11.0",
        ),
    ],
)
def test_packages_are_read(text: str, package: str, shown: str) -> None:
    assert text_facts.packages(seen(text))[package].shown == shown
