"""Patterns: examples match, and no input makes one slow."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from envsetup.diagnose.lines import LINE, Line
from envsetup.diagnose.patterns import KEPT, Pattern, observe, patterns, trouble

PATTERNS = patterns()
HOSTILE = [
    "a" * LINE,
    "1." * (LINE // 2),
    "lib" * (LINE // 3),
    " " * LINE,
    "error: " * (LINE // 7),
    "torch==1.0 " * (LINE // 11),
    "(from " * (LINE // 6),
    "C:\\python38\\" * (LINE // 12),
    "/usr/lib/python3/" * (LINE // 17),
    "''\"\"``" * (LINE // 6),
    "\\" * LINE,
    "- " * (LINE // 2),
]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: f"{p.observes}")
def test_no_input_makes_a_pattern_slow(pattern: Pattern) -> None:
    slowest = 0.0
    hint = pattern.hints[0]
    for text in HOSTILE:
        for line in (f"{hint} {text}"[:LINE], f"{text[: LINE - len(hint)]}{hint}"):
            start = time.thread_time()
            list(pattern.regex.finditer(line))
            slowest = max(slowest, time.thread_time() - start)
    assert slowest < 0.1, f"{slowest:.3f} s"


def test_examples_are_observed() -> None:
    for pattern in PATTERNS:
        for example in pattern.examples:
            assert pattern.observes in {seen.name for seen in observe([Line(1, example)])}


@pytest.mark.parametrize("source", [r"(a+)+b", r".*x", r"(?:ab)*c", r"(?:\w{1,9}\s?){1,40}!", r"x{1,9000}"])
def test_dangerous_expressions_are_refused(source: str) -> None:
    assert trouble(source)


@pytest.mark.parametrize(
    "source", [r"\s*a\s*", r"[\w.]{1,80}==\d{1,3}", r"(?:,[^,]{1,30}){0,4}", r"a|b(c|d)?"]
)
def test_harmless_expressions_are_taken(source: str) -> None:
    re.compile(source)
    assert trouble(source) == ""


def test_a_wrong_file_names_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from envsetup.diagnose import patterns as module
    from envsetup.knowledge.toml import KnowledgeError

    folder = tmp_path / "causes" / "patterns"
    folder.mkdir(parents=True)
    (folder / "x.toml").write_text(
        '[[pattern]]\nobserves = "a"\nhint = "ab"\nregex = "(a+)+"\nexamples = ["ab"]\n', encoding="utf-8"
    )
    monkeypatch.setattr(module, "constraints", lambda: tmp_path)
    module.patterns.cache_clear()
    try:
        with pytest.raises(KnowledgeError, match=r"x\.toml:4: 'regex' repeats"):
            module.patterns()
    finally:
        module.patterns.cache_clear()


def test_observations_of_one_pattern_are_bounded() -> None:
    lines = [Line(n, f"ModuleNotFoundError: No module named 'm{n}'") for n in range(1, 2000)]
    seen = [s for s in observe(lines) if s.name == "no-module"]
    assert 0 < len(seen) <= KEPT
