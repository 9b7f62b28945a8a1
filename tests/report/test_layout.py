from __future__ import annotations

import io
from typing import List

import pytest
from rich.console import Console
from rich.text import Text

from envsetup.report.layout import hang

LONG = "one two three four five six seven"
PATH = "/a/path/that/is/longer/than/the/terminal"

CASES = [
    pytest.param(30, True, LONG, ["-   one two three four five", "    six seven"], id="wrapped and indented"),
    pytest.param(30, False, LONG, ["-   " + LONG], id="whole where a program reads it"),
    pytest.param(20, True, LONG, ["-   " + LONG], id="whole where it is too narrow to wrap"),
    pytest.param(30, True, f"see {PATH} now", ["-   see", "    " + PATH, "    now"], id="a path stays whole"),
    pytest.param(30, False, "a\nb", ["-   a", "    b"], id="given lines are kept"),
]


@pytest.mark.parametrize(("width", "terminal", "text", "lines"), CASES)
def test_lines_hang_under_the_first(width: int, terminal: bool, text: str, lines: List[str]) -> None:
    file = io.StringIO()
    out = Console(file=file, width=width, force_terminal=terminal, color_system=None, soft_wrap=True)
    hang(out, Text(text), 4, Text("-"))
    assert file.getvalue().splitlines() == lines
