"""Patterns that read observations out of lines: loaded from ``constraints/causes/patterns``, and matched.

A pattern has a hint, a literal that its lines must hold. All hints are looked for in one text of all
lines, which costs little; only a line that holds a hint is matched against the regular expression.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import importlib
import re
import sys
from typing import Any, Dict, Iterator, List, Mapping, Sequence, Tuple

from envsetup.diagnose.lines import Line
from envsetup.knowledge.files import constraints
from envsetup.knowledge.toml import Table, load

TRIED = 600  # lines matched against one pattern
KEPT = 80  # observations kept of one pattern
IN_LINE = 40  # matches of one pattern in one line
REPEAT = 4000  # largest bound of a repetition
NESTED = 16  # largest bound of a repetition that holds another


@dataclasses.dataclass(frozen=True)
class Observation:
    """Something that a line says.

    Args:
        name: what kind of thing, e.g. ``missing-library``.
        fields: its data, e.g. ``{"file": "cudart64_101.dll"}``; only what the line held.
        line: the line's number, or 0 for what the user ran.
        text: the line.
    """

    name: str
    fields: Mapping[str, str]
    line: int
    text: str

    def get(self, *names: str) -> str:
        """Return the first field among ``names`` that is there, or an empty string."""
        for name in names:
            if self.fields.get(name):
                return self.fields[name]
        return ""

    @property
    def shown(self) -> str:
        """The line as evidence: its number and its text, shortened."""
        text = self.text.strip()
        if len(text) > 240:
            text = text[:180] + " … " + text[-50:]
        return f"line {self.line}: {text}" if self.line else f"wanted: {text}"


@dataclasses.dataclass(frozen=True)
class Pattern:
    """One rule for reading lines.

    Args:
        observes: the observation's name.
        hints: lower-case literals; a line must hold one.
        regex: what the line must match; its named groups are the fields.
        every: True to report each match of a line, not only the first.
        examples: lines that must match; the tests hold them to it.
    """

    observes: str
    hints: Tuple[str, ...]
    regex: re.Pattern[str]
    every: bool
    examples: Tuple[str, ...]


@functools.lru_cache(maxsize=1)
def patterns() -> Tuple[Pattern, ...]:
    """Return all patterns.

    Raises:
        KnowledgeError: when a pattern is wrong, or could take more than linear time.
    """
    out: List[Pattern] = []
    for path in sorted((constraints() / "causes" / "patterns").glob("*.toml")):
        root = load(path)
        out.extend(_pattern(table) for table in root.tables("pattern"))
        root.end()
    return tuple(out)


def _pattern(table: Table) -> Pattern:
    hints = (table.text("hint"),) if "hint" in table else table.texts("hints")
    for hint in hints:
        if hint != hint.lower() or len(hint) < 2:
            table.fail(f"a hint is lower-case and at least 2 characters long, not {hint!r}", "hints")
    source = table.text("regex")
    try:
        regex = re.compile(source, re.IGNORECASE)
        problem = trouble(source)
    except re.error as error:
        table.fail(f"'regex' is wrong: {error}", "regex")
    if problem:
        table.fail(f"'regex' {problem}", "regex")
    pattern = Pattern(table.text("observes"), hints, regex, table.flag("all"), table.texts("examples"))
    for example in pattern.examples:
        if not any(h in example.lower() for h in hints) or not regex.search(example):
            table.fail(f"example does not match: {example!r}", "examples")
    table.end()
    return pattern


def trouble(source: str) -> str:
    """Return why a regular expression could take more than linear time, or an empty string.

    Unbounded repetitions are for one character class only; a repetition that holds another repetition
    is bounded by a small number.
    """
    parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
    return _trouble(parser.parse(source), parser)


def _trouble(parsed: Any, parser: Any) -> str:
    for operation, argument in parsed:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            _, most, inner = argument
            unbounded = most == parser.MAXREPEAT
            if unbounded and not (len(inner) == 1 and str(inner[0][0]) == "IN"):
                return "repeats a group or any character without a bound: use {0,n}"
            if not unbounded and most > REPEAT:
                return f"repeats more than {REPEAT} times"
            if most > NESTED and _repeats(inner):
                return f"repeats a repetition more than {NESTED} times"
            problem = _trouble(inner, parser)
        else:
            problem = next((p for p in (_trouble(part, parser) for part in _parts(argument)) if p), "")
        if problem:
            return problem
    return ""


def _repeats(parsed: Any) -> bool:
    for operation, argument in parsed:
        if str(operation).endswith("_REPEAT") and argument[0] != argument[1]:
            return True
        if any(_repeats(part) for part in _parts(argument)):
            return True
    return False


def _parts(argument: Any) -> Iterator[Any]:
    """Yield the sub-patterns of a parsed operation's argument."""
    if hasattr(argument, "data"):
        yield argument
    elif isinstance(argument, (tuple, list)):
        for item in argument:
            yield from _parts(item)


def observe(lines: Sequence[Line]) -> List[Observation]:
    """Return what the lines say, in the order of the lines."""
    if not lines:
        return []  # without compiling a single pattern
    found: List[Tuple[int, int, Observation]] = []
    index = _Index([line.text.lower() for line in lines])
    for order, pattern in enumerate(patterns()):
        kept = 0
        for row in index.rows(pattern.hints):
            line = lines[row]
            for match in _matches(pattern, line.text):
                fields = {k: v.strip() for k, v in match.groupdict().items() if v is not None}
                found.append((row, order, Observation(pattern.observes, fields, line.number, line.text)))
                kept += 1
            if kept >= KEPT:
                break
    found.sort(key=lambda item: item[:2])
    return [observation for _, _, observation in found]


def _matches(pattern: Pattern, text: str) -> Iterator[re.Match[str]]:
    if not pattern.every:
        match = pattern.regex.search(text)
        if match:
            yield match
        return
    for count, match in enumerate(pattern.regex.finditer(text)):
        if count >= IN_LINE:
            return
        yield match


class _Index:
    """Finds the lines that hold a literal.

    Args:
        lines: lower-case lines.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._text = "\n".join(lines)
        self._starts: List[int] = []
        at = 0
        for line in lines:
            self._starts.append(at)
            at += len(line) + 1
        self._cache: Dict[str, List[int]] = {}

    def rows(self, hints: Sequence[str]) -> List[int]:
        """Return the numbers of the lines that hold one of ``hints``: the first and the last of many."""
        rows = sorted({row for hint in hints for row in self._rows(hint)})
        return rows if len(rows) <= TRIED else rows[: TRIED // 2] + rows[-TRIED // 2 :]

    def _rows(self, hint: str) -> List[int]:
        if hint in self._cache:
            return self._cache[hint]
        rows: List[int] = []
        at = self._text.find(hint)
        while at >= 0:
            row = bisect.bisect_right(self._starts, at) - 1
            rows.append(row)
            if row + 1 >= len(self._starts):
                break
            at = self._text.find(hint, self._starts[row + 1])
        self._cache[hint] = rows
        return rows
