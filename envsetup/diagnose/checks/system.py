"""What the facts alone forbid: the catalogue's rules, and the needs of the environment's stack."""

from __future__ import annotations

from typing import Dict, FrozenSet, List, Set, Tuple

from envsetup.diagnose.case import Case
from envsetup.diagnose.checks.check import Problem, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.recognise import Kind, recognise
from envsetup.diagnose.explain import diagnose_facts
from envsetup.diagnose.finding import Candidate, Fix
from envsetup.diagnose.rank import FLOOR
from envsetup.diagnose.rules import RULES
from envsetup.resolve.resolver import judge, resolve
from envsetup.resolve.verdict import Unmet
from envsetup.resolve.wish import Wish

# The rules that facts alone can decide. The others read logs and what people say, or look at versions, which
# the check of versions asks them for.
RULES_OF_FACTS = frozenset(
    [
        "adapters",
        "avx",
        "c_library",
        "capability",
        "cuda_toolkit",
        "cudnn",
        "directml_linux",
        "driver",
        "hidden_gpu",
        "interpreter",
        "processor_arch",
        "python_build",
        "rocm",
        "tf_windows",
        "torch_build",
        "windows_build",
        "windows_files",
        "wsl",
    ]
)

# Whether something can be installed is beside the point where it is installed: builds of conda and of one's
# own are in no table, and the check of wheels looks at the very tags.
_INSTALLING = frozenset(
    {
        "python-version-unsupported",
        "arch-unsupported-arm64",
        "arch-unsupported-macos-intel",
        "musl-alpine",
        "pip-too-old-for-manylinux",
        "package-superseded",
        "package-removed-stub",
    }
)

# What keeps a GPU from being used matters only to who wants to use it.
_OF_GPUS = frozenset(
    {
        "cuda-visible-devices",
        "container-no-gpu",
        "driver-too-old",
        "compute-capability-too-low",
        "gpu-too-new-for-cuda",
        "tf-cuda-toolkit-mismatch",
        "cudnn-minor-too-old",
        "cudnn-shadowed",
        "tf-windows-native-gpu-dropped",
        "torch-wrong-cuda-variant",
        "cuda-on-macos",
    }
)

# Codes that say the same as an unmet need of a stack, by the fact.
_SAME: Dict[str, FrozenSet[str]] = {
    "os": frozenset({"directml-on-native-linux", "cuda-on-macos", "tf-windows-native-gpu-dropped"}),
    "cuda": frozenset({"tf-cuda-toolkit-mismatch"}),
    "cudnn": frozenset({"cudnn-minor-too-old", "tf-cuda-toolkit-mismatch"}),
    "driver.nvidia": frozenset({"driver-too-old"}),
    "compute-capability": frozenset({"compute-capability-too-low", "gpu-too-new-for-cuda"}),
    "gpu": frozenset({"gpu-too-old-directx", "compute-capability-too-low"}),
    "windows-build": frozenset({"windows-build-too-old", "wsl-windows-build-too-old"}),
    "wsl": frozenset({"wsl-kernel-too-old"}),
    "cpu": frozenset({"cpu-no-avx"}),
    "glibc": frozenset({"glibc-too-old", "musl-alpine"}),
    "arch": frozenset({"arch-unsupported-arm64", "arch-unsupported-macos-intel", "arch-rosetta-x86-python"}),
}


def look(context: Context) -> Seen:
    """Ask the rules, then the stack of the environment or the backend that is wanted."""
    if context.target is None:
        return _machine_alone(context)
    kind = recognise(context)
    candidates = _candidates(Case(context.facts_in_question, [], ""))
    problems = [Problem(c, _severity(c.code, kind)) for c in candidates if _matters(c.code, kind)]
    problems += _lacking(context, kind, {problem.candidate.code for problem in problems})
    return Seen(tuple(problems), detail=_shown(context))


