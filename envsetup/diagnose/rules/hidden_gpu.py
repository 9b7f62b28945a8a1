"""The GPU is there and hidden: by an environment variable, or because a container did not get it."""

from __future__ import annotations

import re
from typing import Iterator, List, Tuple

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.patterns import Observation

_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about hidden GPUs."""
    if case.system == "macos":
        return
    yield from _visible(case)
    yield from _container(case)


def _settings(case: Case) -> List[Tuple[str, str, str]]:
    """Return (variable, value, evidence) of every setting that is known."""
    out = []
    env = case.value("env", {})
    for name in _VARIABLES:
        if isinstance(env, dict) and name in env and env[name] is not None:
            out.append((name, str(env[name]).strip(), case.evidence("env", f"{name}={env[name]}")))
    for seen in case.seen("visible-devices"):
        if seen.get("name").upper() in _VARIABLES:
            out.append((seen.get("name").upper(), seen.fields.get("value", "").strip(), seen.shown))
    return out


def _visible(case: Case) -> Iterator[Candidate]:
    code = "cuda-visible-devices"
    trouble = case.first("no-device", "bad-ordinal", "cuda-available", "tf-no-gpu")
    negative = [
        t
        for t in (trouble,)
        if t and not (t.name == "cuda-available" and t.get("answer").lower() in ("true", "yes"))
    ]
    count = len(case.of_vendor("nvidia", "amd")) if case.gpus_known else None
    for name, value, evidence in _settings(case):
        numbers = [int(n) for n in re.findall(r"-?\d+", value)]
        hidden = (
            value in ("", "''", '""')
            or (bool(numbers) and numbers[0] < 0)
            or value.lower() in ("none", "nodevfiles")
        )
        beyond = count is not None and count > 0 and bool(numbers) and max(numbers) >= count
        unknown = count is None and bool(numbers) and max(numbers) > 0
        if value.startswith("$"):
            # a shell variable that was not set gives an empty list, or a word that is no index
            if negative:
                yield Candidate(
                    code,
                    0.84,
                    (negative[0].shown, evidence),
                    {"name": name, "value": value, "count": str(count or "fewer")},
                )
            continue
        values = {
            "name": name,
            "value": value or "(empty)",
            "count": str(count if count is not None else "fewer"),
        }
        shown = tuple(s.shown for s in negative)
        if hidden or beyond:
            yield Candidate(
                code, 0.93 if negative else 0.8 if not case.log else 0.55, (*shown, evidence), values
            )
        elif unknown and negative:
            case.need("gpu", "how many GPUs there are (nvidia-smi -L)")
            yield Candidate(code, 0.84, (*shown, evidence), values)
        elif negative and numbers and trouble and trouble.name in ("bad-ordinal",):
            yield Candidate(code, 0.85, (*shown, evidence), values)
        elif negative and numbers and count == 1 and max(numbers) == 0:
            continue
        elif negative and not numbers and value:
            yield Candidate(code, 0.6, (*shown, evidence), values)
    if negative and negative[0].name == "no-device" and not _settings(case) and case.native_linux:
        case.need("env", "whether CUDA_VISIBLE_DEVICES is set")
        yield Candidate(
            code, 0.42, (negative[0].shown,), {"name": "CUDA_VISIBLE_DEVICES", "value": "?", "count": "fewer"}
        )
    seen = case.first("bad-ordinal")
    if seen and not _settings(case):
        yield Candidate(
            code,
            0.7,
            (seen.shown,),
            {"name": "CUDA_VISIBLE_DEVICES", "value": "not set", "count": str(count or "fewer")},
        )


def _container(case: Case) -> Iterator[Candidate]:
    code = "container-no-gpu"
    refused = case.first("container-refused")
    if refused and "unsatisfied condition" not in refused.text:
        yield Candidate(code, 0.94, (refused.shown,), {})
        return
    runs = [
        s
        for s in case.seen("container")
        if "docker run" in s.text.lower()
        or "podman run" in s.text.lower()
        or "container run" in s.text.lower()
    ]
    flagged = [s for s in runs if _has_gpus(s.text)]
    inside = bool(case.seen("container")) or case.about("docker")
    trouble: Observation | None = case.first("no-driver", "no-device", "tf-no-gpu")
    library = next((s for s in case.seen("missing-library") if "libcuda.so" in s.get("file")), None)
    available = next(
        (s for s in case.seen("cuda-available") if s.get("answer").lower() in ("false", "no")), None
    )
    trouble = trouble or library or available or case.first("no-nvidia-smi")
    where = tuple(s.shown for s in runs[:1])
    if not inside and case.first("no-driver") and case.native_linux and case.value("driver.nvidia"):
        # there is a driver, and the process does not see it
        yield Candidate(code, 0.5, (trouble.shown, case.evidence("driver.nvidia")) if trouble else (), {})
    if not inside or trouble is None:
        if runs and not flagged and not case.log and (case.about("gpu") or case.nvidia):
            yield Candidate(code, 0.72, where, {})
        return
    if case.system == "wsl" and not runs and not case.about("docker"):
        return
    device_files = "/dev/nvidia0" in trouble.text or "driver was not detected" in trouble.text.lower()
    if runs and not flagged:
        yield Candidate(code, 0.93, (trouble.shown, *where), {})
    elif flagged:
        yield Candidate(code, 0.6, (trouble.shown, *where), {})
    else:
        yield Candidate(code, 0.86 if device_files or case.nvidia else 0.74, (trouble.shown,), {})


def _has_gpus(command: str) -> bool:
    return (
        re.search(
            r"--gpus|--runtime[= ]nvidia|nvidia-docker|--device[= ](nvidia\.com|/dev/(nvidia|kfd|dri|dxg))",
            command,
        )
        is not None
    )
