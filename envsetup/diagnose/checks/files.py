"""Files that are not as their distribution installed them: overwritten by another, cut off, or gone."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import os
import re
from pathlib import Path
from typing import Dict, Iterable, List, Mapping, Set, Tuple

from envsetup.build.elf import DamagedError
from envsetup.build.elf import read as read_elf
from envsetup.diagnose.checks.check import Problem, Repair, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.installed import Distribution, Entry, distributions, leftovers
from envsetup.diagnose.finding import Candidate

SHOWN = 5  # files named in the evidence
MINGLED = 3  # this many overwritten modules of one package are no accident

_BINARY = re.compile(r"\.(so(\.\d+)*|pyd|dll|dylib)$", re.IGNORECASE)
_CODE = re.compile(r"\.(py|pyi|so(\.\d+)*|pyd|dll|dylib)$", re.IGNORECASE)
# Folders that careless wheels leave beside their package; nobody imports them.
_CARELESS = frozenset(
    {"tests", "test", "docs", "doc", "examples", "example", "scripts", "tools", "benchmarks"}
)


@dataclasses.dataclass(frozen=True)
class _Wrong:
    """One file: what is wrong with it, for people, and whether a distribution that it belongs to can run."""

    path: str
    what: str
    fatal: bool


def look(context: Context) -> Seen:
    """Compare what each distribution recorded with what is there: sizes, and hashes where two list a file."""
    first: Dict[str, Tuple[Distribution, Entry]] = {}
    several: Dict[str, List[Tuple[Distribution, Entry]]] = {}
    for distribution in context.installed:
        for entry in distribution.record:
            path = f"{distribution.folder}/{entry.path}"
            claim = (distribution, entry)
            known = first.setdefault(path, claim)
            if known is not claim:
                several.setdefault(path, [known]).append(claim)
    wrong: Dict[Distribution, List[_Wrong]] = {}
    lost: Dict[Tuple[Distribution, Distribution], List[str]] = {}
    for path, (distribution, entry) in first.items():
        if not _counts(entry.path):
            continue
        claimed = several.get(path, ())
        if len({other.hash for _, other in claimed}) > 1:
            _dispute(path, claimed, lost, wrong)
            continue
        fault = _fault(path, entry)
        if fault:
            for owner in {d: None for d, _ in claimed} or (distribution,):
                wrong.setdefault(owner, []).append(fault)
    problems = [*_clobbered(context, lost), *_damaged(context, wrong, lost), *_records(context)]
    return Seen(tuple(problems), detail=f"{len(first)} files of {len(context.installed)} distributions")


def unlike_record(folder: Path) -> Tuple[str, ...]:
    """Return the distributions in a folder of which a file is not, to the byte, what its record says."""
    found: Dict[str, None] = {}
    for distribution in distributions([folder]):
        for entry in distribution.record:
            if _counts(entry.path) and entry.hash:
                _, digest = _content(f"{folder}/{entry.path}", {entry.size})
                if digest != entry.hash and distribution.name not in found:
                    found[distribution.name] = None
    return tuple(found)


def _counts(path: str) -> bool:
    """Leave out what programs rewrite: caches, scripts with an interpreter's path, the records themselves."""
    return not (path.endswith(".pyc") or path.startswith(("../", "/")) or ".dist-info/" in path)


def _fault(path: str, entry: Entry) -> _Wrong | None:
    try:
        size = os.stat(path).st_size  # noqa: PTH116 - ten thousand of them: half the time
    except OSError:
        return _Wrong(entry.path, "is gone", _CODE.search(entry.path) is not None)
    if entry.size in (-1, size):
        return None
    what = f"has {size} of {entry.size} bytes" if size < entry.size else f"has {size} bytes, not {entry.size}"
    if not _BINARY.search(entry.path):
        return _Wrong(entry.path, what, fatal=size == 0)
    return _Wrong(entry.path, what, fatal=size < entry.size and not _whole(Path(path)))


def _whole(path: Path) -> bool:
    """Say whether a library of another size is still one: tools that edit its search path change its size."""
    try:
        read_elf(path)
    except (DamagedError, OSError):
        return False
    return True


def _dispute(
    path: str,
    claimed: Iterable[Tuple[Distribution, Entry]],
    lost: Dict[Tuple[Distribution, Distribution], List[str]],
    wrong: Dict[Distribution, List[_Wrong]],
) -> None:
    """Find out whose a file is that several distributions list with different contents."""
    owners: List[Tuple[Distribution, Entry]] = []
    losers: List[Tuple[Distribution, Entry]] = []
    size, digest = _content(path, {entry.size for _, entry in claimed})
    for distribution, entry in claimed:
        same = entry.hash == digest if entry.hash and digest else entry.size == size
        (owners if same else losers).append((distribution, entry))
    for loser, entry in losers:
        for owner, _ in owners:
            lost.setdefault((loser, owner), []).append(entry.path)
        if not owners:
            what = "is gone" if size < 0 else "is neither distribution's"
            fault = _Wrong(entry.path, what, _CODE.search(entry.path) is not None)
            wrong.setdefault(loser, []).append(fault)


def _content(path: str, sizes: Set[int]) -> Tuple[int, str]:
    """Return a file's size and hash as a RECORD has them; no hash when its size alone settles the matter."""
    try:
        size = os.stat(path).st_size  # noqa: PTH116
        if size not in sizes:
            return size, "sha256=none"
        digest = hashlib.sha256()
        with open(path, "rb") as file:  # noqa: PTH123
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
    except OSError:
        return -1, "sha256=none"
    return size, "sha256=" + base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()


