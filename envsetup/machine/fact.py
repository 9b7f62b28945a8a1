"""Facts are virtual packages: a name, a value, where it was read, and whether it is known."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Iterable, Iterator, Mapping, Tuple

from envsetup.machine.secrets import mask

SCHEMA = 1


@dataclasses.dataclass(frozen=True)
class Fact:
    """One thing known, or known to be unknown, about a machine.

    Args:
        name: the fact's name, e.g. ``driver.nvidia``.
        value: a JSON value; its shape for each name is in :data:`envsetup.machine.names.NAMES`.
            ``None`` or ``[]`` with ``known=True`` means "looked for, and not there".
        source: where it was read (a path, a registry key, a library), or why it could not be.
        known: False when nothing could be read; the value is then ``None``.
        assumed: True when the user stated it with ``--assume``.
        others: what other sources said, when they disagree: ``(source, value)`` pairs.
    """

    name: str
    value: Any
    source: str
    known: bool = True
    assumed: bool = False
    others: Tuple[Tuple[str, Any], ...] = ()

    def to_json(self) -> Dict[str, Any]:
        """Return ``{value, source, known}``, ``assumed`` and ``others`` if they apply; no credentials."""
        out: Dict[str, Any] = {"value": mask(self.value), "source": mask(self.source), "known": self.known}
        if self.assumed:
            out["assumed"] = True
        if self.others:
            out["others"] = [{"source": mask(s), "value": mask(v)} for s, v in self.others]
        return out


def unknown(name: str, why: str) -> Fact:
    """Return a fact that could not be read; ``why`` says what was tried."""
    return Fact(name, None, why, known=False)


@dataclasses.dataclass(frozen=True)
class Machine:
    """All facts of one machine. A name that is not among them is unknown.

    Example:
        >>> m = Machine.of([Fact("os", "linux", "platform")])
        >>> m.value("os"), m.get("cuda").known
        ('linux', False)
    """

    facts: Mapping[str, Fact]

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> Machine:
        """Build a machine from facts; a later fact of the same name wins."""
        return cls({f.name: f for f in facts})

    def get(self, name: str) -> Fact:
        """Return the fact, or an unknown one when nothing was read."""
        return self.facts.get(name) or unknown(name, "not looked for")

    def value(self, name: str, default: Any = None) -> Any:
        """Return the fact's value, or ``default`` when it is unknown."""
        fact = self.get(name)
        return fact.value if fact.known else default

    def with_facts(self, facts: Iterable[Fact]) -> Machine:
        """Return a copy in which ``facts`` replace those of the same names."""
        return Machine({**self.facts, **{f.name: f for f in facts}})

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts.values())

    @property
    def system(self) -> str | None:
        """``windows``, ``wsl``, ``linux`` or ``macos``; None when the system is unknown."""
        os = self.value("os")
        if os == "linux" and self.value("wsl"):
            return "wsl"
        return str(os) if os else None

    @property
    def assumed(self) -> list[str]:
        """The names of the facts that the user stated, without those that only follow from them."""
        return sorted(f.name for f in self if f.assumed and f.name not in ("cuda.driver", "directx"))

    def to_json(self) -> Dict[str, Any]:
        """Return ``{schema, facts}`` as ``envsetup facts --json`` prints it."""
        return {"schema": SCHEMA, "facts": {f.name: f.to_json() for f in sorted(self, key=lambda f: f.name)}}
