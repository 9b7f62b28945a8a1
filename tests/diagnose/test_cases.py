"""The right answer comes first, on reported cases and on variants; healthy logs raise no alarm."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

import pytest

from tests.diagnose.cases import first, load, run
from tests.diagnose.test_catalogue import PUBLISHED

VARIANTS = load("variants.jsonl")


def name(case: Dict[str, Any]) -> str:
    return str(case["id"])


@pytest.mark.parametrize("case", load("cases.jsonl"), ids=name)
def test_reported_case_is_recognised(case: Dict[str, Any], tmp_path: Path) -> None:
    found = run(case, tmp_path)
    assert found.failed_rules == ()
    assert first(found) == case["code"], [(f.code, f.score) for f in found.findings]


@pytest.mark.parametrize("case", VARIANTS, ids=name)
def test_variant_is_recognised(case: Dict[str, Any], tmp_path: Path) -> None:
    found = run(case, tmp_path)
    assert found.failed_rules == ()
    wanted = case["code"] if isinstance(case["code"], list) else [case["code"]]
    assert first(found) in wanted, [(f.code, f.score) for f in found.findings]


@pytest.mark.parametrize("case", load("healthy.jsonl"), ids=name)
def test_healthy_log_gives_no_error(case: Dict[str, Any], tmp_path: Path) -> None:
    found = run(case, tmp_path)
    assert found.failed_rules == ()
    assert found.ok, [(f.code, f.evidence) for f in found.findings]


@pytest.mark.parametrize("case", load("unsure.jsonl"), ids=name)
def test_what_cannot_be_told_names_the_fact_that_would_tell(case: Dict[str, Any], tmp_path: Path) -> None:
    found = run(case, tmp_path)
    assert not found.findings or found.findings[0].score < 0.8
    assert set(case["missing"]) <= set(found.missing_facts)


def test_every_code_has_variants() -> None:
    seen = {code for case in VARIANTS for code in ([case["code"]] if isinstance(case["code"], str) else [])}
    assert set(PUBLISHED) <= seen | {case["code"] for case in load("cases.jsonl")}
    assert len(VARIANTS) >= 120
