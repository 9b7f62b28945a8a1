"""DirectML wanted on Linux outside WSL, where it does not exist."""

from __future__ import annotations

import re
from typing import Iterator

from packaging.utils import canonicalize_name

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.rules.unsatisfied import failures

_LIBRARIES = re.compile(r"libd3d12(core)?\.so|libdxcore\.so|libdirectml")


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding on native Linux; on WSL the same words mean something else."""
    if case.system not in ("linux", ""):
        return
    certain = case.native_linux
    system = (case.evidence("os"),) if case.machine.get("os").known else ()
    library = next(
        (s for s in case.seen("missing-library", "dml-load-failed") if _LIBRARIES.search(s.text)), None
    )
    if library:
        if not certain:
            case.need("wsl", "whether this Linux runs in WSL (cat /proc/version)")
        yield Candidate("directml-on-native-linux", 0.95 if certain else 0.45, (library.shown, *system), {})
    for failure in failures(case):
        package = case.tables.packages.get(failure.package)
        if package and package.backend == "directml" and certain:
            # a package with Linux wheels (for WSL) may still fail for its Python: both are true here
            score = 0.92 if "linux" not in package.platforms else 0.7
            yield Candidate("directml-on-native-linux", score, (failure.seen.shown, *system), {})
    for seen in case.seen("uv-platform", "uv-no-matching-platform", "uv-no-wheel-here", "wheel-refused"):
        name = canonicalize_name(seen.get("package") or seen.get("file").split("-")[0])
        if "directml" in name and certain:
            yield Candidate("directml-on-native-linux", 0.92, (seen.shown, *system), {})
    if certain and case.about("directml"):
        trouble = next((s for s in case.seen("dml-adapters") if s.get("count") == "0"), None) or case.first(
            "dml-device-string", "dml-api", "hresult", "provider-missing", "no-module"
        )
        if trouble:
            yield Candidate("directml-on-native-linux", 0.86, (trouble.shown, *system), {})
        elif not case.log:
            yield Candidate("directml-on-native-linux", 0.85, system, {})
        else:
            yield Candidate("directml-on-native-linux", 0.6, system, {})
