"""What the resolver says of one row: what fits, what does not, what is not known."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Mapping, Tuple

from envsetup.knowledge.stacks import Row


@dataclasses.dataclass(frozen=True)
class Unmet:
    """A requirement that the machine does not meet.

    Args:
        fact: the fact's name.
        needs: what the row needs, for a person.
        found: what the machine has, for a person.
        source: where that was read.
        fix: the smallest change that would do.
    """

    fact: str
    needs: str
    found: str
    source: str
    fix: str

    def to_json(self) -> Dict[str, str]:
        """Return the fields as a dict."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        where = f" ({self.source})" if self.source else ""
        return f"{self.fact}: needs {self.needs}; found {self.found}{where}"


@dataclasses.dataclass(frozen=True)
class Python:
    """The interpreter that an environment is made from.

    Args:
        version: minor version, e.g. ``3.8``.
        path: the interpreter; empty when it must be fetched, or when planning for another machine.
        fetch: True when the machine has none and uv can download one.
    """

    version: str
    path: str = ""
    fetch: bool = False


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One row judged against one machine.

    Args:
        unmet: empty when the row fits.
        met: what fits, for people.
        unknown: what could not be told, for people; it does not refuse the row.
        python: the interpreter chosen; None when none will do.
        platform: name of the platform whose wheels fit; empty when none does.
        gpu: the adapter that the row would use, with its ``index`` among the machine's adapters.
    """

    row: Row
    unmet: Tuple[Unmet, ...] = ()
    met: Tuple[str, ...] = ()
    unknown: Tuple[str, ...] = ()
    python: Python | None = None
    platform: str = ""
    gpu: Mapping[str, Any] | None = None

    @property
    def fits(self) -> bool:
        """Whether the machine meets every requirement that could be checked."""
        return not self.unmet

    def to_json(self) -> Dict[str, Any]:
        """Return ``{stack, unmet}`` as plans list refused rows."""
        return {"stack": self.row.name, "unmet": [u.to_json() for u in self.unmet]}
