"""The package itself: replaced by another, removed, or its interface confused with its successor's."""

from __future__ import annotations

import re
from typing import Dict, Iterator

from packaging.utils import canonicalize_name
from packaging.version import Version

from envsetup.diagnose import releases
from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.rules.unsatisfied import failures

_TF1_CALLS = (
    r"\btf\.(Session|placeholder|contrib|app|flags|ConfigProto|GPUOptions|get_default_graph"
    r"|global_variables_initializer|layers|InteractiveSession)\b"
)
STUBS = ("tensorflow-gpu", "tf-nightly-gpu", "pytorch")
SUPERSEDED, STUB, API = "package-superseded", "package-removed-stub", "wrong-api-for-package"


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about retired packages and their interfaces."""
    yield from _superseded(case)
    yield from _stub(case)
    yield from _dml_api(case)
    yield from _tf1_api(case)


def _superseded(case: Case) -> Iterator[Candidate]:
    for failure in failures(case):
        package = case.tables.packages.get(failure.package)
        if package is None or not package.successor:
            continue
        values = {"package": package.name, "successor": package.successor}
        since = Version(package.superseded_from) if package.superseded_from else None
        base = case.tensorflow
        newer_base = since is not None and (
            (base is not None and base.version is not None and base.version >= since)
            or (failure.version is not None and failure.version >= since)
        )
        words = case.says(r"tensorflow ?2|tf ?2|tensorflow 2\.\d+|latest tensorflow")
        if newer_base or (since is not None and words):
            evidence = (failure.seen.shown, *((case.shown(base),) if base else ()))
            yield Candidate(SUPERSEDED, 0.9, evidence, values)
        elif case.python is not None and not package.python[0] <= case.python <= package.python[1]:
            # the Python could be changed, but what goes on is another package
            far = case.python >= Version("3.10") and since is not None
            yield Candidate(SUPERSEDED, 0.6 if far else 0.5, (failure.seen.shown,), values)
    for seen in case.seen("yanked-all", "yanked-ignored"):
        name = canonicalize_name(seen.get("package", "package2"))
        package = case.tables.packages.get(name)
        if package is not None and package.successor:
            yield Candidate(
                SUPERSEDED, 0.72, (seen.shown,), {"package": package.name, "successor": package.successor}
            )
    if not case.log:
        for asked in case.asked:
            package = case.tables.packages.get(asked)
            if (
                package
                and package.superseded_from
                and case.tensorflow
                and case.tensorflow.version
                and case.tensorflow.version >= Version(package.superseded_from)
            ):
                yield Candidate(
                    SUPERSEDED,
                    0.72,
                    (f"wanted: {asked}", case.shown(case.tensorflow)),
                    {"package": asked, "successor": package.successor},
                )
    for old in ("torch-nightly", "tf-nightly-gpu"):
        if any(f.package == old for f in failures(case)):
            row = case.tables.packages[old]
            yield Candidate(
                SUPERSEDED,
                0.8,
                tuple(f.seen.shown for f in failures(case) if f.package == old),
                {"package": old, "successor": row.successor},
            )


def _stub(case: Case) -> Iterator[Candidate]:
    said = case.first("stub")
    fetched = [s for s in case.seen("sdist-fetched") if _is_stub(case, s.get("package"), s.get("version"))]
    failed = case.first("setup-failed", "invalid-requirement")
    asked = next((name for name in case.asked_of_pip if name in STUBS), "")
    if said:
        name = canonicalize_name(said.get("package", "package2", "package3", "package4"))
        # torch's own placeholders appear where no wheel fits: another rule says why
        placeholder = bool(said.get("package4")) or any(f.package == "torch" for f in failures(case))
        evidence = (said.shown, *(s.shown for s in fetched[:1]))
        yield Candidate(STUB, 0.5 if placeholder else 0.93, evidence, _heir(case, name))
    elif fetched:
        evidence = (fetched[0].shown, *((failed.shown,) if failed else ()))
        yield Candidate(STUB, 0.92 if failed else 0.86, evidence, _heir(case, fetched[0].get("package")))
    elif failed and asked:
        yield Candidate(STUB, 0.84, (failed.shown, f"wanted: {asked}"), _heir(case, asked))
    else:
        yield from _stub_asked(case)
    for failure in failures(case):
        row = case.tables.packages.get(failure.package)
        if (
            row
            and row.stub_from
            and failure.version is not None
            and failure.version >= Version(row.stub_from)
        ):
            yield Candidate(STUB, 0.88, (failure.seen.shown,), _heir(case, failure.package))


def _stub_asked(case: Case) -> Iterator[Candidate]:
    """No log, and a command that takes the stub: without a version, or with the stub's."""
    for name, spec in case.asked_of_pip.items():
        row = case.tables.packages.get(name)
        if case.log or row is None or not row.stub_from:
            continue
        version, _ = releases.pinned(spec)
        if spec == "" or (version is not None and version >= Version(row.stub_from)):
            yield Candidate(STUB, 0.72, (f"wanted: {name}{spec}",), _heir(case, name))


