"""What the user asked for: backend, framework, stack, Python."""

from __future__ import annotations

import dataclasses
import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsetup.errors import UsageError
from envsetup.knowledge.stacks import BACKENDS, FRAMEWORKS, Row, stacks


@dataclasses.dataclass(frozen=True)
class Wish:
    """Limits that the user set. None leaves a choice open.

    Args:
        backend: ``dml``, ``cuda`` …; ``auto`` or None is any.
        framework: ``torch``, ``tensorflow`` …
        stack: a family, with a version or a range if wanted: ``tensorflow-gpu``, ``tensorflow-gpu==2.3``,
            ``tensorflow-gpu<2``.
        python: a minor version or an interpreter's path.
    """

    backend: str | None = None
    framework: str | None = None
    stack: str | None = None
    python: str | None = None

    @classmethod
    def of(cls, backend: str | None, framework: str | None, stack: str | None, python: str | None) -> Wish:
        """Return a wish from words as people type them: any case, and common names of frameworks."""
        if framework is not None:
            framework = {"pytorch": "torch", "tf": "tensorflow"}.get(framework.lower(), framework.lower())
        return cls(backend.lower() if backend else None, framework, stack, python)

    def admits(self, row: Row) -> bool:
        """Return whether a row is among those that the user would take."""
        if self.backend not in (None, "auto", row.backend) or self.framework not in (None, row.framework):
            return False
        if self.stack is None:
            return True
        name, versions = parse_stack(self.stack)
        return row.family == name and versions.contains(Version(row.version), prereleases=True)

    def check(self) -> None:
        """Check the words.

        Raises:
            UsageError: for a backend, framework or stack that does not exist, with those that do.
        """
        if self.python is not None and re.fullmatch(r"[\d.]*", self.python):
            served = sorted({v for s in stacks() for r in s.rows for v in r.python}, key=Version)
            if self.python not in served:
                hint = f"Stacks exist for {', '.join(served)}; or give the path of an interpreter."
                raise UsageError(f"No stack exists for Python {self.python!r}.", hint)
        for word, value, known in (
            ("backend", self.backend, ("auto", *BACKENDS)),
            ("framework", self.framework, FRAMEWORKS),
        ):
            if value is not None and value not in known:
                raise UsageError(f"There is no {word} {value!r}.", f"Known: {', '.join(known)}.")
        if self.stack is not None:
            name, _ = parse_stack(self.stack)
            families = [s.name for s in stacks()]
            if name not in families:
                raise UsageError(f"There is no stack {name!r}.", f"Known: {', '.join(families)}.")


def parse_stack(text: str) -> tuple[str, SpecifierSet]:
    """Split ``tensorflow-gpu==2.3`` into the family and a range; ``==2.3`` takes any 2.3, ``==2.x`` any 2."""
    match = re.match(r"^([A-Za-z0-9._-]+?)\s*((?:[<>=!~]=?).*)?$", text.strip())
    if match is None:
        raise UsageError(f"{text!r} is no stack.", "Give a name such as tensorflow-gpu==2.3.")
    specifier = re.sub(r"(?<![<>!~=])=(?!=)", "==", (match.group(2) or "").replace(" ", ""))
    specifier = re.sub(r"==(\d+(?:\.\d+)?)(?:\.[x*])?(?=,|$)", r"==\1.*", specifier)
    try:
        return canonicalize_name(match.group(1)), SpecifierSet(specifier)
    except InvalidSpecifier:
        raise UsageError(
            f"{match.group(2)!r} is no version or range.", "Examples: ==2.3, <2, >=2.4,<2.6."
        ) from None
