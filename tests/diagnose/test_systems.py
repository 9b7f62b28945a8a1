"""The C library that a system's name tells."""

from __future__ import annotations

import pytest

from envsetup.diagnose.systems import glibc


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ubuntu 18.04.5 LTS", "2.27"),
        ("Ubuntu 22.04.3 (container)", "2.35"),
        ("Linux Mint 20.1", "2.31"),
        ("Pop!_OS 20.04", "2.31"),
        ("CentOS Linux 7 (Core)", "2.17"),
        ("CentOS 6.7", "2.12"),
        ("Red Hat Enterprise Linux Server 7.9", "2.17"),
        ("Rocky Linux 8.7", "2.28"),
        ("Debian GNU/Linux 10 (buster)", "2.28"),
        ("SLES 11 SP3", "2.11"),
        ("Amazon Linux 2", "2.26"),
        ("Amazon Linux 2023", "2.34"),
        ("Ubuntu 21.04", ""),
        ("Arch", ""),
        ("Alpine 3.18", ""),
        ("", ""),
    ],
)
def test_glibc_of_a_system(name: str, expected: str) -> None:
    assert glibc(name) == expected
