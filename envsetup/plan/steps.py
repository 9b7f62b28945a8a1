"""Order the steps that build an environment."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from envsetup.knowledge.stacks import Replacement, Row
from envsetup.plan.lock import Lock, Package
from envsetup.resolve.resolver import Resolution
from envsetup.resolve.verdict import Python, Verdict

SCHEMA = 1


@dataclasses.dataclass(frozen=True)
class Step:
    """One step.

    Args:
        action: ``create``, ``install``, ``remove``, ``provide`` or ``probe``.
        packages: what it installs or removes.
        elided: the documented procedure has this step and the plan leaves it out; the result is the same.
        replacement: for ``provide``: what is recorded as provided.
    """

    action: str
    packages: Tuple[Package, ...] = ()
    elided: bool = False
    replacement: Replacement | None = None

    @property
    def bytes(self) -> int:
        """Bytes to download; for an elided step, the bytes saved."""
        return sum(p.size for p in self.packages) if self.action == "install" or self.elided else 0

    def to_json(self) -> Dict[str, Any]:
        """Return ``{action, packages, files, elided, bytes}``."""
        named = [p.requirement for p in self.packages]
        if self.replacement is not None:
            named = [self.replacement.provided]
        return {
            "action": self.action,
            "packages": named,
            "files": [p.file for p in self.packages if p.file],
            "elided": self.elided,
            "bytes": self.bytes,
        }


@dataclasses.dataclass(frozen=True)
class Plan:
    """What ``create`` will do.

    Args:
        verdict: the chosen row with its interpreter and platform.
        lock: the exact packages.
        wish_key: what the packages were chosen for, in a person's words: stack, Python, requirements.
        given: a digest of what else decided about them; see :func:`envsetup.plan.earlier.wish_digest`.
    """

    verdict: Verdict
    resolution: Resolution
    lock: Lock
    steps: Tuple[Step, ...]
    wish_key: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    given: str = ""
    assumed: Tuple[str, ...] = ()

    @property
    def row(self) -> Row:
        """The chosen row."""
        return self.verdict.row

    @property
    def python(self) -> Python:
        """The interpreter; a verdict that fits always has one."""
        assert self.verdict.python is not None
        return self.verdict.python

    @property
    def download_bytes(self) -> int:
        """Size of all files that are installed, in bytes; those already in uv's cache count too."""
        return sum(s.bytes for s in self.steps if not s.elided)

    @property
    def saved_bytes(self) -> int:
        """Size of what the documented procedure would download besides, in bytes."""
        return sum(s.bytes for s in self.steps if s.elided)

    def to_json(self) -> Dict[str, Any]:
        """Return the plan as ``envsetup create --dry-run --json`` prints it."""
        row, python = self.row, self.python
        return {
            "schema": SCHEMA,
            "stack": row.name,
            "backend": row.backend,
            "framework": row.framework,
            "python": python.version,
            "interpreter": python.path or None,
            "fetch_python": python.fetch,
            "platform": self.verdict.platform,
            "gpu": dict(self.verdict.gpu) if self.verdict.gpu else None,
            "assumed": list(self.assumed),
            "steps": [step.to_json() for step in self.steps],
            "download_bytes": self.download_bytes,
            "saved_bytes": self.saved_bytes,
            "reasons": self.resolution.reasons,
            "rejected": [v.to_json() for v in self.resolution.rejected],
        }


def order(
    row: Row, lock: Lock, *, as_documented: bool = False, provides: bool = True, probe: bool = True
) -> Tuple[Step, ...]:
    """Return the steps for a row.

    From ``replaces`` follows the documented order: what depends on the replaced distribution first, then
    the replaced distribution goes, then its replacement comes. By default the replaced one is never
    fetched, since nothing of it stays; ``as_documented`` installs and removes it.
    """
    replacement_names = {r.by for r in row.replaces}
    first, second = _split(lock.packages, replacement_names if lock.replaced else set())
    steps = [Step("create")]
    if lock.replaced and as_documented:
        steps += [Step("install", (*first, *lock.replaced)), Step("remove", lock.replaced)]
    else:
        steps.append(Step("install", tuple(first)))
        if lock.replaced:
            steps.append(Step("remove", lock.replaced, elided=True))
    if second:
        steps.append(Step("install", tuple(second)))
    if provides:
        steps += [Step("provide", replacement=r) for r in row.replaces]
    if probe:
        steps.append(Step("probe"))
    return tuple(steps)


def _split(packages: Sequence[Package], names: set[str]) -> Tuple[List[Package], List[Package]]:
    """Return the packages not in ``names``, and those in it."""
    return [p for p in packages if p.name not in names], [p for p in packages if p.name in names]
