"""The same message has different causes: one changed fact decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

import pytest

from tests.diagnose.cases import first, run

NONE = "ERROR: Could not find a version that satisfies the requirement {} (from versions: none)"
D3D = "ImportError: libd3d12.so: cannot open shared object file: No such file or directory"
CUDART = "Could not load dynamic library 'cudart64_101.dll'; dlerror: cudart64_101.dll not found"
DLL = "ImportError: DLL load failed: The specified module could not be found."
INIT = "ImportError: DLL load failed: A dynamic link library (DLL) initialization routine failed."
MODULE = "ModuleNotFoundError: No module named 'torch'"
CUDNN = "Loaded runtime CuDNN library: 8.0.4 but source was compiled with: 8.1.0."
CONV = "Failed to get convolution algorithm. This is probably because cuDNN failed to initialize"
NO_CUDA = "AssertionError: Torch not compiled with CUDA enabled"
ILLEGAL = "Illegal instruction (core dumped)"
NVIDIA = [{"name": "GeForce GTX 1080", "vendor": "nvidia", "compute_capability": "6.1"}]
AMPERE = [{"name": "GeForce RTX 3080", "vendor": "nvidia", "compute_capability": "8.6"}]
INTEL = [{"name": "UHD Graphics 620", "vendor": "intel"}]
LINUX = {"os": "linux", "wsl": False, "arch": "x86_64"}
WINDOWS = {"os": "windows", "wsl": False, "arch": "x86_64"}
WSL = {"os": "windows", "wsl": True, "arch": "x86_64"}
MAC = {"os": "macos", "wsl": False}
TF23 = {"packages": {"tensorflow": "2.3.0"}}

PAIRS = [
    (D3D, "", {**LINUX}, "directml-on-native-linux"),
    (D3D, "", {**WSL, "os_version": "10 build 19042"}, "wsl-windows-build-too-old"),
    (
        D3D,
        "",
        {**WSL, "os_version": "11", "extra": {"kernel": "4.19.104-microsoft-standard"}},
        "wsl-kernel-too-old",
    ),
    (
        D3D,
        "",
        {**WSL, "os_version": "11", "extra": {"kernel": "4.4.0-22000-Microsoft"}},
        "wsl-kernel-too-old",
    ),
    (CUDART, "", {**WINDOWS, **TF23, "gpus": NVIDIA, "cuda_toolkits": ["10.2"]}, "tf-cuda-toolkit-mismatch"),
    (CUDART, "", {**WINDOWS, **TF23, "gpus": NVIDIA, "cuda_toolkits": []}, "tf-cuda-toolkit-mismatch"),
    (CUDART, "", {**WINDOWS, **TF23, "gpus": AMPERE, "cuda_toolkits": ["11.2"]}, "gpu-too-new-for-cuda"),
    (CUDART, "", {**WINDOWS, **TF23, "gpus": INTEL}, "benign-message"),
    (NONE.format("tensorflow==2.3.0"), "", {**WINDOWS, "python": "3.9.1"}, "python-version-unsupported"),
    (
        NONE.format("tensorflow==2.3.0"),
        "",
        {**WINDOWS, "python": "3.8.1", "arch": "x86 (32-bit interpreter on x64 OS)"},
        "python-32bit",
    ),
    (
        "the ssl module in Python is not available\n" + NONE.format("tensorflow==2.3.0"),
        "",
        {**WINDOWS, "python": "3.9.1"},
        "python-ssl-broken",
    ),
    (
        "certificate verify failed: unable to get local issuer certificate\n" + NONE.format("torch"),
        "",
        {**WINDOWS, "python": "3.10"},
        "tls-proxy",
    ),
    (
        NONE.format("torch"),
        "pip install torch --index-url https://download.pytorch.org/whl/cu119",
        {**LINUX, "python": "3.10"},
        "index-url-nonexistent",
    ),
    (
        NONE.format("tensorflow==2.3.0"),
        "",
        {**LINUX, "arch": "aarch64", "python": "3.8"},
        "arch-unsupported-arm64",
    ),
    (NONE.format("torch"), "", {**LINUX, "extra": {"libc": "musl"}, "python": "3.10"}, "musl-alpine"),
    (NONE.format("onnxruntime-directml"), "", {**LINUX, "python": "3.10"}, "directml-on-native-linux"),
    (NONE.format("tensorflow-directml"), "", {**WINDOWS, "python": "3.8"}, "python-version-unsupported"),
    (
        NONE.format("tensorflow-directml"),
        "",
        {**WINDOWS, "python": "3.8", "packages": {"tensorflow": "2.9.0"}},
        "package-superseded",
    ),
    (DLL, "import tensorflow", {**WINDOWS, "packages": {"tensorflow": "2.4.0"}}, "msvc-redist-missing"),
    (
        DLL,
        "import tensorflow",
        {**WINDOWS, "packages": {"tensorflow": "2.4.0"}, "python": "3.8 from the Microsoft Store"},
        "microsoft-store-python",
    ),
    (INIT, "import tensorflow", {**WINDOWS, "packages": {"tensorflow": "2.4.0"}}, "cpu-no-avx"),
    (
        DLL,
        "import tensorflow",
        {**WINDOWS, "packages": {"tensorflow-gpu": "1.14.0"}, "gpus": NVIDIA, "cuda_toolkits": ["9.0"]},
        "tf-cuda-toolkit-mismatch",
    ),
    (MODULE, "import torch in Jupyter", {**LINUX}, "jupyter-kernel-wrong-env"),
    (MODULE, "python a.py", {**LINUX, "packages": {"torch": "2.1.0"}}, "wrong-interpreter"),
    (CUDNN, "", {**LINUX, "cudnn": "8.0.4"}, "cudnn-minor-too-old"),
    (CUDNN, "", {**LINUX, "cudnn": "8.2.1"}, "cudnn-shadowed"),
    (CONV, "fit", {**LINUX, "packages": {"tensorflow": "2.1.0"}, "gpus": NVIDIA}, "gpu-memory-growth"),
    (
        CONV + "\n" + CUDNN,
        "fit",
        {**LINUX, "packages": {"tensorflow": "2.5.0"}, "cudnn": "8.0.4"},
        "cudnn-minor-too-old",
    ),
    (NO_CUDA, "", {**WINDOWS, "gpus": NVIDIA}, "torch-cpu-build-installed"),
    (NO_CUDA, "", {**MAC, "arch": "arm64"}, "cuda-on-macos"),
    (NO_CUDA, "", {**LINUX, "arch": "aarch64", "packages": {"torch": "2.1.0"}}, "arch-unsupported-arm64"),
    (ILLEGAL, "import tensorflow", {**LINUX, "extra": {"cpu": "Celeron N4020"}}, "cpu-no-avx"),
    (ILLEGAL, "import tensorflow", {**MAC, "arch": "arm64"}, "arch-rosetta-x86-python"),
    ("found 0 compatible adapters.", "directml", {**WINDOWS, "os_version": "10 22H2"}, "gpu-too-old-directx"),
    (
        "found 0 compatible adapters.",
        "directml",
        {**WSL, "os_version": "11"},
        "driver-too-old-for-wsl-directx",
    ),
    ("found 0 compatible adapters.", "directml", {**LINUX}, "directml-on-native-linux"),
    (
        "found 0 compatible adapters.",
        "directml",
        {**WINDOWS, "os_version": "10 build 15063"},
        "windows-build-too-old",
    ),
]


@pytest.mark.parametrize(("log", "wanted", "facts", "code"), PAIRS)
def test_facts_decide(log: str, wanted: str, facts: Dict[str, Any], code: str, tmp_path: Path) -> None:
    found = run({"log": log, "wanted": wanted, "facts": facts}, tmp_path)
    assert first(found) == code, [(f.code, f.score) for f in found.findings]


def test_contradicting_fact_removes_a_finding(tmp_path: Path) -> None:
    facts = {**LINUX, "extra": {"cpu": "AMD Ryzen 7 with AVX, AVX2, FMA"}}
    lacking = run({"log": ILLEGAL, "wanted": "", "facts": {**LINUX, "extra": {"cpu": "no AVX"}}}, tmp_path)
    having = run({"log": ILLEGAL, "wanted": "", "facts": facts}, tmp_path)
    assert lacking.findings[0].score - having.findings[0].score > 0.4
