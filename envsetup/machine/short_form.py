"""Machines as people retell them: few facts, in free words, read leniently; absent means unknown."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, Mapping

from envsetup.machine import directx, gpus, nvidia
from envsetup.machine.fact import Fact, Machine
from envsetup.machine.short_words import architectures, cpu_flags, libc, linux, memory, version, windows_build
from envsetup.machine.system import windows_name

SOURCE = "report"
FURTHER = {
    "packages": "distribution → version",
    "wanted": "what was to be run",
    "extra": "what has no fact's name",
}
_TEXT_LIMIT = 2000  # characters of one text of a report
_KNOWN = {
    "os", "os_version", "wsl", "arch", "arch_stated", "python", "gpus", "driver", "cuda_toolkits", "cudnn",
    "packages", "env_vars", "extra",
}  # fmt: skip


def machine(facts: Mapping[str, Any], wanted: Any = None) -> Machine:
    """Return the machine of a report's facts.

    Args:
        facts: os, os_version, wsl, arch, python, gpus (name, vendor, compute_capability, vram), driver,
            cuda_toolkits, cudnn, packages, env_vars, extra; any may be missing. What is of another type, or
            says nothing usable, is left out.
        wanted: what was to be run; becomes the fact ``wanted``.
    """
    found: Dict[str, Fact] = {}
    for reader in (_system, _arch, _extra, _python, _gpus, _driver, _cuda, _cudnn, _packages):
        for fact in reader(facts):
            found.setdefault(fact.name, fact)
    if isinstance(wanted, str):
        found["wanted"] = Fact("wanted", wanted[:_TEXT_LIMIT], SOURCE)
    out = Machine(found)
    derived = [directx.derive(out.get)]
    if "cuda.driver" not in found and out.get("driver.nvidia").known:
        derived.append(nvidia.cuda_of(out.get("driver.nvidia"), None, out.system))
    return out.with_facts(fact for fact in derived if fact.known)


def _fact(name: str, value: Any, source: str = SOURCE) -> Fact:
    return Fact(name, value, source)


def _text(value: Any) -> str:
    return (
        str(value)[:_TEXT_LIMIT]
        if isinstance(value, (str, int, float)) and not isinstance(value, bool)
        else ""
    )


def _dict(value: Any) -> Dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _system(facts: Mapping[str, Any]) -> Iterator[Fact]:
    os, words = _text(facts.get("os")).lower(), _text(facts.get("os_version"))
    wsl = facts.get("wsl")
    below = wsl in (1, 2) or wsl is True
    if os not in ("windows", "linux", "macos"):
        return
    # Windows with WSL: the programs in question run in the Linux inside.
    yield _fact("os", "linux" if below and os == "windows" else os)
    if os == "macos" or isinstance(wsl, (bool, int)):
        yield _fact("wsl", (wsl if wsl in (1, 2) and wsl is not True else 2) if below else 0)
    if os == "windows":
        build, exact = windows_build(words)
        if build:
            yield _fact("windows-build", build, SOURCE if exact else f"the first build of Windows {words}")
        if not below and words:
            yield _fact("os-version", windows_name("", build) if exact else f"Windows {words}")
        return
    yield from linux(words) if os == "linux" else [_fact("os-version", f"macOS {words}".strip())]


def _arch(facts: Mapping[str, Any]) -> Iterator[Fact]:
    source = "supposed: the report does not say" if facts.get("arch_stated") is False else SOURCE
    arch, _ = architectures(_text(facts.get("arch")))
    if arch:
        yield _fact("arch", arch, source)


def _python(facts: Mapping[str, Any]) -> Iterator[Fact]:
    words = _text(facts.get("python"))
    machine_arch, (own, bits) = architectures(_text(facts.get("arch")))
    number = version(words)
    if not number and not own and not bits:
        return
    arch = own or ("x86" if bits == 32 and machine_arch == "x86_64" else machine_arch)
    yield _fact(
        "python",
        [
            {
                "version": number,
                "path": None,
                "bits": bits or (32 if arch == "x86" else 64 if arch else None),
                "arch": arch,
                "emulated": bool(arch and machine_arch and arch != machine_arch and arch != "x86"),
                "implementation": "cpython",
                "store": "store" in words.lower(),
                "source": words if re.match(r"[<>=~!]", words) else SOURCE,
            }
        ],
    )


def _gpus(facts: Mapping[str, Any]) -> Iterator[Fact]:
    listed = facts.get("gpus")
    if not isinstance(listed, list):
        return
    yield _fact("gpu", [_gpu(row) for row in listed[:16] if isinstance(row, dict)])


def _gpu(row: Dict[str, Any]) -> Dict[str, Any]:
    name = _text(row.get("name"))
    gfx = re.search(r"\bgfx[0-9a-f]{3,4}\b", name)
    capability = re.fullmatch(r"\d{1,2}\.\d", _text(row.get("compute_capability")))
    pci = re.fullmatch(r"([0-9a-f]{4}):([0-9a-f]{4})", _text(row.get("id")).lower())
    vendor, device = pci.groups() if pci else (None, None)
    described = gpus.describe(
        gpus.Adapter(
            vendor_id=vendor,
            device_id=device,
            name=name or None,
            memory=memory(_text(row.get("vram"))),
            integrated=True if re.search(r"\bAPU\b|integrated", name) else None,
            compute_capability=capability.group(0) if capability else None,
            gfx=gfx.group(0) if gfx else None,
            vendor=_text(row.get("vendor")).lower() or None,
            source=SOURCE,
        )
    )
    stated = _text(row.get("vendor")).lower()
    return {**described, "vendor": stated} if stated and described["vendor"] == "other" else described


def _driver(facts: Mapping[str, Any]) -> Iterator[Fact]:
    words = _text(facts.get("driver"))
    level = re.search(r"CUDA (\d+\.\d)", words)
    if level:
        yield _fact("cuda.driver", level.group(1))
    number = re.search(r"(?<![\d.])\d{3}\.\d{2,3}(\.\d+)?(?![\d.])", words)
    windows = nvidia.windows_number(words.strip())
    if windows or number:
        yield _fact("driver.nvidia", windows or (number.group(0) if number else None))


def _clauses(value: Any) -> List[str]:
    items = value if isinstance(value, list) else [value]
    return [part.strip() for item in items[:16] for part in re.split(r"[,;]", _text(item)) if part.strip()]


def _copies(value: Any) -> List[Dict[str, Any]]:
    """Return what is installed, from texts such as "12.4 (nvcc)" or "8.x in /usr/local/cuda/lib64"."""
    found = []
    for clause in _clauses(value):
        number = version(re.sub(r"\.x\b", "", clause))
        path = re.search(r"(?:/|[A-Za-z]:\\)\S+", clause)
        note = re.sub(r"[\d.]+x?|\bin\b|[()]|(?:/|[A-Za-z]:\\)\S+", " ", clause).split()
        if number:
            source = " ".join([SOURCE, *note]) if note else SOURCE
            found.append({"version": number, "path": path.group(0) if path else None, "source": source})
    return found


def _cuda(facts: Mapping[str, Any]) -> Iterator[Fact]:
    if "cuda_toolkits" in facts:
        yield _fact("cuda", _copies(facts["cuda_toolkits"]))


def _cudnn(facts: Mapping[str, Any]) -> Iterator[Fact]:
    if "cudnn" in facts:
        yield _fact("cudnn", _copies(facts["cudnn"]))


def _packages(facts: Mapping[str, Any]) -> Iterator[Fact]:
    packages = {
        name[:200]: _text(value) or None for name, value in list(_dict(facts.get("packages")).items())[:500]
    }
    if "packages" in facts:
        yield _fact("packages", packages)
    env = {name: _text(value) for name, value in list(_dict(facts.get("env_vars")).items())[:200]}
    if "env_vars" in facts:
        yield _fact("env", env)


def _extra(facts: Mapping[str, Any]) -> Iterator[Fact]:
    extra = _dict(facts.get("extra"))
    kernel, cpu = _text(extra.get("kernel")), _text(extra.get("cpu"))
    if kernel:
        yield _fact("kernel", kernel)
    flags = cpu_flags(cpu)
    if flags is not None:
        yield _fact("cpu", {"model": cpu, "flags": flags})
    yield from libc(_text(extra.get("libc")))
    rest = {key: value for key, value in facts.items() if key not in _KNOWN}
    if extra or rest or (facts.get("os") == "windows" and facts.get("wsl") and facts.get("os_version")):
        windows = {"windows": facts["os_version"]} if facts.get("os_version") and facts.get("wsl") else {}
        yield _fact("extra", {**extra, **rest, **windows})
