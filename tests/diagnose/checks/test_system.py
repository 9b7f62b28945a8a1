"""Machines, wishes and environments: what is an error, and what is none."""

from __future__ import annotations

from typing import List

import pytest

from envsetup.diagnose.checks import contents, fits, system, versions
from envsetup.diagnose.checks.check import Repair
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.recognise import recognise
from envsetup.machine.assume import overlay
from envsetup.machine.fact import Machine
from tests.diagnose.checks.site import Site, codes, problem

NO_GPU = "os=linux arch=x86_64 glibc=2.36 cpu=avx,avx2,fma python=3.8"
RTX = f"{NO_GPU} gpu=10de:1e04 driver.nvidia=440.33 cuda=10.1 cudnn=7.6.5"


def machine(words: str) -> Machine:
    return overlay(Machine.of([]), words.split())


def found(words: str, backend: str = "") -> List[str]:
    context = Context(lambda: machine(words), backend=backend)
    seen = system.look(context)
    return [f.code for f in seen.findings] + codes(seen)


@pytest.mark.parametrize(
    ("words", "backend", "expected"),
    [
        (NO_GPU, "", []),
        (NO_GPU, "cpu", []),
        (NO_GPU, "auto", []),
        (RTX, "", []),
        (RTX, "cuda", []),
        (NO_GPU, "dml", ["directml-on-native-linux"]),
        ("os=windows windows-build=19045 arch=x86_64 gpu=1002:67df python=3.8", "dml", []),
        (
            "os=windows windows-build=15063 arch=x86_64 gpu=1002:67df python=3.8",
            "dml",
            ["windows-build-too-old"],
        ),
    ],
)
def test_what_is_wrong_with_a_machine(words: str, backend: str, expected: list[str]) -> None:
    assert found(words, backend) == expected


def test_the_absence_of_a_gpu_is_an_error_for_who_wants_one() -> None:
    context = Context(lambda: machine(f"{NO_GPU}").with_facts([_no_gpu()]), backend="cuda")
    assert codes(system.look(context)) == ["gpu-not-found"]


def test_the_absence_of_a_gpu_is_an_error_for_an_environment_for_one(site: Site) -> None:
    site.add("tensorflow-gpu", "2.3.4").receipt(
        [], stack="tensorflow-gpu==2.3.4", framework="tensorflow", backend="cuda"
    )
    seen = problem(site.seen(system.look), "gpu-not-found")
    assert "tensorflow-gpu==2.3.4" in seen.candidate.values["stack"]


@pytest.mark.parametrize(
    "package", ["torch==2.4.1", "tensorflow==2.13.0", "numpy==1.20", "tensorflow-cpu==2.10.1"]
)
def test_other_environments_may_do_without(site: Site, package: str) -> None:
    """The index's torch and tensorflow have CUDA code; that is no sign that anybody wants a GPU."""
    site.facts.update(
        {
            "cpu": {"model": "x", "flags": ["avx", "avx2", "fma"]},
            "driver.nvidia": None,
            "cuda": [],
            "cudnn": [],
        }
    )
    site.add(*package.split("=="))
    assert codes(site.seen(system.look)) == []


@pytest.mark.parametrize(
    ("package", "gpu", "expected"),
    [
        ("tensorflow-cpu==2.10.1", "nvidia", []),
        ("torch==2.4.1+cpu", "nvidia", [("torch-cpu-build-installed", "info")]),
        ("tensorflow-gpu==2.3.4", "nvidia", [("cuda-visible-devices", "")]),
        ("torch==2.4.1", "", []),
    ],
)
def test_a_hidden_gpu_is_an_error_for_who_wants_one(
    site: Site, package: str, gpu: str, expected: list[tuple[str, str]]
) -> None:
    site.facts.update({"cpu": {"model": "x", "flags": ["avx"]}, "env": {"CUDA_VISIBLE_DEVICES": "-1"}})
    if gpu:
        row = {"vendor": gpu, "name": "a GPU", "architecture": "turing", "compute_capability": "7.5"}
        site.facts.update({"gpu": [row], "driver.nvidia": "440.33", "cuda": [], "cudnn": []})
    site.add(*package.split("=="))
    seen = site.seen(system.look)
    shown = [(p.candidate.code, p.severity) for p in seen.problems]
    assert [one for one in shown if one[0] != "tf-cuda-toolkit-mismatch"] == expected


