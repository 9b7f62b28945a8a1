"""Judge the machine's adapters against a row's needs: vendor, generation, compute capability."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Mapping, Tuple

from packaging.specifiers import SpecifierSet

from envsetup.knowledge.hardware import architecture, at_least, cuda_toolkit, runs
from envsetup.knowledge.hardware import capability as parse_capability
from envsetup.knowledge.stacks import Needs
from envsetup.machine.fact import Machine
from envsetup.resolve.verdict import Unmet

Adapter = Dict[str, Any]


def adapters(machine: Machine) -> List[Adapter]:
    """Return the machine's adapters, each with its ``index`` in adapter order."""
    return [{**gpu, "index": index} for index, gpu in enumerate(machine.value("gpu") or [])]


def judge_gpu(needs: Needs, machine: Machine) -> Tuple[Adapter | None, List[str], List[str], List[Unmet]]:
    """Return the adapter to use, and what is met, unknown and unmet.

    An adapter that fits for sure is taken before one of which too little is known; among equals, a discrete
    one before an integrated one, then the first.
    """
    if not needs.gpu:
        return None, [], [], []
    fact = machine.get("gpu")
    floor = _floors(needs)
    if not fact.known:
        return None, [], [f"GPU: not known ({fact.source}); needs {floor}"], []
    found = adapters(machine)
    if not found:
        fix = "use a machine with such a GPU, or --backend cpu"
        return None, [], [], [Unmet("gpu", floor, "no GPU", fact.source, fix)]
    judged = [(gpu, *_judge(gpu, needs, floor, fact.source)) for gpu in found]
    fitting = [j for j in judged if not j[2]]
    if fitting:
        gpu, doubts, _ = min(fitting, key=lambda j: (bool(j[1]), bool(j[0].get("integrated")), j[0]["index"]))
        others = f", number {gpu['index']} of {len(found)} adapters" if len(found) > 1 else ""
        why = " (a discrete one before an integrated one; --device takes another)" if len(fitting) > 1 else ""
        return gpu, [] if doubts else [f"GPU: {label(gpu)}{others}{why}"], doubts, []
    # The adapter that comes nearest is the one to explain.
    gpu, doubts, unmet = min(judged, key=lambda j: (_wrong_vendor(j[0], needs), bool(j[0].get("integrated"))))
    return None, [], doubts, unmet


def device_of(backend: str, gpu: Mapping[str, Any] | None, machine: Machine) -> str | None:
    """Return the backend's number of the chosen adapter, or None to leave the first.

    DirectML numbers all adapters as Windows lists them, so the chosen one may not be its first. CUDA and
    ROCm count only their own. An assumed list of adapters says nothing of those that are here.
    """
    if backend != "dml" or gpu is None or machine.get("gpu").assumed:
        return None
    return f"dml:{gpu['index']}" if gpu["index"] else None


def label(gpu: Mapping[str, Any]) -> str:
    """Return an adapter's name with its id, for people."""
    return f"{gpu['name']} ({gpu['id']})" if gpu.get("id") else str(gpu["name"])


def _wrong_vendor(gpu: Adapter, needs: Needs) -> bool:
    return gpu["vendor"] not in needs.gpu


def _floors(needs: Needs) -> str:
    parts = []
    for vendor, floor in needs.gpu.items():
        known = None if floor == "*" else architecture(vendor, floor)
        parts.append(f"{known.title} or newer" if known else f"any {vendor.upper()} GPU")
    return "; ".join(parts)


def _judge(gpu: Adapter, needs: Needs, floor: str, source: str) -> Tuple[List[str], List[Unmet]]:
    """Return the doubts about one adapter, and what it does not meet."""
    if _wrong_vendor(gpu, needs):
        fix = "choose a backend for this GPU (envsetup stacks lists what fits)"
        return [], [Unmet("gpu", floor, label(gpu), source, fix)]
    vendor = gpu["vendor"]
    enough = (
        True if needs.gpu[vendor] == "*" else at_least(vendor, gpu.get("architecture"), needs.gpu[vendor])
    )
    if enough is False:
        old = architecture(vendor, gpu["architecture"])
        found = f"{label(gpu)}, {old.title if old else gpu['architecture']}"
        fix = "use a newer GPU, or --backend cpu"
        return [], [Unmet("gpu", floor, found, source, fix)]
    doubts = []
    if enough is None:
        doubts.append(f"GPU: {label(gpu)} is not in the tables; needs {floor}")
    more, unmet = _capability(gpu, needs, source)
    return doubts + more, unmet


def _capability(gpu: Adapter, needs: Needs, source: str) -> Tuple[List[str], List[Unmet]]:
    """Judge whether the packages have code for the adapter."""
    if needs.gfx and gpu["vendor"] == "amd":
        return _gfx(gpu, needs, source)
    if needs.capability is None and not needs.sm:
        return [], []
    wants = capability_range(needs)
    capability = gpu.get("compute_capability")
    if not capability:
        return [f"compute capability of {label(gpu)}: not known; needs {wants}"], []
    found = f"{capability} ({gpu['name']})"
    unmet = [Unmet("compute-capability", wants, found, source, "")]
    if needs.sm and runs(capability, native=needs.sm, ptx=needs.ptx) is None:
        newer = all(parse_capability(s) < parse_capability(capability) for s in needs.sm)
        fix = (
            "take a build with a newer CUDA"
            if newer
            else "take an older build if one has code for this GPU, or a DirectML or CPU stack"
        )
        return [], [dataclasses.replace(unmet[0], fix=fix)]
    if needs.capability is not None and not needs.capability.contains(capability):
        fix = "use a newer GPU, a build from source for this one, or a DirectML or CPU stack"
        return [], [dataclasses.replace(unmet[0], fix=fix)]
    toolkit = cuda_toolkit(needs.cuda) if needs.cuda else None
    # Code for a major version runs on its later minor versions; a later major needs another toolkit.
    if toolkit and int(capability.split(".")[0]) > int(toolkit.capability_max.split(".")[0]):
        fix = f"this GPU is too new for CUDA {needs.cuda}: take a release that is built with a newer CUDA"
        return [], [dataclasses.replace(unmet[0], fix=fix)]
    return [], []


def _gfx(gpu: Adapter, needs: Needs, source: str) -> Tuple[List[str], List[Unmet]]:
    wants = f"one of {', '.join(needs.gfx)}"
    if not gpu.get("gfx"):
        return [f"gfx of {label(gpu)}: not known; needs {wants}"], []
    if gpu["gfx"] in needs.gfx:
        return [], []
    fix = "use DirectML or the CPU; HSA_OVERRIDE_GFX_VERSION may run another GPU's code and is unsupported"
    return [], [Unmet("gfx", wants, f"{gpu['gfx']} ({gpu['name']})", source, fix)]


def capability_range(needs: Needs) -> str:
    """Return the compute capabilities that a row serves, for people: the wheel's range and its CUDA's end."""
    if needs.sm:
        listed = " ".join(f"sm_{s}" for s in needs.sm)
        return listed + (f" and PTX of {' '.join(needs.ptx)}" if needs.ptx else "")
    low = str(needs.capability or SpecifierSet())
    toolkit = cuda_toolkit(needs.cuda) if needs.cuda else None
    if toolkit is None:
        return low
    major = toolkit.capability_max.split(".")[0]
    return f"{low} up to {major}.x (CUDA {needs.cuda} has no code for later ones)"
