from __future__ import annotations

import pytest

from envsetup.diagnose.checks import dependencies
from envsetup.diagnose.checks.check import Repair
from envsetup.diagnose.checks.versions import look
from envsetup.knowledge.stacks import Replacement
from tests.diagnose.checks.site import Site, codes, problem

DIRECTML = Replacement("torch", "1.8.0", "pytorch-directml", "directml")


@pytest.mark.parametrize(
    ("packages", "code"),
    [
        ("tensorflow-gpu==2.3.4 protobuf==5.29.5", "protobuf-too-new"),
        ("tensorflow-gpu==2.3.4 protobuf==3.20.1 numpy==1.18.5 h5py==2.10.0", ""),
        ("tensorflow==2.4.0 numpy==1.20.0", "numpy-too-new"),
        ("tensorflow==2.4.0 numpy==1.19.5 h5py==3.1.0", "h5py-too-new"),
        ("torch==2.0.1 torchvision==0.15.2 numpy==2.0.2", "numpy-too-new"),
        ("torch==2.0.1 torchvision==0.15.2 numpy==1.26.4", ""),
        ("torch==2.6.0 torchvision==0.21.0 numpy==2.1.0", ""),
        ("torch==1.9.0 torchvision==0.9.0", "torchvision-mismatch"),
        ("torch-directml==0.2.5.dev240914 torch==2.3.1 torchvision==0.18.1", "version-pin-conflict"),
        ("tensorflow-cpu==2.12.0 tensorflow-directml-plugin==0.4.0.dev230202", "tf-plugin-version-mismatch"),
        ("tensorflow-cpu==2.10.1 tensorflow-directml-plugin==0.4.0.dev230202", ""),
        ("tensorflow-gpu==2.3.4 protobuf==3.20.1 tensorboard==2.12.0", "dependency-too-new"),
        ("requests==2.31.0 numpy==2.0.0", ""),
    ],
)
def test_what_goes_together(site: Site, packages: str, code: str) -> None:
    for package in packages.split():
        site.add(*package.split("=="))
    assert codes(site.seen(look)) == ([code] if code else [])


@pytest.mark.parametrize(("torchvision", "code"), [("0.9.0", []), ("0.10.0", ["torchvision-mismatch"])])
def test_a_fork_stands_for_the_torch_that_it_provides(site: Site, torchvision: str, code: list[str]) -> None:
    site.add("pytorch-directml", "1.8.0a0.dev220506").add("torchvision", torchvision).receipt([], [DIRECTML])
    assert codes(site.seen(look)) == code


def test_what_is_restored_is_named_and_not_as_the_receipt_has_it(site: Site) -> None:
    site.add("tensorflow-gpu", "2.3.4").add("protobuf", "5.29.5").add("requests", "2.31.0")
    site.receipt(["tensorflow-gpu==2.3.4", "protobuf==3.20.1", "requests==2.27.1"])
    assert problem(site.seen(look), "protobuf-too-new").repair == Repair(restore=("protobuf",))


def test_nothing_is_restored_without_a_receipt(site: Site) -> None:
    site.add("tensorflow-gpu", "2.3.4").add("protobuf", "5.29.5")
    assert not problem(site.seen(look), "protobuf-too-new").repair


@pytest.mark.parametrize(
    ("requires", "codes_", "severity"),
    [
        ("other", ["dependency-missing"], "warning"),
        ("other; python_version < '3.0'", [], ""),
        ("other; extra == 'more'", [], ""),
        ("other; sys_platform == 'win32'", [], ""),
        ("there<2", ["dependency-conflict"], ""),
        ("there>=2", [], ""),
        ("There>=2", [], ""),
        ("not a requirement !!", [], ""),
    ],
)
def test_requirements(site: Site, requires: str, codes_: list[str], severity: str) -> None:
    site.add("thing", "1", requires=[requires]).add("there", "2.0")
    seen = site.seen(dependencies.look)
    assert codes(seen) == codes_
    assert all(p.severity == severity for p in seen.problems)


def test_a_frameworks_missing_requirement_is_an_error(site: Site) -> None:
    site.add("pytorch-directml", "1.8.0", requires=["typing-extensions"]).receipt(
        ["typing-extensions==4.3.0"]
    )
    found = problem(site.seen(dependencies.look), "dependency-missing")
    assert (found.severity, found.repair) == ("", Repair(restore=("typing-extensions",)))


def test_what_is_provided_meets_a_requirement(site: Site) -> None:
    site.add("torchvision", "0.9.0", requires=["torch==1.8.0"]).receipt([], [DIRECTML])
    assert codes(site.seen(dependencies.look)) == []
