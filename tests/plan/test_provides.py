"""The record that a replaced distribution is provided, judged by the tools that read it."""

from __future__ import annotations

import importlib.metadata
import zipfile

from envsetup.knowledge.stacks import Replacement
from envsetup.plan.provides import stub_wheel, write_record

TORCH = Replacement("torch", "1.8.0", "pytorch-directml", "directml")


def test_the_record_answers_with_the_version_and_holds_no_files_of_the_distribution(tmp_path):
    folder = write_record(tmp_path, TORCH)
    found = next(iter(importlib.metadata.distributions(path=[str(tmp_path)])))
    assert (found.metadata["Name"], found.version) == ("torch", "1.8.0+directml")
    assert found.read_text("INSTALLER").strip() == "envsetup"
    assert all(str(path).startswith(folder) for path in found.files)
    assert sorted(p.name for p in tmp_path.iterdir()) == [folder]


def test_every_recorded_hash_is_right(tmp_path):
    import base64
    import hashlib

    folder = write_record(tmp_path, TORCH)
    lines = (tmp_path / folder / "RECORD").read_text().splitlines()
    for line in lines[:-1]:
        path, digest, size = line.split(",")
        data = (tmp_path / path).read_bytes()
        assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip(
            "="
        )
        assert int(size) == len(data)
    assert lines[-1] == f"{folder}/RECORD,,"


def test_the_stub_is_a_wheel_with_metadata_only(tmp_path):
    wheel = stub_wheel(tmp_path, TORCH)
    assert wheel.name == "torch-1.8.0+directml-py3-none-any.whl"
    assert {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()} == {
        "torch-1.8.0+directml.dist-info"
    }
