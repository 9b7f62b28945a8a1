"""No wheel for this version of Python: from the tables where Python is known, else from what was offered."""

from __future__ import annotations

import re
from typing import Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsetup.diagnose import releases
from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.rules.unsatisfied import (
    Failure,
    failures,
    first_release,
    python_range,
    shown,
    supports,
)

CODE = "python-version-unsupported"


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding for each requirement that this Python can't satisfy."""
    for failure in failures(case):
        yield from _failure(case, failure)
    yield from _said(case)
    yield from _refused_wheel(case)
    yield from _wanted_only(case)
    yield from _import_error(case)


def _failure(case: Case, failure: Failure) -> Iterator[Candidate]:
    allowed = python_range(case, failure.package, failure.version)
    if allowed is None:
        return
    if case.python is None:
        case.need("python", f"which Python {failure.package} was installed for")
        yield from _inferred(case, failure)
        return
    if supports(case, failure.package, failure.version) is False:
        yield Candidate(
            CODE,
            0.86,
            (failure.seen.shown, case.evidence("python", case.python)),
            _values(failure.package, failure.version, str(case.python), shown(allowed)),
        )
        return
    late = first_release(case, failure.package) if failure.version is None and failure.nothing else None
    if late:
        # this Python came with a later release than the tool saw, or than there was at the time
        score = 0.64 if failure.offered is not None else 0.5
        words = f"{late[1]} and older before release {late[0]}"
        yield Candidate(
            CODE,
            score,
            (failure.seen.shown, case.evidence("python", case.python)),
            {**_values(failure.package, None, str(case.python), words), "newest": str(late[1])},
        )


def _inferred(case: Case, failure: Failure) -> Iterator[Candidate]:
    """The versions that were offered betray the interpreter; the lack of any suggests it."""
    package, version, offered = failure.package, failure.version, failure.offered
    allowed = python_range(case, package, version)
    real = [v for v in offered or () if str(v) not in case.tables.placeholders]
    if allowed is None:
        return
    if real and version is not None and version not in real:
        newer = version < min(real)
        same = any(v.release[:2] == version.release[:2] for v in real)
        if not same:
            python = "a newer Python" if newer else "an older Python"
            yield Candidate(
                CODE,
                0.72 if newer else 0.5,
                (failure.seen.shown,),
                _values(package, version, python, shown(allowed)),
            )
    elif not real and offered is not None:
        yield Candidate(
            CODE, 0.42, (failure.seen.shown,), _values(package, version, "this Python", shown(allowed))
        )
    elif offered is None and not case.seen("index-used", "links-used"):
        yield Candidate(
            CODE, 0.36, (failure.seen.shown,), _values(package, version, "this Python", shown(allowed))
        )


def _said(case: Case) -> Iterator[Candidate]:
    """The tool itself says that Python does not fit."""
    for seen in case.seen("uv-python"):
        yield Candidate(
            CODE,
            0.93,
            (seen.shown,),
            _values(
                seen.get("package"),
                releases.version(seen.get("version")),
                seen.get("python"),
                _tags(seen.get("list")),
            ),
        )
    for seen in case.seen("requires-python"):
        yield Candidate(
            CODE, 0.9, (seen.shown,), _values(seen.get("package"), None, seen.get("has"), seen.get("range"))
        )
    for seen in case.seen("uv-no-matching-python"):
        package = canonicalize_name(seen.get("package"))
        allowed = python_range(case, package, releases.version(seen.get("version")))
        yield Candidate(
            CODE,
            0.85,
            (seen.shown,),
            _values(
                package,
                releases.version(seen.get("version")),
                str(case.python or "this Python"),
                shown(allowed) if allowed else "others",
            ),
        )
    for seen in case.seen("uv-requires-python"):
        yield Candidate(
            CODE, 0.88, (seen.shown,), _values("the package", None, seen.get("python"), seen.get("range"))
        )
    for seen in case.seen("other-python-ignored"):
        named = failures(case)
        if named:
            failure = named[0]
            allowed = python_range(case, failure.package, failure.version)
            yield Candidate(
                CODE,
                0.84,
                (seen.shown, failure.seen.shown),
                _values(
                    failure.package,
                    failure.version,
                    str(case.python or "this Python"),
                    shown(allowed) if allowed else _ranges(seen.get("list")),
                ),
            )


def _tags(text: str) -> str:

    found = sorted({(int(a), int(b)) for a, b in re.findall(r"cp(\d)(\d{1,2})\b", text)})
    return f"{found[0][0]}.{found[0][1]} to {found[-1][0]}.{found[-1][1]}" if found else text[:60]


def _ranges(text: str) -> str:

    found = re.findall(r"Requires-Python ([<>=!~][^;]{1,60})", text)
    return found[-1].strip() if found else "others"


def _refused_wheel(case: Case) -> Iterator[Candidate]:
    """A wheel was given by its file: its tag says which Python it is for."""
    for seen in case.seen("wheel-refused"):
        match = re.search(r"^([\w.]+?)-([\w.+%]+)-cp(\d)(\d{1,2})-", seen.get("file"))
        if match is None or case.python is None:
            if match is not None:
                case.need("python", "which Python the wheel was given to")
            continue
        wanted = Version(f"{match.group(3)}.{match.group(4)}")
        if wanted != case.python and "abi3" not in seen.get("file"):
            yield Candidate(
                CODE,
                0.88,
                (seen.shown, case.evidence("python", case.python)),
                _values(match.group(1), releases.version(match.group(2)), str(case.python), str(wanted)),
            )


def _wanted_only(case: Case) -> Iterator[Candidate]:
    """No log, but what was to be installed can't be had for this Python."""
    if case.log or case.python is None:
        return
    for name, spec in case.asked.items():
        version, _ = releases.pinned(spec)
        allowed = python_range(case, name, version)
        if allowed and not allowed[0] <= case.python <= allowed[1]:
            yield Candidate(
                CODE,
                0.7,
                (case.evidence("python", case.python),),
                _values(name, version, str(case.python), shown(allowed)),
            )
    for name, found in case.packages.items():
        if found.version is None or not found.exact or ("-" in name and name.startswith("nvidia")):
            continue
        allowed = python_range(case, name, found.version)
        if allowed and not allowed[0] <= case.python <= allowed[1]:
            yield Candidate(
                CODE,
                0.6,
                (case.shown(found), case.evidence("python", case.python)),
                _values(name, found.version, str(case.python), shown(allowed)),
            )


def _import_error(case: Case) -> Iterator[Candidate]:
    """An old release on a Python that came after it: its source does not parse, or its wheel breaks."""
    for seen in case.observations:
        if seen.name != "no-module":
            continue
        if seen.get("module") in ("distutils", "imp") and case.python and case.python >= Version("3.12"):
            yield Candidate(
                CODE,
                0.6,
                (seen.shown, case.evidence("python", case.python)),
                _values("the package", None, str(case.python), "3.11 and older"),
            )


def _values(package: str, version: Version | None, python: str, allowed: str) -> dict[str, str]:
    try:
        exact = SpecifierSet(allowed)
        allowed = str(exact) or allowed
    except InvalidSpecifier:
        pass
    newest = allowed.split(" to ")[-1].split(",")[-1].strip("<>= ")
    return {
        "package": package,
        "version": str(version) if version else "",
        "requirement": f"{package}=={version}" if version else package,
        "python": python,
        "allowed": allowed,
        "newest": newest if newest[:1].isdigit() else "3.8",
    }
