"""WSL: Windows' build, the kernel, the driver on the Windows side, and a Linux driver in the way."""

from __future__ import annotations

import re
from typing import Iterator, Tuple

from packaging.version import Version

from envsetup.diagnose import releases
from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.patterns import Observation
from envsetup.diagnose.rules.windows_build import below_floor

_D3D = re.compile(r"libd3d12(core)?\.so|libdxcore\.so|libdirectml|Could not load DirectML", re.IGNORECASE)
_LIBCUDA = re.compile(r"libcuda(\.so|_)|libnvidia-ml", re.IGNORECASE)


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings about WSL."""
    if case.system != "wsl":
        return
    d3d = next((s for s in case.seen("missing-library", "dml-load-failed") if _D3D.search(s.text)), None)
    factory = next(
        (
            s
            for s in case.seen("hresult", "dml-unsupported")
            if "dxcore" in s.text.lower() or "d0000001" in s.text.lower()
        ),
        None,
    )
    adapters = next((s for s in case.seen("dml-adapters") if s.get("count") == "0"), None)
    device = next(
        (
            s
            for s in case.seen("hresult", "dml-unsupported")
            if s is not factory and re.search(r"d3d12|feature level|887a", s.text, re.IGNORECASE)
        ),
        None,
    )
    cuda = next((s for s in case.seen("missing-library", "cudnn-mixed") if _LIBCUDA.search(s.text)), None)
    driver = case.first("no-driver", "no-device")
    yield from _build(case, d3d or factory or adapters or device or cuda or driver)
    yield from _kernel(case, d3d, factory, adapters or cuda or driver)
    yield from _driver(case, d3d, factory, adapters, device)
    yield from _linux_driver(case, driver or cuda)
    yield from _path(case, cuda, driver)


def _build(case: Case, trouble: Observation | None) -> Iterator[Candidate]:
    build = case.build
    values = {"build": str(build or "unknown"), "needs": str(case.tables.directx.wsl_build)}
    if build is None:
        if trouble:
            case.need("windows-build", "the host's build of Windows (winver, or cmd.exe /c ver)")
        return
    if case.tables.directx.wsl_gpu(build):
        return
    gpu = case.about("directml") or case.about("cuda") or case.about("gpu") or bool(case.gpus)
    if trouble:
        yield Candidate(
            "wsl-windows-build-too-old", 0.95, (trouble.shown, case.evidence("windows-build")), values
        )
    elif gpu:
        yield Candidate(
            "wsl-windows-build-too-old",
            0.86 if not case.log else 0.5,
            (case.evidence("windows-build"),),
            values,
        )


def _kernel_version(case: Case) -> Version | None:
    return releases.version(str(case.value("kernel", "") or ""))


def _kernel(
    case: Case, d3d: Observation | None, factory: Observation | None, other: Observation | None
) -> Iterator[Candidate]:
    code = "wsl-kernel-too-old"
    floor, preview = Version(case.tables.directx.wsl_kernel), Version(case.tables.directx.wsl_kernel_preview)
    kernel = _kernel_version(case)
    trouble = d3d or factory or other
    first = case.value("wsl") == 1 or (
        kernel is not None
        and kernel < Version("4.19")
        and "microsoft" in str(case.value("kernel", "")).lower()
    )
    values = {"kernel": str(case.value("kernel", "unknown")), "needs": str(floor)}
    old_windows = case.build is not None and not case.tables.directx.wsl_gpu(case.build)
    if first:
        evidence = [s.shown for s in (trouble,) if s] + [
            case.evidence("kernel") if kernel else case.evidence("wsl")
        ]
        yield Candidate(
            code,
            0.93 if trouble and not old_windows else 0.8 if not case.log and not old_windows else 0.7,
            tuple(evidence),
            values,
        )
        return
    if kernel is not None:
        if kernel < preview:
            evidence = [s.shown for s in (trouble,) if s] + [case.evidence("kernel")]
            yield Candidate(
                code, (0.92 if trouble else 0.8) - (0.1 if old_windows else 0), tuple(evidence), values
            )
        elif kernel < floor and trouble and not old_windows:
            yield Candidate(code, 0.72, (trouble.shown, case.evidence("kernel")), values)
        elif kernel < floor and not case.log and not old_windows:
            yield Candidate(code, 0.6, (case.evidence("kernel"),), values)
        return
    library = d3d or factory
    if library:
        case.need("kernel", "WSL's kernel (cat /proc/version)")
        # the library comes from Windows through the kernel's /dev/dxg: without a build that is known to be
        # old, an old kernel (or WSL 1) is what keeps it away
        recent = (
            case.says(r"insider|preview|\bdev channel\b|canary|\b11\b|22h2|23h2|21h2|24h2")
            or case.build is not None
        )
        score = 0.7 if d3d and recent else 0.6 if d3d else 0.52
        yield Candidate(code, 0.2 if old_windows else score, (library.shown,), values)
        if d3d and case.build is None and not recent:
            yield Candidate(
                "wsl-windows-build-too-old",
                0.55,
                (d3d.shown,),
                {"build": "unknown", "needs": str(case.tables.directx.wsl_build)},
            )


def _driver(
    case: Case,
    d3d: Observation | None,
    factory: Observation | None,
    adapters: Observation | None,
    device: Observation | None,
) -> Iterator[Candidate]:
    code = "driver-too-old-for-wsl-directx"
    trouble = adapters or device or factory
    old = _old_drivers(case)
    values = {"has": old[1] if old else "unknown", "needs": old[2] if old else _needs(case)}
    kernel, floor = _kernel_version(case), Version(case.tables.directx.wsl_kernel_preview)
    healthy = (kernel is None or kernel >= floor) and (
        case.build is None or case.tables.directx.wsl_gpu(case.build)
    )
    evidence = tuple(s.shown for s in (trouble or d3d,) if s)
    if old and (trouble or case.about("directml")):
        yield Candidate(code, 0.9 if trouble or not case.log else 0.7, (*evidence, old[0]), values)
        return
    gpus = case.gpus
    if trouble and healthy and d3d is None:
        all_old = bool(gpus) and all(below_floor(case, gpu) for gpu in gpus)
        score = 0.4 if all_old else 0.82 if trouble is adapters else 0.74 if trouble is device else 0.62
        case.need(
            "driver.nvidia" if case.nvidia else "gpu", "the GPU and the version of its driver on Windows"
        )
        yield Candidate(code, score, evidence, values)
    elif (
        d3d
        and healthy
        and kernel is not None
        and case.build is not None
        and kernel >= Version(case.tables.directx.wsl_kernel)
    ):
        yield Candidate(code, 0.7, evidence, values)


def _old_drivers(case: Case) -> Tuple[str, str, str] | None:
    """Return (evidence, version, needed) of a driver that is known to be too old."""
    floors = case.tables.directx.wsl_driver
    nvidia = releases.version(str(case.value("driver.nvidia", "") or ""))
    if nvidia and nvidia < Version(floors["nvidia"]):
        return case.evidence("driver.nvidia"), str(nvidia), floors["nvidia"]
    for gpu in case.gpus:
        has, floor = releases.version(str(gpu.get("driver") or "")), floors.get(str(gpu.get("vendor")))
        if has and floor and gpu.get("vendor") == "intel" and _intel(has) < _intel(Version(floor)):
            return f"driver of {gpu.get('name')} = {has}", str(has), floor
    return None


def _intel(version: Version) -> Tuple[int, ...]:
    """Intel's numbers compare by their last two parts (27.20.100.8322, 31.0.101.2111)."""
    return version.release[2:] if len(version.release) > 3 else version.release