def _clobbered(
    context: Context, lost: Mapping[Tuple[Distribution, Distribution], List[str]]
) -> Iterable[Problem]:
    for (loser, winner), paths in lost.items():
        package = _mingled(paths)
        if not package:
            continue
        locked = context.locked
        keep = next((d for d in (loser, winner) if d.name in locked), None)
        extra = [d.name for d in (loser, winner) if locked and d.name not in locked]
        owners = f"{loser.name} and {winner.name}"
        values = {
            "owners": owners,
            "keep": f"{keep.name}=={keep.version}" if keep else "",
            "package": package,
        }
        evidence = [
            f"{len(paths)} files of {loser.shown} are {winner.shown}'s: {_some(paths)}",
        ]
        yield Problem(
            Candidate(
                "torch-clobber" if package == "torch" else "package-clobber", 0.97, tuple(evidence), values
            ),
            repair=Repair(tuple(extra), tuple(d.name for d in (loser, winner) if d.name in locked)),
        )


def _mingled(paths: Iterable[str]) -> str:
    """Return the import package that two distributions share, when it can't work for both."""
    modules: Dict[str, List[str]] = {}
    for path in paths:
        top, slash, _ = path.partition("/")
        if slash and _CODE.search(path) and top not in _CARELESS:
            modules.setdefault(top, []).append(path)
    for top, files in sorted(modules.items(), key=lambda item: -len(item[1])):
        if len(files) >= MINGLED or any(_BINARY.search(f) or f == f"{top}/__init__.py" for f in files):
            return top
    return ""


def _damaged(
    context: Context,
    wrong: Mapping[Distribution, List[_Wrong]],
    lost: Mapping[Tuple[Distribution, Distribution], List[str]],
) -> Iterable[Problem]:
    fatal: List[str] = []
    changed: List[str] = []
    names: List[str] = []
    for distribution, faults in wrong.items():
        if any(distribution in pair for pair in lost) and _mingled(f.path for f in faults):
            continue  # the other finding says it all
        gone = [f for f in faults if f.what == "is gone" and f.fatal]
        if gone and distribution.name in context.replacements and _mingled(f.path for f in gone):
            yield _emptied(distribution, gone)
            continue
        # conda edits texts, and a distribution strips libraries and knows no RECORD.
        own = context.target is None or context.target.kind == "venv"
        for fault in sorted(faults, key=lambda f: (not f.fatal, f.path)):
            text = f"{distribution.name}: {fault.path} {fault.what}"
            if fault.fatal:
                fatal.append(text)
                names.append(distribution.name)
            elif own and _CODE.search(fault.path):
                changed.append(text)
    if fatal:
        values = {
            "files": f"{len(fatal)} file" + "s" * (len(fatal) > 1),
            "owners": ", ".join(dict.fromkeys(names)),
        }
        yield Problem(
            Candidate("damaged-file", 0.95, _list(fatal), values),
            repair=Repair(restore=tuple(dict.fromkeys(names))),
        )
    if changed:
        yield Problem(Candidate("changed-file", 0.5, _list(changed), {"files": str(len(changed))}))


def _emptied(distribution: Distribution, gone: List[_Wrong]) -> Problem:
    """A replacement whose files went when the distribution was removed that it replaces."""
    package = _mingled(f.path for f in gone)
    values = {
        "owners": f"{distribution.name} and another",
        "keep": f"{distribution.name}=={distribution.version}",
    }
    evidence = f"{len(gone)} files of {distribution.shown} are gone: {_some([f.path for f in gone])}"
    code = "torch-clobber" if package == "torch" else "package-clobber"
    return Problem(
        Candidate(code, 0.95, (evidence,), {**values, "package": package}),
        repair=Repair(restore=(distribution.name,)),
    )


def _records(context: Context) -> Iterable[Problem]:
    """Two records of one distribution, and what an interrupted pip left."""
    seen: Dict[str, List[str]] = {}
    for distribution in context.installed:
        if distribution.provided:
            continue
        seen.setdefault(f"{distribution.folder}/{distribution.name}", []).append(distribution.version)
    twice = {Path(key).name: versions for key, versions in seen.items() if len(versions) > 1}
    if twice:
        evidence = [f"{name}: {' and '.join(versions)}" for name, versions in twice.items()]
        yield Problem(
            Candidate("duplicate-distribution", 0.8, _list(evidence), {"names": ", ".join(twice)}),
            repair=Repair(restore=tuple(name for name in twice if name in context.locked)),
        )
    folders = [
        f"{folder}/{name}"
        for folder in (context.target.site if context.target else ())
        for name in leftovers(folder)
    ]
    if folders:
        yield Problem(Candidate("interrupted-install", 0.5, _list(folders), {}))


def _some(paths: List[str]) -> str:
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    ordered = sorted(paths, key=lambda p: (not _CODE.search(p), p.count("/"), p))
    return ", ".join(ordered[:SHOWN]) + more


def _list(texts: List[str]) -> Tuple[str, ...]:
    more = (f"and {len(texts) - SHOWN} more",) if len(texts) > SHOWN else ()
    return (*texts[:SHOWN], *more)