def _machine_alone(context: Context) -> Seen:
    """Ask all rules about the facts and the wish; these may come from another machine's recording."""
    wanted = _WORDS.get(context.backend, context.backend) or None
    diagnosis = diagnose_facts(context.machine, wanted)
    findings = diagnosis.findings
    if not (context.replayed or wanted) and context.machine.value("gpu") == []:
        findings = tuple(found for found in findings if found.code not in _OF_GPUS)
    problems = _lacking(context, None, {found.code for found in diagnosis.findings})
    data = {"missing_facts": dict(diagnosis.missing_facts), "failed_rules": list(diagnosis.failed_rules)}
    return Seen(tuple(problems), findings, detail=_shown(context), data=data)


def _matters(code: str, kind: Kind | None) -> bool:
    """Say whether a finding that the facts alone give is one for this environment."""
    if code in _INSTALLING:
        return False
    return not (code in _OF_GPUS and (kind is None or kind.backend == "cpu"))


def _severity(code: str, kind: Kind | None) -> str:
    # Who has an environment for the CPU may want just that.
    return "info" if code == "torch-cpu-build-installed" and kind and kind.backend == "cpu" else ""


def _candidates(case: Case) -> List[Candidate]:
    """Return what the rules say; one that breaks is told, and the others still speak."""
    best: Dict[str, Candidate] = {}
    broken: List[Candidate] = []
    for rule in RULES:
        name = rule.__module__.rsplit(".", 1)[-1]
        if name not in RULES_OF_FACTS:
            continue
        try:
            for candidate in rule(case):
                if candidate.score >= FLOOR and candidate.score > best.get(candidate.code, _NONE).score:
                    best[candidate.code] = candidate
        except Exception as error:
            why = f"the rule {name}: {type(error).__name__}: {error}"
            broken.append(Candidate("check-failed", 0.3, (why,), {"check": "system", "why": why}))
    return [*sorted(best.values(), key=lambda c: -c.score), *broken[:1]]


_NONE = Candidate("", 0.0)
# What the rules know a backend by.
_WORDS = {"dml": "DirectML", "auto": "", "cpu": ""}


def _unmet(context: Context, kind: Kind | None) -> Tuple[str, List[Unmet]]:
    """Return what is meant to run here, and what the machine lacks for it."""
    machine = context.machine
    if kind is not None and kind.row is not None:
        # The environment has its interpreter already: which others the machine has does not matter.
        verdict = judge(kind.row, machine)
        return kind.row.name, [u for u in verdict.unmet if u.fact != "python"]
    if context.target is None and context.backend not in ("", "auto", "cpu"):
        resolution = resolve(machine, Wish(context.backend))
        if resolution.chosen is None and resolution.rejected:
            nearest = resolution.rejected[0]
            return nearest.row.name, list(nearest.unmet)
    return "", []


def _lacking(context: Context, kind: Kind | None, said: Set[str]) -> List[Problem]:
    """Turn needs that no other finding tells into one: without a GPU all else is beside the point."""
    name, needed = _unmet(context, kind)
    unmet = [one for one in needed if not _SAME.get(one.fact, frozenset()) & said]
    if not unmet:
        return []
    no_gpu = any(one.fact == "gpu" and one.found == "no GPU" for one in unmet)
    needs = next((one.needs for one in unmet if one.fact == "gpu"), "")
    values = {"stack": name, "needs": needs or "; ".join(f"{one.fact} ({one.needs})" for one in unmet)}
    steps = tuple(dict.fromkeys(one.fix[:1].upper() + one.fix[1:] for one in unmet))
    admin = any(one.fact in ("cuda", "cudnn", "driver.nvidia", "rocm") for one in unmet)
    fix = Fix(steps, admin, False, "envsetup doctor --only system")
    code = "gpu-not-found" if no_gpu else "machine-lacks"
    if no_gpu:
        return [Problem(Candidate(code, 0.9, tuple(map(str, unmet)), values))]
    return [Problem(Candidate(code, 0.9, tuple(map(str, unmet)), values), fix=fix)]


def _shown(context: Context) -> str:
    system = context.machine.value("os-version") or context.machine.system or "unknown system"
    fact = context.machine.get("gpu")
    if not fact.known:
        return f"{system}, GPU not known"
    names = [str(gpu.get("name")) for gpu in fact.value or ()]
    return f"{system}, {', '.join(names) if names else 'no GPU'}"
