"""The processor and the system: Rosetta, Intel Macs, Arm machines, and CUDA asked for on a Mac."""

from __future__ import annotations

import re
from typing import Iterator, Tuple

from packaging.version import Version

from envsetup.diagnose import releases
from envsetup.diagnose.case import ARM, Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.patterns import Observation
from envsetup.diagnose.releases import minor
from envsetup.diagnose.rules.unsatisfied import TENSORFLOW, failures


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about processors."""
    yield from _cuda_on_macos(case)
    yield from _mac(case)
    yield from _arm(case)


def _trouble(case: Case) -> Tuple[str, ...]:
    """Return the line that shows that nothing fitting was found, if any."""
    seen = case.first(
        "uv-platform",
        "no-version",
        "no-matching",
        *(() if _refused_here(case) else ("wheel-refused",)),
        "uv-no-wheel-here",
        "uv-no-matching-platform",
        "uv-no-version",
        "torch-placeholder",
    )
    return (seen.shown,) if seen else ()


def _refused_here(case: Case) -> bool:
    """The wheel that was refused is for this very processor: something else about it does not fit."""
    tags = {"aarch64": "aarch64|arm64", "armv7": "armv7l|armhf", "armv6": "armv6l"}.get(case.python_arch, "")
    return bool(tags) and any(re.search(tags, s.get("file")) for s in case.seen("wheel-refused"))


def _asks_cuda(case: Case) -> str:
    """Return what asks for CUDA, or an empty string."""
    for seen in case.seen(
        "uv-platform", "uv-no-version", "uv-no-matching-platform", "no-version", "no-matching"
    ):
        text = f"{seen.get('package')}{seen.get('spec')} {seen.get('version')}"
        if re.search(r"\+cu\d{2,3}|tensorflow-gpu|nvidia-|onnxruntime-gpu|cupy|triton", text):
            return seen.shown
    for label in case.index_labels:
        if label.startswith("cu"):
            return f"index {label}"
    for name, spec in case.asked.items():
        if name in ("tensorflow-gpu", "onnxruntime-gpu", "pytorch-cuda", "cudatoolkit") or "+cu" in spec:
            return f"wanted: {name}{spec}"
    torch = case.torch
    if torch and torch.local.startswith("cu"):
        return case.shown(torch)
    return ""


def _cuda_on_macos(case: Case) -> Iterator[Candidate]:
    if case.system != "macos":
        return
    asked = _asks_cuda(case)
    if asked:
        yield Candidate("cuda-on-macos", 0.93, (asked, case.evidence("os")), {})
    seen = case.first("torch-no-cuda")
    if seen:
        yield Candidate("cuda-on-macos", 0.92, (seen.shown, case.evidence("os")), {})
    elif case.says(r"\bcuda\b|tensorflow-gpu") and not asked:
        yield Candidate("cuda-on-macos", 0.6, (f"wanted: {case.wanted[:120]}", case.evidence("os")), {})


def _mac(case: Case) -> Iterator[Candidate]:
    intel = [
        s
        for s in case.seen("uv-platform", "uv-no-matching-platform")
        if re.search(r"macosx_\w{1,8}_x86_64", s.get("tag"))
    ]
    if case.system != "macos" and not intel:
        return
    apple = _apple_silicon(case)
    translated = (
        bool(case.interpreter.get("emulated"))
        or bool(case.first("rosetta-word"))
        or (
            apple
            and (
                bool(intel)
                or case.python_arch == "x86_64"
                or bool(case.seen("illegal-instruction", "cpu-lacks"))
            )
        )
        or (
            not (case.arch_certain and case.arch == "x86_64" and case.cpu_model)
            and bool(case.seen("illegal-instruction", "cpu-lacks"))
            and _every_mac_has_avx(case)
        )
    )
    needed = _mac_requirement(case)
    if translated and apple is not False:
        evidence = [s.shown for s in intel[:1]] or list(_trouble(case))
        evidence += [s.shown for s in case.seen("illegal-instruction", "cpu-lacks")[:1]]
        if case.arch:
            evidence.append(case.evidence("arch"))
        score = 0.95 if intel or case.interpreter.get("emulated") else 0.9
        yield Candidate(
            "arch-rosetta-x86-python",
            score,
            tuple(evidence),
            {"requirement": needed[0] if needed else "the package"},
        )
        return
    if apple:
        yield from _apple_only(case)
        return
    if (case.python_arch == "x86_64" or intel) and needed:
        certain = case.arch_certain or bool(intel)
        if not certain:
            case.need("cpu", "whether the Mac has an Intel or an Apple processor")
        yield Candidate(
            "arch-unsupported-macos-intel",
            0.9 if certain or not apple else 0.6,
            (
                *_trouble(case),
                needed[1],
                case.evidence("arch", case.python_arch) if case.arch else case.evidence("os"),
            ),
            {"requirement": needed[0], "last": needed[2]},
        )


def _every_mac_has_avx(case: Case) -> bool:
    """macOS 11 runs on no Intel Mac before 2013, and those all have AVX: what lacks it is Rosetta."""
    found = releases.version(str(case.value("os-version", "") or ""))
    return found is not None and Version("11") <= found < Version("100")


def _apple_silicon(case: Case) -> bool | None:
    """True for an Apple processor, False for Intel's, None when it isn't known."""
    if case.arch == "aarch64":
        return True
    words = f"{case.words} {case.cpu_model.lower()}"
    if re.search(r"\bapple\b|\bm[1-5]\b|apple silicon|arm64", words) or case.of_vendor("apple"):
        return True
    for seen in case.seen("said-arch"):
        if seen.get("apple"):
            return True
    return False if case.arch == "x86_64" and case.arch_certain else None


def _mac_requirement(case: Case) -> Tuple[str, str, str] | None:
    """Return (requirement, evidence, last release) when something newer than Intel Macs get is wanted."""
    last_torch = Version(case.tables.torch_head["macos-intel-last"])
    last_tf = Version(case.tables.tensorflow_head["macos-intel-last"])
    for seen in case.seen("uv-platform", "uv-no-matching-platform"):
        if not re.search(r"^(torch|tensorflow)", seen.get("package")):
            continue
        last = last_tf if seen.get("package").startswith("tensorflow") else last_torch
        return (
            f"{seen.get('package')}=={seen.get('version')}",
            seen.shown,
            "2.2.2" if last == last_torch else str(last),
        )
    for failure in failures(case):
        if failure.package in ("torch", "torchvision", "torchaudio"):
            top = max(failure.offered or (), default=None)
            if (top and minor(top) == str(last_torch)) or (
                failure.version and Version(minor(failure.version)) > last_torch
            ):
                return f"{failure.package}=={failure.version}", failure.seen.shown, "2.2.2"
        if failure.package in TENSORFLOW and failure.version and Version(minor(failure.version)) > last_tf:
            return f"{failure.package}=={failure.version}", failure.seen.shown, str(last_tf)
    for name, last, shown in (("torch", last_torch, "2.2.2"), ("tensorflow", last_tf, str(last_tf))):
        spec = case.asked.get(name, "")
        asked, _ = releases.pinned(spec)
        lower = releases.version(spec) if ">=" in spec else None
        for version in (asked, lower):
            if version and Version(minor(version)) > last:
                return f"{name}{spec}", f"wanted: {name}{spec}", shown
        found = case.package(name)
        if found and found.version and Version(minor(found.version)) > last:
            return found.shown, case.shown(found), shown
    return None


def _apple_only(case: Case) -> Iterator[Candidate]:
    """Apple silicon with a native Python, and a release that has no wheel for it."""
    for failure in failures(case):
        if failure.package in TENSORFLOW:
            first = Version(case.tables.tensorflow_head["macos-arm-from"])
            old = failure.version is not None and Version(minor(failure.version)) < first
            if old or failure.package in ("tensorflow-gpu", "tensorflow-cpu"):
                yield Candidate(
                    "arch-unsupported-arm64",
                    0.86,
                    (failure.seen.shown, case.evidence("arch")),
                    {
                        "requirement": f"{failure.package}=={failure.version}"
                        if failure.version
                        else failure.package
                    },
                )
            elif failure.nothing:
                yield Candidate(
                    "arch-unsupported-arm64",
                    0.7,
                    (failure.seen.shown, case.evidence("arch")),
                    {"requirement": failure.package},
                )
        elif (
            failure.package in case.tables.packages
            and "macos" not in case.tables.packages[failure.package].platforms
        ):
            yield Candidate(
                "arch-unsupported-arm64",
                0.6,
                (failure.seen.shown, case.evidence("arch")),
                {"requirement": failure.package},
            )


def _arm(case: Case) -> Iterator[Candidate]:
    if case.system == "macos":
        return
    arm = case.python_arch in ARM or case.arch in ARM
    tags = [
        s
        for s in case.seen("uv-no-matching-platform", "uv-platform")
        if re.search(r"aarch64|arm64|armv7", s.get("tag"))
    ]
    refused = [
        s
        for s in case.seen("wheel-refused")
        if arm and not re.search(r"aarch64|arm64|armv7|-any", s.get("file"))
    ]
    said = [
        s
        for s in case.seen("said-arch")
        if s.get("aarch64", "arm32") or (s.get("arm64") and case.system != "macos")
    ]
    if not (
        arm
        or tags
        or said
        or case.says(
            r"jetson|raspberry|aarch64|\barm64|snapdragon|surface pro x|graviton|\bgh200\b"
            r"|dgx spark|\bgb10\b|grace hopper"
        )
    ):
        return
    evidence: Tuple[str, ...] = tuple(s.shown for s in (tags or said)[:1])
    if not evidence and case.arch:
        evidence = (case.evidence("arch"),)
    trouble = _trouble(case)
    values = {"requirement": _requirement(case)}
    if trouble or refused:
        yield Candidate("arch-unsupported-arm64", 0.9, (*trouble, *evidence), values)
    elif not case.log and _before_arm(case):
        yield Candidate("arch-unsupported-arm64", 0.8, evidence, values)
    elif _cuda_index(case):
        return  # its wheels for Arm are on PyTorch's CUDA indexes: see torch_build
    elif case.seen("torch-no-cuda", "tf-no-gpu") or (
        case.torch and case.torch.local == "cpu" and case.about("gpu")
    ):
        seen: Observation | None = case.first("torch-no-cuda", "tf-no-gpu")
        yield Candidate("arch-unsupported-arm64", 0.94, ((seen.shown,) if seen else ()) + evidence, values)
    elif case.about("directml") or (case.about("cuda") and not case.log):
        yield Candidate("arch-unsupported-arm64", 0.7, evidence, values)


def _before_arm(case: Case) -> bool:
    """Say whether the release in question has no wheel for this processor at all."""
    thirty_two = case.python_arch in ("armv7", "armv6")
    if thirty_two and (case.about("tensorflow") or case.about("torch")):
        return True
    first = Version(case.tables.tensorflow_head["linux-aarch64-from"])
    found = case.tensorflow
    if case.windows or found is None or found.version is None:
        return False
    return case.system in ("linux", "wsl") and Version(minor(found.version)) < first


def _cuda_index(case: Case) -> bool:
    """Say whether this torch has CUDA wheels for Arm Linux, though not on PyPI."""
    torch = case.torch
    first = Version(case.tables.torch_head["aarch64-cuda-from"])
    return (
        case.system in ("linux", "wsl")
        and torch is not None
        and torch.version is not None
        and torch.version >= first
    )


def _requirement(case: Case) -> str:
    for failure in failures(case):
        return f"{failure.package}=={failure.version}" if failure.version else failure.package
    if case.torch:
        return case.torch.shown
    return case.tensorflow.shown if case.tensorflow else "the package"
