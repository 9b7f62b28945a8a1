"""Whether DirectML can reach a Direct3D 12 device, which follows from the system, its build and the GPUs."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, Tuple

from envsetup.machine.fact import Fact, unknown
from envsetup.machine.reading import Sight

# The oldest Windows in which DirectML.dll loads: 1709 (DirectML's README).
DIRECTML_BUILD = 16299
# GPUs in WSL: Windows 10 21H2 as released, build 20150 among the previews (Microsoft's DirectML pages).
WSL_RELEASE, WSL_PREVIEW = 19044, 20150
_NAMES = ("os", "wsl", "dxg", "windows-build", "os-version", "gpu")


def read_directx(sight: Sight) -> Iterator[Fact]:
    """Read directx."""
    yield derive(sight.fact)


def derive(fact: Callable[[str], Fact]) -> Fact:
    """Return the fact from the others; it is assumed when one of them is."""
    level, why = _level(fact)
    assumed = any(fact(name).assumed for name in _NAMES)
    if level == "unknown":
        return unknown("directx", why)
    return Fact(
        "directx", {"level": level, "why": why}, "follows from build, GPU and driver", assumed=assumed
    )


def _level(fact: Callable[[str], Fact]) -> Tuple[str | None, str]:
    os, wsl = fact("os"), fact("wsl")
    if not os.known:
        return "unknown", f"os: {os.source}"
    if os.value == "linux" and not wsl.known:
        return "unknown", f"wsl: {wsl.source}"
    if os.value == "macos" or (os.value == "linux" and not wsl.value):
        return None, f"{'macOS' if os.value == 'macos' else 'Linux outside WSL'} has no DirectX"
    refused = _wsl(fact) if os.value == "linux" else _windows(fact)
    if refused and refused[0] != "unknown":
        return refused
    level, why = _gpu(fact)
    # A GPU that is too old stays so, whatever the unknown build.
    return (level, why) if refused is None or level is None else refused


def _windows(fact: Callable[[str], Fact]) -> Tuple[str | None, str] | None:
    build = fact("windows-build")
    if not build.known:
        return "unknown", f"windows-build: {build.source}"
    if build.value < DIRECTML_BUILD:
        return (
            None,
            f"Windows build {build.value} is older than {DIRECTML_BUILD}, the first with DirectML",
        )
    return None


def _wsl(fact: Callable[[str], Fact]) -> Tuple[str | None, str] | None:
    if fact("wsl").value == 1:
        return None, "WSL 1 has no GPU; WSL 2 has"
    build, dxg = fact("windows-build"), fact("dxg")
    if build.known and not (build.value >= WSL_PREVIEW or WSL_RELEASE <= build.value < WSL_RELEASE + 100):
        return (
            None,
            f"Windows build {build.value} gives WSL no GPU: that needs {WSL_RELEASE} or later",
        )
    if dxg.known and dxg.value is False:
        return None, dxg.source
    if not build.known and not dxg.known:
        return "unknown", f"windows-build: {build.source}; dxg: {dxg.source}"
    return None


def _gpu(fact: Callable[[str], Fact]) -> Tuple[str | None, str]:
    gpus = fact("gpu")
    if not gpus.known:
        return "unknown", f"gpu: {gpus.source}"
    if not gpus.value:
        return None, "there is no GPU"
    verdicts = [_one(gpu) for gpu in gpus.value]
    for wanted in ("12", "unknown", None):
        for level, why in verdicts:
            if level == wanted:
                return level, why
    raise AssertionError("every GPU has a verdict")


def _one(gpu: Dict[str, Any]) -> Tuple[str | None, str]:
    from envsetup.knowledge import hardware

    name = gpu.get("name") or gpu.get("id") or "the GPU"
    vendor, known = gpu.get("vendor"), gpu.get("architecture")
    if not known:
        pci = gpu.get("id")
        if vendor == "other":
            return "unknown", f"{name} is not in the hardware tables"
        if pci and not hardware.find_gpu(pci).known:
            return (
                "12",
                f"{name} is in no table yet; all newer GPUs of {vendor} have Direct3D 12",
            )
        return "unknown", f"the generation of {name} is unknown"
    generation = hardware.architecture(str(vendor), known)
    if generation is None or generation.directx12 is None:
        known = generation.title if generation else known
        return "unknown", f"whether {name} ({known}) has Direct3D 12 is unknown"
    if not generation.directx12:
        return None, f"{name} ({generation.title}) has no Direct3D 12 driver"
    return "12", f"{name} ({generation.title})"