def _heir(case: Case, name: str) -> Dict[str, str]:
    row = case.tables.packages.get(canonicalize_name(name))
    return {"package": name, "successor": row.successor if row and row.successor else "torch"}


def _is_stub(case: Case, name: str, version: str) -> bool:
    row = case.tables.packages.get(canonicalize_name(name))
    found = releases.version(version)
    return bool(row and row.stub_from and found and found >= Version(row.stub_from))


def _dml_api(case: Case) -> Iterator[Candidate]:
    old = case.package("pytorch-directml") is not None or "pytorch-directml" in case.asked
    new = (
        case.package("torch-directml") is not None
        or "torch-directml" in case.asked
        or bool(re.search(r"(?<!py)torch[-_]directml", case.words))
    )
    values = {"package": "torch-directml" if new or not old else "pytorch-directml"}
    seen = next((s for s in case.seen("dml-api") if s.get("missing")), None)
    if seen:
        missing = seen.get("missing").lower()
        plugin_module = "torch_directml" in missing
        if plugin_module and "no module" in missing:
            if old and not new:
                yield Candidate(API, 0.86, (seen.shown,), values)
            return
        if "torch.dml' has no attribute" in missing:
            yield Candidate(API, 0.8, (seen.shown,), {"package": "pytorch-directml"})
            return
        yield Candidate(API, 0.7 if old and not new else 0.92, (seen.shown,), values)
        return
    for seen in case.seen("dml-device-string"):
        if "dml" in seen.text.lower():
            yield Candidate(API, 0.88 if new else 0.6 if old else 0.74, (seen.shown,), values)
            return
    seen = case.first("dml-cuda-call")
    if seen:
        yield Candidate(API, 0.66, (seen.shown,), {"package": "torch-directml"})
    seen = case.first("dml-tf-device")
    if seen:
        yield Candidate(API, 0.86, (seen.shown,), {"package": "tensorflow-directml-plugin"})
    use = next((s for s in case.seen("dml-api") if s.get("use")), None)
    if use and new and re.search(r"torch\.dml|from torch import dml", use.text):
        yield Candidate(API, 0.8, (use.shown,), values)


def _tf1_api(case: Case) -> Iterator[Candidate]:
    seen = case.first("tf1-api")
    found = case.tensorflow
    if not seen:
        used = re.search(_TF1_CALLS, case.wanted)
        if used and not case.log and found and found.version and found.version >= Version("2"):
            yield Candidate(
                API, 0.72, (f"wanted: {used.group(0)}", case.shown(found)), {"package": found.shown}
            )
        return
    one = found is not None and found.version is not None and found.version < Version("2")
    yield Candidate(
        API,
        0.35 if one else 0.88,
        (seen.shown, *((case.shown(found),) if found and found.version else ())),
        {"package": found.shown if found else "tensorflow 2"},
    )
