from __future__ import annotations

from pathlib import Path

import pytest

from envsetup.diagnose.checks.wheels import look
from tests.diagnose.checks.site import Site, codes


@pytest.mark.parametrize(
    ("python", "tag", "code"),
    [
        ("3.8", "cp38-cp38-manylinux2014_x86_64", ""),
        ("3.8", "cp37-cp37m-manylinux2014_x86_64", "wrong-wheel"),
        ("3.7", "cp37-cp37m-manylinux2014_x86_64", ""),
        ("3.10", "cp310-cp310-manylinux_2_17_x86_64", ""),
        ("3.10", "cp36-abi3-manylinux_2_17_x86_64", ""),
        ("3.8", "cp39-abi3-manylinux_2_17_x86_64", "wrong-wheel"),
        ("3.8", "py3-none-any", ""),
        ("3.8", "py2.py3-none-any", ""),
        ("3.8", "py2-none-any", "wrong-wheel"),
        ("3.8", "py310-none-any", "wrong-wheel"),
        ("3.8", "cp38-cp38-win_amd64", "wrong-wheel"),
        ("3.8", "cp38-cp38-macosx_11_0_arm64", "wrong-wheel"),
        ("3.8", "cp38-cp38-manylinux2014_aarch64", "wrong-wheel"),
        ("3.8", "cp38-cp38-manylinux2014_i686", "wrong-wheel"),
        ("3.8", "cp38-cp38-linux_x86_64", ""),
        ("3.8", "cp38-cp38-musllinux_1_1_x86_64", ""),
        ("3.8", "cp38-cp38-manylinux_2_36_x86_64", ""),
        ("3.8", "cp38-cp38-manylinux_2_39_x86_64", "glibc-too-old"),
        ("3.8", "cp38-cp38-manylinux_2_17_x86_64.manylinux_2_39_x86_64", ""),
        ("3.13", "cp313-cp313t-manylinux_2_17_x86_64", ""),
    ],
)
def test_tags(tmp_path: Path, python: str, tag: str, code: str) -> None:
    site = Site(tmp_path, python).add("thing", "1", tag=tag)
    assert codes(site.seen(look)) == ([code] if code else [])


def test_without_a_wheel_file_there_is_nothing_to_compare(site: Site) -> None:
    site.write("old-1.egg-info/PKG-INFO", "Name: old")
    assert codes(site.seen(look)) == []
