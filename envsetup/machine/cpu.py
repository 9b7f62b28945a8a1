"""The processor: its name, and which of AVX, AVX2 and FMA programs may use."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator

from envsetup.machine import macos
from envsetup.machine.fact import Fact, unknown
from envsetup.machine.host import Host
from envsetup.machine.reading import Sight

FLAGS = ("avx", "avx2", "fma")
CPUINFO_LIMIT = 1 << 14  # bytes: the first processor; machines with 500 of them fill a megabyte
WINDOWS_CPU_KEY = r"HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor\0"


def read_cpu(sight: Sight) -> Iterator[Fact]:
    """Read cpu."""
    host = sight.host
    arch = sight.value("arch")
    if host.system == "linux":
        yield _linux(host)
    elif host.system == "windows":
        yield _windows(host, arch)
    elif host.system == "macos":
        yield _macos(host, arch)
    else:
        yield unknown("cpu", "unknown system")


def _fact(model: Any, present: Dict[str, bool], source: str) -> Fact:
    name = str(model).strip() if model else None
    return Fact("cpu", {"model": name, "flags": [flag for flag in FLAGS if present.get(flag)]}, source)


def _linux(host: Host) -> Fact:
    text = host.read_text("/proc/cpuinfo", CPUINFO_LIMIT)
    if not text:
        return unknown("cpu", "/proc/cpuinfo is missing")
    fields = dict(re.findall(r"^([\w ]+?)\s*:[ \t]*(.*)$", text.split("\n\n")[0], re.MULTILINE))
    flags = fields.get("flags", fields.get("Features"))
    if flags is None:
        return unknown("cpu", "/proc/cpuinfo lists no flags")
    model = fields.get("model name") or fields.get("Model") or fields.get("Hardware")
    return _fact(model, dict.fromkeys(flags.split(), True), "/proc/cpuinfo")


def _windows(host: Host, arch: str | None) -> Fact:
    key = host.registry(WINDOWS_CPU_KEY)
    model = key.values.get("ProcessorNameString") if key else None
    if arch and arch not in ("x86_64", "x86"):
        return _fact(model, {}, f"{arch} has no AVX")
    got = host.native("cpuid")
    if not isinstance(got, dict):
        return unknown("cpu", "the system does not say")
    present = {flag: got.get(flag) is True for flag in FLAGS}
    if not isinstance(got.get("fma"), bool):
        # Windows has no question for FMA; every AVX2 processor of Intel and AMD has it.
        return _fact(
            model, {**present, "fma": present["avx2"]}, "IsProcessorFeaturePresent (FMA follows from AVX2)"
        )
    return _fact(model, present, "cpuid")


def _macos(host: Host, arch: str | None) -> Fact:
    said = macos.sysctl(host)
    if not said:
        return unknown("cpu", "sysctl does not answer")
    if arch == "aarch64":
        return _fact(said.get("machdep.cpu.brand_string"), {}, "aarch64 has no AVX")
    names = (
        f"{said.get('machdep.cpu.features', '')} {said.get('machdep.cpu.leaf7_features', '')}".lower().split()
    )
    present = {"avx": "avx1.0" in names, "avx2": "avx2" in names, "fma": "fma" in names}
    for flag, key in (("avx", "avx1_0"), ("avx2", "avx2_0"), ("fma", "fma")):
        present[flag] = present[flag] or said.get(f"hw.optional.{key}") == "1"
    return _fact(said.get("machdep.cpu.brand_string"), present, "sysctl")
