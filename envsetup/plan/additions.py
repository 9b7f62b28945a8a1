"""What the user wants besides the stack: requirements and requirement files."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from pathlib import Path
from typing import Dict, Iterator, List, Sequence, Set, Tuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envsetup.errors import UsageError
from envsetup.machine.secrets import mask

FILE_LIMIT = 1 << 20  # bytes of one requirements file
_NESTED = re.compile(r"^\s*(?:-r|--requirement|-c|--constraint)[ =]*(\S+)", re.MULTILINE)
_HASHED = re.compile(r"^\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*===?\s*\S+(.*--hash.*)$", re.MULTILINE)
_HASH = re.compile(r"--hash[= ](\w+:[0-9a-fA-F]+)")


@dataclasses.dataclass(frozen=True)
class Additions:
    """What the user wants besides the stack.

    Args:
        requirements: as ``--with`` takes them.
        files: requirement files, as ``-r`` takes them.
    """

    requirements: Tuple[str, ...] = ()
    files: Tuple[Path, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.requirements or self.files)

    def check(self) -> None:
        """Check what can be told without an index.

        Raises:
            UsageError: something is no requirement, or a file can't be read.
        """
        for requirement in self.requirements:
            _check(requirement)
        for file in self.files:
            if not file.is_file():
                raise UsageError(f"There is no file {file}.", "Check the path given with -r.")
        list(_texts(self.files))

    def record(self) -> Tuple[str, ...]:
        """Return what a receipt keeps of them, without passwords: files by the digest of their text."""
        digests = [f"-r sha256:{hashlib.sha256(t.encode()).hexdigest()}" for t in _texts(self.files)]
        return (*map(mask, self.requirements), *digests)


def stated_hashes(files: Sequence[Path]) -> Dict[str, Set[str]]:
    """Return the hashes (``sha256:…``) that requirement files demand, by normalised name."""
    found: Dict[str, Set[str]] = {}
    for text in _texts(files):
        for name, rest in _HASHED.findall(re.sub(r"\\\r?\n", " ", text)):
            found.setdefault(canonicalize_name(name), set()).update(h.lower() for h in _HASH.findall(rest))
    return found


def _check(text: str) -> None:
    path = Path(text).expanduser()
    if text.strip() and "\n" not in text and not text.startswith("-"):
        try:
            Requirement(text)
            return
        except InvalidRequirement:
            # A wheel or a project's folder, or the address of one, is a requirement too.
            if path.exists() or re.match(r"(\w+\+)?(https?|file|ssh|git)://\S+$", text):
                return
    raise UsageError(
        f"--with {text!r}: this is no requirement.",
        "Examples: timm==0.4.12, 'numpy>=1.19,<1.24', ./my_package-1.0-py3-none-any.whl. Options such as -e "
        "or --index-url go into a file for -r, or into pip's or uv's settings.",
    )


def _texts(files: Sequence[Path]) -> Iterator[str]:
    """Yield the text of each file, and of those that it names, once."""
    todo: List[Path] = list(files)
    seen: Set[Path] = set()
    while todo:
        file = todo.pop(0)
        if file in seen:
            continue
        seen.add(file)
        try:
            if file.stat().st_size > FILE_LIMIT:
                raise UsageError(f"{file} has over {FILE_LIMIT >> 20} MB: it is no requirements file.")
            text = file.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise UsageError(f"{file} can't be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise UsageError(
                f"{file} is no requirements file: it isn't UTF-8.", "Save it as UTF-8."
            ) from None
        yield text
        todo += [file.parent / name for name in _NESTED.findall(text) if "://" not in name]
