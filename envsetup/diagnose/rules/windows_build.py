"""Windows is too old for DirectML, or the GPU or its driver has no Direct3D 12."""

from __future__ import annotations

import re
from typing import Any, Iterator, Mapping, Tuple

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.rules.unsatisfied import failures
from envsetup.errors import UsageError
from envsetup.knowledge.hardware import architecture, at_least


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about Direct3D 12 on native Windows, and old GPUs anywhere."""
    if case.system in ("linux", "macos"):
        return
    old_windows = _old_windows(case)
    if old_windows:
        yield old_windows
    yield from _gpu(case, old_windows is not None)


def _old_windows(case: Case) -> Candidate | None:
    if case.system == "wsl":
        return None
    floor = case.tables.directx.windows_build
    values = {"build": str(case.build or "older"), "floor": str(floor)}
    trouble = case.first("dml-load-failed", "dml-unsupported", "dml-adapters", "hresult")
    if case.build is not None and case.build < floor:
        if case.about("directml"):
            evidence = ([trouble.shown] if trouble else []) + [case.evidence("windows-build")]
            return Candidate(
                "windows-build-too-old", 0.92 if not failures(case) else 0.5, tuple(evidence), values
            )
        return None
    if case.build is None and case.about("directml"):
        older = re.search(
            r"windows\s?(7|8(\.1)?|server 2012|server 2008|vista|xp)\b|\b(1507|1511|1607|1703)\b|server 2016",
            case.words,
        )
        if older is None:
            said = next(
                (
                    s
                    for s in case.seen("said-os")
                    if re.search(r"windows (7|8|8\.1|server 2012)\b", s.get("os").lower())
                ),
                None,
            )
            if said is None:
                if trouble and case.windows:
                    case.need("windows-build", "whether Windows is recent enough for DirectML (winver)")
                return None
            return Candidate(
                "windows-build-too-old",
                0.9,
                (said.shown, *((trouble.shown,) if trouble else ())),
                {**values, "build": said.get("os")},
            )
        if not failures(case):
            evidence = ([trouble.shown] if trouble else []) + [f"words: {older.group(0)}"]
            return Candidate(
                "windows-build-too-old", 0.9, tuple(evidence), {**values, "build": older.group(0)}
            )
    for seen in case.seen("dml-load-failed"):
        if seen.get("entry") or (
            re.search(r"d3d12\.dll|dxcore|CreateDXGIFactory", seen.text)
            and case.windows
            and case.build is None
        ):
            return Candidate("windows-build-too-old", 0.6, (seen.shown,), values)
    return None


def _gpu(case: Case, windows_old: bool) -> Iterator[Candidate]:
    code = "gpu-too-old-directx"
    old = [gpu for gpu in case.gpus if below_floor(case, gpu)]
    fine = [gpu for gpu in case.gpus if gpu not in old]
    none_found = next((s for s in case.seen("dml-adapters") if s.get("count") == "0"), None)
    unsupported = next((s for s in case.seen("dml-unsupported", "hresult") if _unsupported(s.text)), None)
    levels = next(
        (s for s in case.seen("said-feature-levels") if not re.search(r"12[_.]\d", s.get("levels"))), None
    )
    trouble = none_found or unsupported
    name = str(old[0].get("name")) if old else case.gpu_name()
    values = {"gpu": name}
    evidence: Tuple[str, ...] = tuple(s.shown for s in (trouble, levels) if s)
    if old and not fine:
        evidence += (case.evidence("gpu", name),)
        if case.about("directml") or trouble or levels:
            yield Candidate(
                code, 0.93 if trouble or levels else 0.82 if not case.log else 0.6, evidence, values
            )
        return
    if levels and (trouble or case.about("directml")):
        yield Candidate(code, 0.88, evidence, values)
        return
    if trouble and case.system != "wsl" and not windows_old:
        if not case.gpus_known:
            case.need("gpu", "which GPU it is and whether it has Direct3D 12 (dxdiag)")
        case.need("windows-build", "which build of Windows it is (winver)")
        yield Candidate(code, 0.7 if not fine else 0.62, evidence, values)


def _unsupported(text: str) -> bool:
    return (
        re.search(
            r"feature level|minimum level|support.{0,12}(directx|direct3d) ?12|887a0004"
            r"|create.{0,6}d(irect)?3d ?12|D3D12CreateDevice|no directx",
            text,
            re.IGNORECASE,
        )
        is not None
    )


def below_floor(case: Case, gpu: Mapping[str, Any]) -> bool:
    """Say whether a GPU is known to be below what DirectML runs on."""
    vendor, name = str(gpu.get("vendor")), gpu.get("architecture")
    floor = case.tables.directx.floor.get(vendor)
    if name and floor:
        try:
            known = at_least(vendor, str(name), floor)
        except UsageError:
            known = None
        if known is False:
            return True
        generation = architecture(vendor, str(name))
        if generation is not None and generation.directx12 is False:
            return True
        # TensorFlow's plugin needs more than the floor: Intel HD 5xx and later (DirectML#329)
        if (
            vendor == "intel"
            and known
            and (case.package("tensorflow-directml-plugin") or case.seen("dml-adapters"))
        ):
            return at_least("intel", str(name), "skylake") is False
        return False
    words = str(gpu.get("name") or "")
    return (
        re.search(
            r"radeon hd [2-6]\d{3}\b|\bhd graphics (2000|3000|2500|4000)\b|\bgma\b"
            r"|geforce (gt |gts |gtx )?[2-5]\d{2}m?\b(?! ?(ti )?super)|geforce [89]\d{3}"
            r"|quadro fx",
            words,
            re.IGNORECASE,
        )
        is not None
    )
