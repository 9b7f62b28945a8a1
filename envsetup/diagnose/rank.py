"""Candidates to a ranked list: one for each code, the strongest first, the weak ones dropped."""

from __future__ import annotations

from typing import Dict, Iterable, List

from envsetup.diagnose.finding import Candidate

FLOOR = 0.35  # below it a candidate is a guess that helps nobody
BESIDE = 0.45  # a finding this much weaker than the best is left out


def rank(candidates: Iterable[Candidate]) -> List[Candidate]:
    """Return the candidates worth showing, best first; of one code only the strongest."""
    best: Dict[str, Candidate] = {}
    for candidate in candidates:
        old = best.get(candidate.code)
        if old is None or candidate.score > old.score:
            best[candidate.code] = candidate
    ordered = sorted(best.values(), key=lambda c: -c.score)
    if not ordered:
        return []
    top = ordered[0].score
    return [c for c in ordered if c.score >= FLOOR and c.score >= top - BESIDE]
