"""The wheel that fits a Python and a platform best."""

from __future__ import annotations

import pytest

from envsetup.plan.tags import best_wheel, ranked

FILES = [
    "x-1-cp38-cp38-manylinux2010_x86_64.whl",
    "x-1-cp38-cp38-manylinux2014_x86_64.whl",
    "x-1-cp38-cp38-manylinux_2_28_x86_64.whl",
    "x-1-cp38-cp38-win_amd64.whl",
    "x-1-cp38-cp38-win32.whl",
    "x-1-cp37-cp37m-win_amd64.whl",
    "x-1-cp36-abi3-macosx_11_0_arm64.whl",
    "x-1-py3-none-any.whl",
    "garbage.whl",
]


@pytest.mark.parametrize(
    ("python", "platform", "glibc", "best"),
    [
        ("3.8", "manylinux_x86_64", 17, "x-1-cp38-cp38-manylinux2014_x86_64.whl"),
        ("3.8", "manylinux_x86_64", 28, "x-1-cp38-cp38-manylinux_2_28_x86_64.whl"),
        ("3.8", "win_amd64", 17, "x-1-cp38-cp38-win_amd64.whl"),
        ("3.7", "win_amd64", 17, "x-1-cp37-cp37m-win_amd64.whl"),
        ("3.12", "macosx_arm64", 17, "x-1-cp36-abi3-macosx_11_0_arm64.whl"),
        ("3.12", "win_amd64", 17, "x-1-py3-none-any.whl"),
    ],
)
def test_the_best_file_is_chosen(python, platform, glibc, best):
    assert best_wheel(FILES, ranked(python, platform, glibc)) == best


def test_no_file_is_chosen_where_none_fits():
    assert best_wheel(FILES[3:6], ranked("3.8", "manylinux_aarch64")) is None
