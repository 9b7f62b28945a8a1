"""Which processor a program was built for, from its first bytes."""

from __future__ import annotations

import pytest

from envsetup.machine.binaries import architectures
from tests.machine.fake_host import elf, macho, pe


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (elf(), [("x86_64", 64)]),
        (elf(0xB7), [("aarch64", 64)]),
        (elf(0x28, 32), [("armv7", 32)]),
        (elf(0x03, 32), [("x86", 32)]),
        (pe(), [("x86_64", 64)]),
        (pe(0x14C, 32), [("x86", 32)]),
        (pe(0xAA64), [("aarch64", 64)]),
        (macho(0x01000007), [("x86_64", 64)]),
        (macho(0x01000007, 0x0100000C), [("x86_64", 64), ("aarch64", 64)]),
        (b"#!/bin/sh\nexec python", []),
        (b"\xca\xfe\xba\xbe\0\0\0\x41" + bytes(40), []),  # a Java class
        (b"\x7fELF", []),
        (b"MZ" + bytes(100), []),
        (b"MZ" + b"\xff" * 100, []),
        (b"", []),
    ],
)
def test_architectures_in_program_headers(head, found):
    assert architectures(head) == found
