"""Understand the install commands that a log or a question shows. They are read, never run."""

from __future__ import annotations

import dataclasses
import re
from typing import List, Tuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envsetup.diagnose import releases

_VALUED = {
    "-f": "links",
    "--find-links": "links",
    "-i": "index",
    "--index-url": "index",
    "--default-index": "index",
    "--extra-index-url": "extra",
    "--index": "extra",
    "-c": "channel",
    "--channel": "channel",
    "-r": "file",
    "--requirement": "file",
    "-n": "environment",
    "--name": "environment",
    "-p": "python",
    "--python": "python",
    "--target": "target",
    "--torch-backend": "backend",
}


@dataclasses.dataclass(frozen=True)
class Command:
    """One install command.

    Args:
        tool: ``pip``, ``uv``, ``conda`` …
        requirements: what it asks for.
        index, extra, links, channels: where it looks.
        options: the other options.
        line: the log line, or 0 for what the user ran.
    """

    tool: str
    verb: str
    requirements: Tuple[Requirement, ...]
    index: Tuple[str, ...]
    extra: Tuple[str, ...]
    links: Tuple[str, ...]
    channels: Tuple[str, ...]
    options: Tuple[str, ...]
    line: int
    text: str

    @property
    def names(self) -> Tuple[str, ...]:
        """The normalised names of what it asks for."""
        return tuple(canonicalize_name(r.name) for r in self.requirements)

    @property
    def urls(self) -> Tuple[str, ...]:
        """Everywhere it looks."""
        return (*self.index, *self.extra, *self.links)


def parse(tool: str, verb: str, rest: str, line: int, text: str) -> Command:
    """Return the command that ``rest``, the words after its verb, makes."""
    places: dict[str, List[str]] = {"index": [], "extra": [], "links": [], "channel": []}
    requirements: List[Requirement] = []
    options: List[str] = []
    words = re.findall(r"[^\s\"']{1,300}|\"[^\"]{0,300}\"|'[^']{0,300}'", rest)[:80]
    words = [word.strip("\"'`,") for word in words]
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            kind = _VALUED.get(name if equals and name.startswith("--") else word)
            if kind is None:
                options.append(word)
                continue
            if not (equals and name.startswith("--")):
                value = words[at] if at < len(words) else ""
                at += 1
            places.setdefault(kind, []).append(value)
            continue
        if word in ("#", "&&", "and", "then", "in", "over", "with", "on", "from", "into", "->", "("):
            if word not in ("and",):
                break
            continue
        found = releases.requirement(word)
        if found is not None:
            requirements.append(found)
    return Command(
        tool=tool.split()[0].lower().split(".exe")[0],
        verb=verb,
        requirements=tuple(requirements),
        index=tuple(places["index"]),
        extra=tuple(places["extra"]),
        links=tuple(places["links"]),
        channels=tuple(places["channel"]),
        options=tuple(options),
        line=line,
        text=text.strip()[:240],
    )


def index_label(url: str) -> str:
    """Return the label of one of PyTorch's indexes: ``cu121`` for ``…/whl/cu121``; empty for others."""
    match = re.search(
        r"pytorch\.org/whl/(?:nightly/|test/|lts/[\d.]{1,6}/)?(cu\d{2,3}|cpu|rocm[\d.]{1,8}|xpu)\b", url
    )
    return match.group(1) if match else ""