@pytest.mark.parametrize(
    "package", ["tensorflow==2.15.0", "pytorch-directml==1.8.0a0.dev220506", "torch==2.4.1"]
)
def test_what_is_installed_could_be_installed(site: Site, package: str) -> None:
    """Tables of published wheels know nothing of conda's builds and of one's own; the wheels' tags do."""
    site.facts.update({"libc": "musl", "arch": "aarch64", "wsl": 2, "windows-build": 19045})
    site.add(*package.split("=="))
    unwanted = {"python-version-unsupported", "musl-alpine", "arch-unsupported-arm64", "package-superseded"}
    assert not unwanted & set(codes(site.seen(system.look)))


def test_what_fits_is_information(site: Site) -> None:
    seen = fits.look(Context(lambda: machine(RTX)))
    assert codes(seen) == []
    assert "tensorflow-gpu==2.3.4" in seen.detail


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (f"{NO_GPU} gpu=10de:1e04 driver.nvidia=340.10 cuda=8.0 cudnn=5.1", ["gpu-without-stack"]),
        (RTX, []),
    ],
)
def test_a_gpu_that_nothing_can_use(words: str, code: list[str]) -> None:
    assert codes(fits.look(Context(lambda: machine(words)))) == code


@pytest.mark.parametrize(
    ("packages", "name", "framework", "backend"),
    [
        ("pytorch-directml==1.8.0a0.dev220506", "pytorch-directml==1.8.0a0.dev220506", "torch", "dml"),
        ("tensorflow-gpu==2.3.4", "tensorflow-gpu==2.3.4", "tensorflow", "cuda"),
        ("torch-directml==0.2.5 torch==2.4.1", "torch-directml==0.2.5", "torch", "dml"),
        ("torch==2.4.1", "torch==2.4.1", "torch", "cpu"),
        ("onnxruntime-directml==1.10", "onnxruntime-directml==1.10", "onnxruntime", "dml"),
    ],
)
def test_which_stack_it_is(site: Site, packages: str, name: str, framework: str, backend: str) -> None:
    for package in packages.split():
        site.add(*package.split("=="))
    kind = recognise(site.context())
    assert kind and (kind.name, kind.framework, kind.backend, kind.how) == (
        name,
        framework,
        backend,
        "distributions",
    )


@pytest.mark.parametrize(
    ("file", "text", "gpu", "backend"),
    [
        ("torch/version.py", "cuda: Optional[str] = '12.1'\nhip: Optional[str] = None\n", "nvidia", "cuda"),
        ("torch/version.py", "cuda: Optional[str] = '12.1'\nhip: Optional[str] = None\n", "amd", "cpu"),
        ("torch/version.py", "cuda = None\nhip = '5.2'\n", "amd", "rocm"),
        ("torch/version.py", "cuda = None\n", "nvidia", "cpu"),
    ],
)
def test_a_builds_backend_is_what_it_and_the_machine_have(
    site: Site, file: str, text: str, gpu: str, backend: str
) -> None:
    site.facts["gpu"] = [{"vendor": gpu, "name": "a GPU"}]
    site.add("torch", "2.1.0", files={file: text})
    kind = recognise(site.context())
    assert kind and kind.backend == backend


def test_what_is_no_more_as_the_receipt_has_it(site: Site) -> None:
    site.add("numpy", "1.24").receipt(["numpy==1.20", "h5py==2.10.0", "a @ file:///a"])
    seen = site.seen(contents.look)
    assert codes(seen) == ["distribution-missing", "differs-from-receipt"]
    assert problem(seen, "distribution-missing").repair == Repair(restore=("h5py", "a"))
    assert not problem(seen, "differs-from-receipt").repair


def _no_gpu() -> object:
    from envsetup.machine.fact import Fact

    return Fact("gpu", [], "test")


@pytest.mark.parametrize(
    "package", ["lazy-object-proxy", "docker", "proxy.py", "slow-adapter", "wsl", "cuda-drivers", "responses"]
)
def test_names_of_other_packages_say_nothing(site: Site, package: str) -> None:
    site.add(package, "1.0").add("torch-directml", "0.2.5").add("torch", "2.4.1").add("torchvision", "0.19.1")
    site.facts.update(
        {
            "wsl": 2,
            "windows-build": 19045,
            "kernel": "5.15.90.1-microsoft-standard-WSL2",
            "gpu": [{"vendor": "amd", "name": "Radeon RX 580", "architecture": "gcn4"}],
        }
    )
    assert codes(site.seen(system.look)) == []
    assert codes(site.seen(versions.look)) == []


def test_a_rule_that_breaks_does_not_silence_the_others(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(case: object) -> None:
        raise ValueError("no such thing")

    broken.__module__ = "envsetup.diagnose.rules.avx"
    monkeypatch.setattr(system, "RULES", (broken, *system.RULES))
    site.add("pytorch-directml", "1.8.0a0.dev220506")
    assert codes(site.seen(system.look)) == ["directml-on-native-linux", "check-failed"]
