"""Libraries that are there but are not searched for are named with their folder."""

from __future__ import annotations

from envsetup.machine.fact import Fact, Machine
from envsetup.probe.unsearched import unsearched


def test_a_toolkit_whose_folder_is_not_searched_is_named_once(tmp_path):
    toolkit = tmp_path / "cuda-10.1"
    (toolkit / "lib64").mkdir(parents=True)
    (toolkit / "lib64" / "libcudart.so.10.1").write_bytes(b"")
    (toolkit / "lib64" / "libcudnn.so.7").write_bytes(b"")
    facts = [
        Fact("cuda", [{"version": "10.1", "path": str(toolkit), "source": "test"}], "test"),
        Fact("cudnn", [{"version": "7.6.5", "path": str(toolkit / "lib64" / "libcudnn.so.7")}], "test"),
    ]
    lines = unsearched(["libcudart.so.10.1", "libcudnn.so.7", "libcuda.so.1"], Machine.of(facts))
    assert len(lines) == 1
    assert f"libcudart.so.10.1, libcudnn.so.7 is in {toolkit / 'lib64'}" in lines[0]


def test_nothing_is_said_of_libraries_that_are_nowhere(tmp_path):
    cuda = Fact("cuda", [{"version": "10.1", "path": str(tmp_path / "gone"), "source": "test"}], "test")
    assert unsearched(["libcudart.so.10.1"], Machine.of([cuda])) == []
    assert unsearched(["libcudart.so.10.1"], Machine.of([])) == []
