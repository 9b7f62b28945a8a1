"""Versions, commands, library names and processors as people and tools write them."""

from __future__ import annotations

import pytest

from envsetup.diagnose import cpus, releases
from envsetup.diagnose.commands import index_label, parse
from envsetup.diagnose.rules.library_names import soname


@pytest.mark.parametrize(
    ("text", "version", "local", "exact"),
    [
        ("2.9.1+cpu", "2.9.1", "cpu", True),
        ("2.10.0.dev20250929+rocm7.0", "2.10.0.dev20250929", "rocm7.0", True),
        ("1.15.0 (cuda101cudnn76sse2)", "1.15.0", "cu101", True),
        (">=1.6", "1.6", "", False),
        ("1.15.x", "1.15", "", False),
        ("2.4.1 chosen", "2.4.1", "", True),
        ("CUDA 12.1 build", None, "cu121", True),
        ("CUDA 12 build implied", None, "cu12", True),
        ("rocm6.2 nightly", None, "rocm6.2", True),
        ("conda", None, "", True),
        (None, None, "", True),
    ],
)
def test_release(text: str | None, version: str | None, local: str, exact: bool) -> None:
    found = releases.release("torch", text)
    assert (str(found.version) if found.version else None, found.local, found.exact) == (
        version,
        local,
        exact,
    )


@pytest.mark.parametrize(
    ("label", "cuda"), [("cu121", "12.1"), ("cu92", "9.2"), ("cu80", "8.0"), ("cu12", "12"), ("cpu", "")]
)
def test_cuda_of_label(label: str, cuda: str) -> None:
    assert releases.cuda_of(label) == cuda


def test_command_is_understood() -> None:
    page = "https://download.pytorch.org/whl/torch_stable.html"
    rest = f' torch==1.7.0+cpu "torchvision>=0.8" -f {page} --no-cache'
    found = parse("pip", "install", rest, 1, "")
    assert found.names == ("torch", "torchvision")
    assert found.links == ("https://download.pytorch.org/whl/torch_stable.html",)
    assert found.options == ("--no-cache",)
    assert parse("uv", "add", " torch --index-url=https://x/whl/cu130 over an old one", 1, "").names == (
        "torch",
    )
    assert parse("conda", "install", " pytorch=1.4 -c pytorch -c conda-forge", 1, "").channels == (
        "pytorch",
        "conda-forge",
    )


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("https://download.pytorch.org/whl/cu131", "cu131"),
        ("https://download.pytorch.org/whl/nightly/cu124/torch/", "cu124"),
        ("https://download.pytorch.org/whl/rocm6.2.4", "rocm6.2.4"),
        ("https://download.pytorch.org/whl/torch_stable.html", ""),
        ("https://example.org/simple", ""),
    ],
)
def test_index_label(url: str, label: str) -> None:
    assert index_label(url) == label


@pytest.mark.parametrize(
    ("file", "name", "version"),
    [
        ("cudart64_101.dll", "cudart", "10.1"),
        ("cudart64_90.dll", "cudart", "9.0"),
        ("cudart64_110.dll", "cudart", "11.0"),
        ("cudart64_12.dll", "cudart", "12"),
        ("libcublas.so.10.0", "cublas", "10.0"),
        ("cusolver64_10.dll", "cusolver", "10"),
        ("/usr/lib/libcudnn_cnn_infer.so.8", "cudnn", "8"),
        ("cudnn64_7.dll", "cudnn", "7"),
        ("libcuda.so.1", "", ""),
        ("nvcuda.dll", "", ""),
    ],
)
def test_soname(file: str, name: str, version: str) -> None:
    assert soname(file) == (name, version)


@pytest.mark.parametrize(
    ("model", "flags"),
    [
        ("Intel(R) Celeron(R) N4020 CPU @ 1.10GHz", ()),
        ("Intel(R) Core(TM) i7 CPU 930 @ 2.80GHz", ()),
        ("Intel(R) Xeon(R) CPU X5650 @ 2.67GHz", ()),
        ("Intel(R) Core(TM) i7-3770 CPU @ 3.40GHz", ("avx",)),
        ("Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz", ("avx",)),
        ("Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz", None),
        ("AMD Ryzen 7 5800X", None),
        ("Intel Core i7-10700", None),
    ],
)
def test_processors(model: str, flags: tuple[str, ...] | None) -> None:
    assert cpus.flags(model) == flags
