"""The NVIDIA driver is older than the CUDA that a build needs."""

from __future__ import annotations

from typing import Iterator, Tuple

from packaging.version import Version

from envsetup.diagnose import releases
from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.releases import cuda_of
from envsetup.diagnose.rules.needs import cuda_needed
from envsetup.knowledge.hardware import cuda_toolkit, cuda_toolkits

CODE = "driver-too-old"


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield the finding when the text says so, or when the tables do."""
    if case.system == "macos":
        return
    needed, why = cuda_needed(case)
    said = case.first("driver-old", "driver-insufficient")
    has = releases.version(str(case.value("driver.nvidia", "") or ""))
    supports = releases.version(str(case.value("cuda.driver", "") or ""))
    if said and said.get("found"):
        number = int(said.get("found"))
        supports = Version(f"{number // 1000}.{number % 1000 // 10}")
    if said and said.get("cuda"):
        needed = said.get("cuda")
    floor = driver_floor(case, needed)
    values = {
        "has": str(has or "an older one"),
        "supports": str(supports or "an older CUDA"),
        "cuda": needed or "a newer CUDA",
        "floor": floor or (said.get("driver") if said else "") or "a newer driver",
        "label": label_for(case, supports),
    }
    too_old = verdict(case, needed, has, supports)
    evidence = tuple(
        [s.shown for s in (said,) if s]
        + ([case.evidence("driver.nvidia")] if has else [])
        + (
            [case.evidence("cuda.driver")]
            if supports and not (said and said.get("found")) and case.machine.get("cuda.driver").known
            else []
        )
        + ([why] if why else [])
    )
    if said:
        mismatch = "library version mismatch" in said.text.lower()
        yield Candidate(CODE, 0.45 if mismatch else 0.72 if too_old is False else 0.94, evidence, values)
    elif too_old:
        refused = case.first("container-refused")
        trouble = case.first(
            "no-driver", "no-device", "conv-failed", "tf-no-gpu", "cuda-available", "no-kernel-image"
        )
        score = 0.84 if trouble or not case.log else 0.5
        yield Candidate(CODE, 0.9 if refused else score, evidence, values)


def driver_floor(case: Case, cuda: str) -> str:
    """Return the oldest driver for a CUDA on this system; empty when unknown."""
    toolkit = cuda_toolkit(_minor(cuda)) if cuda else None
    if toolkit is None:
        return ""
    return toolkit.driver_windows if case.system in ("windows", "wsl") else toolkit.driver_linux


def verdict(case: Case, cuda: str, has: Version | None, supports: Version | None) -> bool | None:
    """Say whether the driver is too old for a CUDA; None when it can't be told."""
    if not cuda:
        return None
    if has is not None:
        floor = driver_floor(case, cuda)
        return has < Version(floor) if floor else None
    if supports is not None:
        needs = Version(cuda)
        # minor-version compatibility: from CUDA 11.1 on the driver's major version decides
        if needs.release[0] >= 11 and cuda != "11.0":
            return supports.release[0] < needs.release[0]
        return supports < needs
    return None


def _minor(cuda: str) -> str:
    return cuda if "." in cuda else f"{cuda}.0"


def label_for(case: Case, supports: Version | None) -> str:
    """Return the newest torch build label that a driver's CUDA runs, e.g. ``cu118``."""
    labels = [label for label in case.tables.indexes if cuda_of(label)]
    fits = [
        label for label in labels if supports and Version(cuda_of(label)).release[0] <= supports.release[0]
    ]
    return fits[-1] if fits else "cu118"


def known_versions() -> Tuple[str, ...]:
    """Return the CUDA versions of the table."""
    return tuple(toolkit.version for toolkit in cuda_toolkits())
