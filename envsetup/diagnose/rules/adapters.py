"""The wrong one of several adapters is used."""

from __future__ import annotations

import re
from typing import Any, Iterator, List, Mapping

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.knowledge.hardware import find_gpu_by_name

_INTEGRATED = re.compile(
    r"intel|uhd|iris|hd graphics|radeon\(tm\) graphics|radeon graphics|vega \d\b"
    r"|\b[67]\d0m\b|integrated|igpu|apu",
    re.IGNORECASE,
)
_DISCRETE = re.compile(
    r"geforce|rtx|gtx|quadro|tesla|\brx ?\d|radeon (pro|vii)|\barc\b|550x|firepro|discrete|dedicated|dgpu",
    re.IGNORECASE,
)


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding when an integrated adapter comes first, or when the text says so."""
    code = "multi-gpu-wrong-adapter"
    listed = [s.get("name") for s in case.seen("dml-adapter")]
    several = next((s for s in case.seen("dml-adapters") if int(s.get("count") or 0) > 1), None)
    many = case.first("dml-many-devices")
    words = case.first("wrong-gpu-words")
    visible = [s for s in case.seen("visible-devices") if s.get("name") == "DML_VISIBLE_DEVICES"]
    used = next((s for s in case.seen("adapter-used") if integrated({"name": s.get("name")})), None)
    discrete = next((g for g in case.gpus if integrated(g) is False), None)
    values = {
        "used": used.get("name") if used else (listed[0] if listed else case.gpu_name()),
        "better": str(discrete.get("name")) if discrete else "the discrete GPU",
        "index": str(case.gpus.index(discrete)) if discrete else "1",
    }
    if case.native_linux and not case.seen("bad-ordinal") and not words:
        return
    if words and not visible:
        yield Candidate(code, 0.84, (words.shown,), values)
    if (
        listed
        and several
        and integrated({"name": listed[0]})
        and (discrete or any(integrated({"name": n}) is False for n in listed[1:]))
    ):
        first = case.seen("dml-adapter")[0]
        yield Candidate(code, 0.88, (several.shown, first.shown), values)
    elif used and discrete:
        yield Candidate(code, 0.84, (used.shown, case.evidence("gpu", discrete.get("name"))), values)
    elif many:
        yield Candidate(code, 0.7, (many.shown,), values)
    elif listed and integrated({"name": listed[0]}) and discrete:
        yield Candidate(
            code,
            0.82,
            (case.seen("dml-adapter")[0].shown, case.evidence("gpu", discrete.get("name"))),
            values,
        )
    elif several and listed and len(case.gpus) > 1:
        yield Candidate(code, 0.55, (several.shown,), values)
    if _facts_only(case, discrete):
        log_quiet = not case.log or not case.seen("dml-adapters")
        yield Candidate(
            code,
            0.74 if not case.log else 0.5 if log_quiet else 0.4,
            (case.evidence("gpu", _names(case.gpus)),),
            values,
        )


def _facts_only(case: Case, discrete: Mapping[str, Any] | None) -> bool:
    if len(case.gpus) < 2 or discrete is None or not case.about("directml"):
        return False
    chosen = re.search(
        r"\b(slow|wrong|which|choose|select|second|integrated|igpu|default|device[_ ]id|adapter|used|uses)\b",
        case.words,
    )
    return integrated(case.gpus[0]) is True or chosen is not None


def _names(gpus: List[Mapping[str, Any]]) -> str:
    return ", ".join(str(gpu.get("name")) for gpu in gpus)


def integrated(gpu: Mapping[str, Any]) -> bool | None:
    """Say whether a GPU is part of a processor; None when nothing says so."""
    if isinstance(gpu.get("integrated"), bool):
        return bool(gpu["integrated"])
    name = str(gpu.get("name") or "")
    known = find_gpu_by_name(name) if name else None
    if known is not None and known.integrated is not None:
        return known.integrated
    if _DISCRETE.search(name) or gpu.get("vendor") == "nvidia":
        return False
    return True if _INTEGRATED.search(name) else None
