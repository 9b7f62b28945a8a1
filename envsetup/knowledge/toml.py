"""Read a TOML file of ``constraints/`` and check it; a mistake is reported with file and line."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NoReturn, Sequence, Tuple, TypeVar, Union

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from envsetup.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Key = Tuple[Union[str, int], ...]
T = TypeVar("T")

SIZE_LIMIT = 8 << 20  # bytes; the largest file of constraints/ is under 1 MB


class KnowledgeError(UsageError):
    """A data file is wrong.

    Args:
        path: the file.
        line: 1-based line of the mistake, or of the table that holds it.
        problem: what is wrong and what would be right.
    """

    def __init__(self, path: Path, line: int, problem: str) -> None:
        super().__init__(f"{path}:{line}: {problem}")
        self.path, self.line, self.problem = path, line, problem


class Table:
    """One table of a TOML file that knows where it stands.

    Every reader raises :class:`KnowledgeError` when the value is missing or of the wrong kind. Call
    :meth:`end` when all keys were read: a key that nobody asked for is a spelling mistake.

    Example:
        >>> table = load(Path("constraints/stacks/cpu.toml"))     # doctest: +SKIP
        >>> table.text("name"), [row.text("version") for row in table.tables("row")]  # doctest: +SKIP
    """

    def __init__(self, data: Dict[str, Any], path: Path, source: str, key: Key = ()) -> None:
        self.path = path
        self._data, self._source, self._key = data, source, key
        self._read: set[str] = set()

    def fail(self, problem: str, name: str | None = None) -> NoReturn:
        """Raise a KnowledgeError at ``name``'s line in this table (or at the table itself)."""
        key = self._key if name is None else (*self._key, name)
        raise KnowledgeError(self.path, line_of(self._source, key), problem)

    def __contains__(self, name: str) -> bool:
        return name in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def _take(self, name: str, kind: Any, what: str, default: Any) -> Any:
        self._read.add(name)
        if name not in self._data:
            if default is _REQUIRED:
                self.fail(f"{name!r} is missing: it must be {what}")
            return default
        value = self._data[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.fail(f"{name!r} must be {what}, not {value!r:.60}", name)
        return value

    def text(self, name: str, default: Any = None) -> str:
        """Return a string; required unless a default string is given."""
        value: str = self._take(name, str, "text", _REQUIRED if default is None else default)
        return value

    def choice(self, name: str, allowed: Sequence[str], default: str | None = None) -> str:
        """Return a string that is one of ``allowed``."""
        value = self.text(name, default)
        if value not in allowed:
            self.fail(f"{name!r} must be one of {', '.join(allowed)}, not {value!r}", name)
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        """Return an integer."""
        value: int = self._take(name, int, "a whole number", _REQUIRED if default is None else default)
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """Return true or false."""
        value: bool = self._take(name, bool, "true or false", default)
        return value

    def texts(self, name: str, default: Sequence[str] | None = None) -> Tuple[str, ...]:
        """Return a list of strings."""
        value = self._take(name, list, "a list of texts", _REQUIRED if default is None else list(default))
        for item in value:
            if not isinstance(item, str):
                self.fail(f"{name!r} must hold texts only, not {item!r:.60}", name)
        return tuple(value)

    def parsed(self, name: str, parse: Callable[[str], T], what: str, default: str | None = None) -> T:
        """Return a string turned into something else by ``parse``, which raises ValueError when it can't."""
        value = self.text(name, default)
        try:
            return parse(value)
        except ValueError as error:
            self.fail(f"{name!r} must be {what}, not {value!r}: {error}", name)

    def version(self, name: str, default: str | None = None) -> Version:
        """Return a version such as ``10.1``."""
        return self.parsed(name, Version, "a version", default)

    def specifier(self, name: str, default: str | None = None) -> SpecifierSet:
        """Return a version range such as ``>=7.6,<8``."""
        return self.parsed(name, SpecifierSet, "a version range", default)

    def requirements(self, name: str, default: Sequence[str] | None = None) -> Tuple[Requirement, ...]:
        """Return a list of requirements such as ``protobuf<3.21``."""
        out = []
        for text in self.texts(name, default):
            try:
                out.append(Requirement(text))
            except InvalidRequirement as error:
                self.fail(f"{name!r}: {text!r} is no requirement: {error}", name)
        return tuple(out)

    def table(self, name: str, optional: bool = False) -> Table:
        """Return a sub-table; an empty one when it is optional and absent."""
        value = self._take(name, dict, "a table", {} if optional else _REQUIRED)
        return Table(value, self.path, self._source, (*self._key, name))

    def tables(self, name: str) -> Iterator[Table]:
        """Yield the tables of an array ``[[name]]`` (none when it is absent)."""
        for index, item in enumerate(self._take(name, list, "an array of tables", [])):
            if not isinstance(item, dict):
                self.fail(f"{name!r} must be an array of tables", name)
            yield Table(item, self.path, self._source, (*self._key, name, index))

    def text_map(self, name: str) -> Dict[str, str]:
        """Return a sub-table of strings as a dict (empty when absent)."""
        table = self.table(name, optional=True)
        return {key: table.text(key) for key in table}

    def end(self) -> None:
        """Check that every key was read."""
        for name in self._data:
            if name not in self._read:
                self.fail(f"unknown key {name!r}; known here: {', '.join(sorted(self._read))}", name)


_REQUIRED: Any = object()


def load(path: Path) -> Table:
    """Return the file's root table.

    Raises:
        KnowledgeError: when it can't be read, is over 8 MiB, is no UTF-8 or no TOML.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(SIZE_LIMIT + 1)
        if len(raw) > SIZE_LIMIT:
            raise KnowledgeError(path, 1, "is larger than 8 MiB")
        source = raw.decode("utf-8")
        return Table(tomllib.loads(source), path, source)
    except OSError as error:
        raise KnowledgeError(path, 1, f"can't be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise KnowledgeError(path, 1 + raw[: error.start].count(b"\n"), "is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"at line (\d+)", str(error))
        raise KnowledgeError(path, int(match.group(1)) if match else 1, f"is not TOML: {error}") from None


def line_of(source: str, key: Key) -> int:
    """Return the 1-based line at which ``key`` is defined, or the nearest table above it.

    The TOML reader of the standard library keeps no positions, so headers and keys are found by text.
    """
    lines = source.splitlines()
    found, start, end = 1, 0, len(lines)
    prefix: List[str] = []
    for index, part in enumerate(key):
        if isinstance(part, int):
            continue
        prefix.append(part)
        nth = key[index + 1] if index + 1 < len(key) and isinstance(key[index + 1], int) else 0
        header = re.compile(r"^\s*\[\[?\s*" + r"\s*\.\s*".join(_key_pattern(p) for p in prefix) + r"\s*\]\]?")
        heads = [n for n in range(start, end) if header.match(lines[n])]
        if isinstance(nth, int) and len(heads) > nth:
            start = heads[nth]
            end = heads[nth + 1] if len(heads) > nth + 1 else end
            found = start + 1
            continue
        assignment = re.compile(r"^\s*(?:[\w.\"' -]+\.)?" + _key_pattern(part) + r"\s*=")
        inline = re.compile(r"[{,]\s*" + _key_pattern(part) + r"\s*=")
        for pattern in (assignment.match, inline.search):
            hits = [n for n in range(start, end) if pattern(lines[n])]
            if hits:
                start, found = hits[0], hits[0] + 1
                break
    return found


def _key_pattern(part: str) -> str:
    return r"[\"']?" + re.escape(part) + r"[\"']?"


__all__ = ["InvalidSpecifier", "InvalidVersion", "KnowledgeError", "Table", "line_of", "load"]