def _needs(case: Case) -> str:
    floors = case.tables.directx.wsl_driver
    vendors = [str(g.get("vendor")) for g in case.gpus if str(g.get("vendor")) in floors]
    return ", ".join(f"{v} {floors[v]}" for v in (vendors or list(floors)))


def _linux_driver(case: Case, trouble: Observation | None) -> Iterator[Candidate]:
    installed = case.first("linux-driver-in-wsl")
    words = re.search(
        r"nvidia-driver|cuda-drivers|linux (nvidia )?driver|nvidia-utils"
        r"|apt(-get)? install (-y )?(nvidia|cuda)\b|\.run\b|driver (inside|in) (wsl|ubuntu"
        r"|the distro)|installed? .{0,30}driver.{0,30}(wsl|ubuntu|linux)",
        case.words,
    )
    own_library = next((s for s in case.seen("linux-driver-in-wsl") if "libcuda" in s.get("what")), None)
    values: dict[str, str] = {}
    if installed or words:
        evidence = [s.shown for s in (installed, trouble) if s] or [
            f"words: {words.group(0)}" if words else ""
        ]
        score = 0.93 if trouble else 0.86 if own_library or words else 0.8
        yield Candidate("wsl-linux-driver-installed", score, tuple(evidence), values)
    elif trouble and (
        "communicate" in trouble.text
        or "nvml" in trouble.text.lower()
        or "driver/library" in trouble.text.lower()
    ):
        yield Candidate("wsl-linux-driver-installed", 0.62, (trouble.shown,), values)


def _path(case: Case, cuda: Observation | None, driver: Observation | None) -> Iterator[Candidate]:
    code = "wsl-libcuda-path"
    path = str(
        case.value("env", {}).get("LD_LIBRARY_PATH", "") if isinstance(case.value("env", {}), dict) else ""
    )
    has_path = "/usr/lib/wsl/lib" in path
    if cuda:
        yield Candidate(code, 0.5 if has_path else 0.88, (cuda.shown,), {})
    elif driver and re.search(
        r"could not find cuda drivers|found no nvidia driver|cuinit: unknown error \(303\)"
        r"|kernel driver does not appear",
        driver.text,
        re.IGNORECASE,
    ):
        yield Candidate(code, 0.5 if has_path else 0.68, (driver.shown,), {})
    elif not case.log and (case.nvidia or not case.gpus_known) and case.about("cuda") and not has_path:
        library = case.says(r"library|libcuda|bitsandbytes|not detected|detect|ld_library_path|dlopen|load")
        yield Candidate(code, 0.78 if library else 0.5, (case.evidence("wsl"),), {})
    elif case.first("no-device", "tf-no-gpu", "gpu-libraries-missing") and case.nvidia and not has_path:
        seen = case.first("no-device", "tf-no-gpu", "gpu-libraries-missing")
        yield Candidate(code, 0.5, (seen.shown,) if seen else (), {})
