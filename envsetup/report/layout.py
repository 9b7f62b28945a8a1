"""Lines that read well on a narrow terminal, and stay whole where a program reads them."""

from __future__ import annotations

import re
from typing import List

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_NARROWEST = 24  # columns below which wrapping makes it worse


def hang(out: Console, text: Text, indent: int = 0, first: Text | None = None) -> None:
    """Write ``text`` indented; on a terminal wrapped, with every line under the first.

    Args:
        indent: columns.
        first: what stands in the indent of the first line.
    """
    width = out.width - indent
    wraps = out.is_terminal and width >= _NARROWEST
    lead = first.copy() if first else Text()
    for line in text.split("\n", allow_blank=True):
        for part in line.divide(_breaks(line.plain, width)) if wraps else [line]:
            part.rstrip()
            lead.pad_right(max(0, indent - lead.cell_len))
            out.print(Text.assemble(lead, part))
            lead = Text()


def _breaks(line: str, width: int) -> List[int]:
    """Return where to break between words. A word too long stays whole: a path can then be copied."""
    breaks, column = [], 0
    for word in re.finditer(r"\S+\s*", line):
        if column and column + cell_len(word.group().rstrip()) > width:
            breaks.append(word.start())
            column = 0
        column += cell_len(word.group())
    return breaks
