"""The package index and the way to it."""

from __future__ import annotations

import re
from typing import Iterator

from packaging.utils import canonicalize_name

from envsetup.diagnose.case import Case
from envsetup.diagnose.commands import index_label
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.rules.unsatisfied import Failure, failures

_PYTORCH = re.compile(r"download\.pytorch\.org")
_OWN = ("torch", "torchvision", "torchaudio", "torchtext")


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about indexes."""
    yield from _nonexistent(case)
    yield from _missing_dependency(case)
    yield from _tls(case)
    yield from _yanked(case)


def _nonexistent(case: Case) -> Iterator[Candidate]:
    code = "index-url-nonexistent"
    refused = [
        s for s in case.seen("index-refused") if _PYTORCH.search(s.get("url")) or s.get("status") == "404"
    ]
    failed = failures(case)
    unknown = [label for label in case.index_labels if not _known(case, label)]
    unknown += [
        seen_label
        for seen_label in _labels_in_failures(failed)
        if not _known(case, seen_label) and seen_label not in unknown
    ]
    if unknown:
        label = unknown[0]
        trouble = refused[0] if refused else failed[0].seen if failed else None
        near = _near(case, label)
        score = 0.93 if trouble else 0.78 if not case.log else 0.6
        yield Candidate(
            code,
            score,
            (*((trouble.shown,) if trouble else ()), f"index {label}"),
            {"label": label, "near": near},
        )
        return
    for seen in refused:
        label = index_label(seen.get("url"))
        if label or _PYTORCH.search(seen.get("url")):
            yield Candidate(
                code,
                0.74,
                (seen.shown,),
                {"label": label or seen.get("url"), "near": ", ".join(case.tables.indexes[-4:])},
            )
            return
    odd = next(
        (
            url
            for url in case.indexes
            if _PYTORCH.search(url)
            and not index_label(url)
            and not re.search(r"torch_stable|torch_nightly|/torch\.html|whl/?$|whl/(nightly|test|lts)", url)
        ),
        None,
    )
    if odd and failed and all(f.nothing or _placeholders(case, f) for f in failed[:1]):
        yield Candidate(
            code,
            0.72,
            (failed[0].seen.shown, f"index {odd}"),
            {"label": odd, "near": ", ".join(case.tables.indexes[-4:])},
        )
    mistyped = next(
        (
            url
            for url in case.indexes
            if re.search(r"pytorch", url)
            and not _PYTORCH.search(url)
            and not re.search(r"mirror|tuna|aliyun|sjtu|huaweicloud|artifactory|nexus|github|conda", url)
        ),
        None,
    )
    if mistyped and failed and failed[0].nothing:
        yield Candidate(
            code,
            0.7,
            (failed[0].seen.shown, f"index {mistyped}"),
            {"label": mistyped, "near": ", ".join(case.tables.indexes[-4:])},
        )
    gone = case.first("index-refused")
    if gone and not refused:
        return


def _labels_in_failures(failed: list[Failure]) -> list[str]:
    return [f.local for f in failed if re.fullmatch(r"cu\d{2,3}", f.local)]


def _known(case: Case, label: str) -> bool:
    return label in case.tables.indexes or label.startswith("rocm") or label in ("cpu", "xpu")


def _near(case: Case, label: str) -> str:
    """Return the existing labels next to one that does not exist."""
    number = int(re.sub(r"\D", "", label) or 0)
    labels = [known for known in case.tables.indexes if re.fullmatch(r"cu\d{2,3}", known)]
    labels.sort(key=lambda known: abs(int(known[2:]) - number))
    return ", ".join(labels[:2])


def _placeholders(case: Case, failure: Failure) -> bool:
    return bool(failure.offered) and all(str(v) in case.tables.placeholders for v in failure.offered or ())


def _missing_dependency(case: Case) -> Iterator[Candidate]:
    code = "index-missing-dependency"
    only = [url for command in case.commands for url in command.index if _PYTORCH.search(url)]
    used = [
        s
        for s in case.seen("index-used")
        if _PYTORCH.search(s.get("urls")) and not re.search(r"pypi|simple", s.get("urls"))
    ]
    extra = any(command.extra for command in case.commands)
    inconsistent = case.first("metadata-inconsistent")
    for failure in failures(case):
        copy = _is_copy(case, failure.package)
        parent = (
            canonicalize_name(re.sub(r"[<>=!~;\[ ].*$", "", failure.parent.strip())) if failure.parent else ""
        )
        own = failure.package in _OWN
        vendor = bool(re.match(r"nvidia-|tensorrt", failure.package)) and bool(
            re.match(r"torch|tensorflow|tf-nightly", parent)
        )
        only_read = bool(only) and not own and failure.nothing and not extra
        if not (copy or vendor or (parent.startswith("torch") and not own) or only_read):
            continue
        elsewhere = bool(only or used) and not extra
        score = (
            0.92
            if (elsewhere or inconsistent) and (copy or parent)
            else 0.84
            if elsewhere
            else 0.7
            if parent.startswith("torch") or vendor
            else 0.4
        )
        if case.value("libc") == "musl" or case.python_bits == 32:
            score = 0.4
        yield Candidate(
            code,
            score,
            (failure.seen.shown, *((inconsistent.shown,) if inconsistent else ())),
            {"package": failure.package, "parent": parent or "another package"},
        )
        return
    if inconsistent:
        yield Candidate(
            code, 0.72, (inconsistent.shown,), {"package": inconsistent.get("package"), "parent": "torch"}
        )
        return
    for seen in case.seen("uv-no-wheel-here", "uv-no-version"):
        if _is_copy(case, canonicalize_name(seen.get("package"))) and (
            only or any(_PYTORCH.search(u) for u in case.indexes)
        ):
            yield Candidate(code, 0.6, (seen.shown,), {"package": seen.get("package"), "parent": "torch"})
            return
    for seen in case.seen("index-refused"):
        match = re.search(r"/whl/\w{2,10}/([\w.-]{2,60})/?", seen.get("url"))
        if match and _is_copy(case, canonicalize_name(match.group(1))):
            yield Candidate(code, 0.84, (seen.shown,), {"package": match.group(1), "parent": "torch"})
            return


def _is_copy(case: Case, package: str) -> bool:
    return any(
        package == name or (name.endswith("-") and package.startswith(name)) for name in case.tables.copies
    )


def _tls(case: Case) -> Iterator[Candidate]:
    tls, proxy = case.first("tls-error"), case.first("proxy-error")
    unreachable = case.first("index-unreachable")
    failed = failures(case)
    seen = tls or proxy
    if seen:
        if case.seen("ssl-module-missing"):
            return
        reason = seen.get("reason") or seen.get("issuer")
        yield Candidate(
            "tls-proxy",
            0.93,
            (seen.shown, *((failed[0].seen.shown,) if failed else ())),
            {"reason": reason or "the connection is not trusted"},
        )
    elif unreachable and (failed or "could not fetch" in unreachable.text.lower()):
        yield Candidate(
            "tls-proxy",
            0.8,
            (unreachable.shown, *((failed[0].seen.shown,) if failed else ())),
            {"reason": "the index can't be reached"},
        )
    elif unreachable:
        yield Candidate("tls-proxy", 0.7, (unreachable.shown,), {"reason": "the index can't be reached"})
    else:
        for failure in failed:
            if (
                failure.package == "torch"
                and _placeholders(case, failure)
                and any(_PYTORCH.search(u) for u in case.indexes)
            ):
                yield Candidate(
                    "tls-proxy", 0.5, (failure.seen.shown,), {"reason": "the page of wheels was not read"}
                )


def _yanked(case: Case) -> Iterator[Candidate]:
    seen = case.first("yanked-ignored", "yanked-all")
    if not seen:
        return
    failed = failures(case)
    evidence = (seen.shown, *((failed[0].seen.shown,) if failed else ()))
    yield Candidate(
        "yanked-noise",
        0.58 if failed else 0.5,
        evidence,
        {"package": failed[0].package if failed else "the package"},
    )
