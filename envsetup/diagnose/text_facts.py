"""Facts inside a text: what pasted reports and the log itself say of the machine and the interpreter."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, Iterator, List, Sequence

from packaging.utils import canonicalize_name

from envsetup.diagnose.patterns import Observation
from envsetup.diagnose.releases import Release, release
from envsetup.knowledge.hardware import find_gpu_by_name
from envsetup.machine.fact import Fact

Seen = Dict[str, List[Observation]]


def facts(observations: Sequence[Observation]) -> Dict[str, Fact]:
    """Return facts by name; each says which line it was read from."""
    seen: Seen = {}
    for observation in observations:
        seen.setdefault(observation.name, []).append(observation)
    found: Dict[str, Fact] = {}
    for read in _READERS:
        for fact in read(seen):
            found.setdefault(fact.name, fact)
    return found


def packages(observations: Sequence[Observation]) -> Dict[str, Release]:
    """Return what a text says is installed: the last word on each package."""
    found: Dict[str, Release] = {}
    for seen in observations:
        if seen.name == "installed-now":
            for word in seen.get("list").split():
                match = re.match(r"^([A-Za-z][\w.-]*?)-(\d[\w.+!]*)$", word)
                if match:
                    _keep(found, release(match.group(1), match.group(2), seen.line))
        elif seen.name in ("said-package", "already-satisfied", "conda-row"):
            name = seen.get("package")
            if seen.get("version"):
                build = seen.get("build", "channel")
                text = seen.get("version") + (" cpu" if re.match(r"^(py[\d.]+_)?cpu", build) else "")
                text += f" {_cuda_build(build)}" if _cuda_build(build) else ""
                _keep(found, release(name, text, seen.line))
        elif seen.name == "installed-now-uv" and seen.get("sign") != "-":
            _keep(found, release(seen.get("package"), seen.get("version"), seen.line))
        elif seen.name == "said-torch":
            _keep(found, release("torch", seen.get("version"), seen.line))
        elif seen.name == "said-tensorflow":
            _keep(found, release("tensorflow", seen.get("version"), seen.line))
        elif seen.name in ("pip-conflict",):
            _keep(found, release(seen.get("package"), seen.get("version"), seen.line))
            if seen.get("has"):
                _keep(found, release(seen.get("has_name"), seen.get("has"), seen.line))
        elif seen.name == "said-pip":
            _keep(found, release("pip", seen.get("version"), seen.line))
        elif seen.name == "pip-version":
            _keep(found, release("pip", seen.get("version", "version2", "version3"), seen.line))
    return found


def _keep(found: Dict[str, Release], new: Release) -> None:
    old = found.get(new.name)
    if new.version is not None and (old is None or not old.local or new.local or old.version != new.version):
        found[canonicalize_name(new.name)] = new


def _cuda_build(build: str) -> str:
    match = re.search(r"cuda(\d{1,2}\.\d|\d{2,3})", build)
    if not match:
        return ""
    number = match.group(1)
    return f"cuda {number}" if "." in number else f"cu{number}"


def _said(name: str, value: Any, seen: Observation) -> Fact:
    where = f"the text, line {seen.line}" if seen.line else "what was to be run"
    return Fact(name, value, where)


def _windows(seen: Seen) -> Iterator[Fact]:
    for at in seen.get("said-windows-build", ()):
        build = at.get("build", "build2", "build3", "build4", "build5", "build6")
        if build and 10000 < int(build) < 40000:
            yield _said("windows-build", int(build), at)
            return


def _os(seen: Seen) -> Iterator[Fact]:
    kernels = [k for k in seen.get("said-kernel", ()) if "microsoft" in k.get("kernel", "kernel2").lower()]
    for at in seen.get("said-wsl", ()):
        generation = at.get("generation", "generation2") or "2"
        yield _said("os", "linux", at)
        yield _said("wsl", int(generation), at)
    for at in kernels:
        old = re.match(r"[1-4]\.(?:[0-9]|1[0-8])\.", at.get("kernel", "kernel2"))
        yield _said("os", "linux", at)
        yield _said("wsl", 1 if old else 2, at)
    for at in seen.get("said-os", ()):
        words = at.get("os")
        lower = words.lower()
        if "windows" in lower:
            yield _said("os", "windows", at)
        elif "mac" in lower or "os x" in lower:
            yield _said("os", "macos", at)
        else:
            yield _said("os", "linux", at)
            distro = re.match(r"[a-z]+", lower)
            if "alpine" in lower:
                yield _said("libc", "musl", at)
            if distro and distro.group(0) != "linux":
                yield _said("distro", distro.group(0), at)
        yield _said("os-version", words[:80], at)
    votes: Dict[str, List[Observation]] = {}
    for at in seen.get("path-system", ()):
        for system in ("windows", "macos", "linux"):
            if at.get(system):
                votes.setdefault(system, []).append(at)
    wheels = {"windows": ("win_amd64", "win32"), "macos": ("macosx",), "linux": ("linux",)}
    for at in seen.get("wheel-fetched", ()):
        for system, tags in wheels.items():
            if any(tag in at.get("file") for tag in tags):
                votes.setdefault(system, []).extend([at] * 3)
    if votes:
        system = max(votes, key=lambda name: len(votes[name]))
        if len(votes) == 1:
            yield _said("os", system, votes[system][0])


def _kernel(seen: Seen) -> Iterator[Fact]:
    for at in seen.get("said-kernel", ()):
        yield _said("kernel", at.get("kernel", "kernel2"), at)


def _python(seen: Seen) -> Iterator[Fact]:
    bits = seen.get("python-32bit", ())
    store = seen.get("store-python", ())
    source: Observation | None = None
    version = ""
    for at in seen.get("said-python", ()):
        source, version = at, at.get("version", "version2", "version3", "version4")
        break
    if not version:
        for name, read in (("requires-python", _has), ("uv-python", _uv), ("wheel-fetched", _tag)):
            for at in seen.get(name, ()):
                version = version or read(at)
                source = source or (at if version else None)
    if not version:
        paths = {_dotted(at.get("version")): at for at in seen.get("python-path", ())}
        paths = {v: at for v, at in paths.items() if v}
        if len(paths) == 1:
            version, source = next(iter(paths.items()))
    if source is None and (bits or store):
        source = [*bits, *store][0]
    if source is None:
        return
    path = next((at.get("path") for at in seen.get("executable", ())), None)
    yield _said(
        "python",
        [
            {
                "version": version or (store[0].get("version") if store else None) or None,
                "path": path,
                "bits": 32 if bits else None,
                "arch": "x86" if bits else None,
                "emulated": False,
                "implementation": "cpython",
                "store": bool(store),
                "source": "text",
            }
        ],
        source,
    )


def _has(at: Observation) -> str:
    return at.get("has")


def _uv(at: Observation) -> str:
    return at.get("python")


def _tag(at: Observation) -> str:
    match = re.search(r"-cp(\d)(\d{1,2})-cp\d", at.get("file"))
    return f"{match.group(1)}.{match.group(2)}" if match else ""


def _dotted(text: str) -> str:
    """Return ``3.8`` for ``38`` and ``3.8``; empty for a bare ``3``."""
    digits = text.replace(".", "")
    return f"{digits[0]}.{digits[1:]}" if len(digits) > 1 and digits[0] in "23" else ""


def _gpus(seen: Seen) -> Iterator[Fact]:
    names: Dict[str, Observation] = {}
    for at in seen.get("said-gpu", ()):
        name = at.get("name", "name2", "name3", "name4", "name5", "name6").rstrip(". ")
        if name and not re.search(
            r"microsoft basic|not applicable|could not|^n/?a\b|none", name, re.IGNORECASE
        ):
            names.setdefault(name, at)
    for kind in ("torch-gpu-old", "torch-gpu-unsupported", "capability-too-low"):
        for at in seen.get(kind, ()):
            names.setdefault(at.get("gpu"), at)
    if not names:
        for at in seen.get("dml-adapter", ()):
            names.setdefault(at.get("name"), at)
    if names:
        rows = [_gpu(name) for name in list(names)[:8]]
        yield _said("gpu", rows, next(iter(names.values())))


def _gpu(name: str) -> Dict[str, Any]:
    known = find_gpu_by_name(name)
    vendor = known.vendor if known else _vendor(name)
    return {
        "vendor": vendor,
        "id": known.id if known else None,
        "name": name,
        "architecture": known.architecture if known else None,
        "compute_capability": known.compute_capability if known else None,
        "gfx": known.gfx if known else None,
        "memory": None,
        "integrated": known.integrated if known else None,
        "driver": None,
        "source": "text",
    }


def _vendor(name: str) -> str:
    for vendor, words in (
        ("nvidia", r"nvidia|geforce|quadro|tesla|titan|\brtx\b|\bgtx\b"),
        ("amd", r"amd|radeon|\brx ?\d|vega|gfx\d"),
        ("intel", r"intel|uhd|iris|\barc\b"),
        ("qualcomm", r"adreno|qualcomm"),
        ("apple", r"apple"),
    ):
        if re.search(words, name, re.IGNORECASE):
            return vendor
    return "other"


def _simple(
    fact: str, kind: str, fields: Sequence[str], shape: Callable[[str], Any]
) -> Callable[[Seen], Iterator[Fact]]:
    def read(seen: Seen) -> Iterator[Fact]:
        for at in seen.get(kind, ()):
            value = at.get(*fields)
            if value:
                yield _said(fact, shape(value), at)
                return

    return read


def _glibc(seen: Seen) -> Iterator[Fact]:
    for at in seen.get("uv-platform", ()):
        tag = re.match(r"manylinux_2_(\d{1,2})_", at.get("tag"))
        if tag:
            yield _said("glibc", f"2.{tag.group(1)}", at)
    for at in seen.get("said-glibc", ()):
        if at.get("musl"):
            yield _said("libc", "musl", at)
        else:
            yield _said("libc", "glibc", at)
            yield _said("glibc", at.get("glibc", "glibc2"), at)


def _cpu(seen: Seen) -> Iterator[Fact]:
    model = next(iter(seen.get("said-cpu", ())), None)
    flags = next(iter(seen.get("said-cpu-flags", ())), None)
    if flags:
        words = flags.get("flags").split()
        names = [name for name in ("avx", "avx2", "fma") if name in words]
        yield _said("cpu", {"model": model.get("model") if model else "", "flags": names}, flags)
    elif model:
        yield _said("cpu", {"model": model.get("model"), "flags": None}, model)


def _arch(seen: Seen) -> Iterator[Fact]:
    for at in seen.get("said-arch", ()):
        if at.line == 0:
            continue
        if at.get("aarch64", "arm64", "apple"):
            yield _said("arch", "aarch64", at)
        elif at.get("arm32"):
            yield _said("arch", "armv7", at)


def _toolkits(seen: Seen) -> Iterator[Fact]:
    found: Dict[str, Observation] = {}
    for at in seen.get("said-toolkit", ()):
        found.setdefault(at.get("version", "version2", "version3", "version4", "version5"), at)
    if found:
        rows = [
            {"version": version, "path": None, "source": f"line {at.line}"} for version, at in found.items()
        ]
        yield _said("cuda", rows, next(iter(found.values())))


_READERS: Sequence[Callable[[Seen], Iterator[Fact]]] = (
    _windows,
    _os,
    _kernel,
    _python,
    _gpus,
    _glibc,
    _cpu,
    _arch,
    _toolkits,
    _simple("driver.nvidia", "said-driver", ("version", "version2", "version3"), str),
    _simple("cuda.driver", "said-driver-cuda", ("version",), str),
    _simple(
        "cudnn",
        "said-cudnn",
        ("version", "version2", "version3"),
        lambda v: [{"version": v, "path": None, "source": "text"}],
    ),
)
