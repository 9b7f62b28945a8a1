"""Read package versions as people and tools write them."""

from __future__ import annotations

import dataclasses
import re
from typing import Tuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_VERSION = re.compile(
    r"(?<![\w.])v?(\d{1,4}(?:\.\d{1,8}){0,4}(?:\.?(?:a|b|rc|dev|post)\d{0,12}){0,3}(?:\.(?=x|\*))?)"
    r"(?:\+([A-Za-z0-9.]{1,40}))?"
)
_OPERATOR = re.compile(r"^\s*(===|==|>=|<=|~=|!=|<|>|=)")


@dataclasses.dataclass(frozen=True)
class Release:
    """A package as far as it is known.

    Args:
        name: normalised.
        version: None when it isn't said.
        local: local version label, e.g. ``cu121`` or ``cpu``; may be empty.
        exact: False for a range such as ``>=1.6`` or ``1.15.x``.
        text: what was written.
        line: the log line, or 0.
    """

    name: str
    version: Version | None
    local: str = ""
    exact: bool = True
    text: str = ""
    line: int = 0

    @property
    def shown(self) -> str:
        """The package for people, e.g. ``torch 2.1.0+cu121``."""
        label = f"+{self.local}" if self.local else ""
        return f"{self.name} {self.version}{label}" if self.version else self.name


def version(text: str | None) -> Version | None:
    """Return the first version in a text, without its local label; None when there is none."""
    match = _VERSION.search(text or "")
    if not match:
        return None
    try:
        return Version(match.group(1).rstrip("."))
    except InvalidVersion:
        return None


def release(name: str, text: str | None, line: int = 0) -> Release:
    """Read a version that may be a range, carry words, or be missing.

    Example:
        >>> release("torch", "2.9.1+cpu").local, release("tensorflow", ">=1.6").exact
        ('cpu', False)
    """
    text = (text or "").strip()[:200]
    match = _VERSION.search(text)
    found = version(text)
    local = (match.group(2) or "") if match and found else ""
    # "CUDA 12.1 build" and "rocm6.2 nightly" are no version of the package but a kind of build
    build = re.search(
        r"(?<![A-Za-z\d])(cuda|cu|rocm|hip)\s?-?\s?(\d{1,3}(?:\.\d{1,2}){0,2})", text, re.IGNORECASE
    )
    if build and (not match or match.start() >= build.start()):
        found, local = None, local or label(build.group(1), build.group(2))
    elif build and not local:
        local = label(build.group(1), build.group(2))
    if not local and re.search(r"(?<![A-Za-z])cpu(?:only)?(?![A-Za-z])", text, re.IGNORECASE):
        local = "cpu"
    operator = _OPERATOR.match(text)
    ranged = bool(operator and operator.group(1) not in ("==", "===", "=")) or bool(
        re.search(r"\d\.(?:x|\*)", text)
    )
    return Release(canonicalize_name(name), found, local, not ranged, text, line)


def label(kind: str, number: str) -> str:
    """Return a build's label: ``cu121`` or ``rocm6.2``."""
    if kind.lower() in ("rocm", "hip"):
        return f"rocm{number}"
    return "cu" + number.replace(".", "")


def cuda_of(local: str) -> str:
    """Return the CUDA version of a label: ``cu121`` is ``12.1``, ``cu92`` is ``9.2``, ``cu12`` is ``12``."""
    match = re.match(r"^cu(\d{2,3})$", local)
    if not match:
        return ""
    digits = match.group(1)
    if len(digits) == 2:
        return f"{digits[0]}.{digits[1]}" if digits[0] != "1" else digits
    return f"{digits[:2]}.{digits[2:]}"


def requirement(text: str) -> Requirement | None:
    """Return a requirement, or None when the text is none."""
    text = text.strip().strip("\"'`,;").replace("===", "==")
    if not re.match(r"^[A-Za-z][\w.-]{0,80}(\[[\w, -]{0,80}\])?\s*([<>=!~].{0,200})?$", text):
        return None
    try:
        return Requirement(re.sub(r"(?<![=<>!~])=(?!=)", "==", text))
    except InvalidRequirement:
        return None


def specifier(text: str) -> SpecifierSet | None:
    """Return a version range, or None when the text is none."""
    try:
        return SpecifierSet(text.strip().strip("\"'`,; ").replace("===", "=="))
    except InvalidSpecifier:
        return None


def pinned(text: str) -> Tuple[Version | None, str]:
    """Return the version and the label that a specifier pins exactly: ``==2.3.0+cu121``."""
    match = re.match(r"^\s*={2,3}\s*([\w.!*]{1,40})(?:\+([\w.]{1,40}))?", text)
    return (version(match.group(1)), match.group(2) or "") if match else (None, "")


def minor(of: Version) -> str:
    """Return ``major.minor``."""
    return f"{of.release[0]}.{of.release[1] if len(of.release) > 1 else 0}"
