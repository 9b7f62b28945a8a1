"""Everything that a rule may ask: facts, observations, packages and commands of one case, merged."""

from __future__ import annotations

import functools
import re
from typing import Any, Dict, Iterator, List, Mapping, Sequence, Tuple

from packaging.utils import canonicalize_name
from packaging.version import Version

from envsetup.diagnose import commands, cpus, releases, systems, text_facts
from envsetup.diagnose.commands import Command, index_label
from envsetup.diagnose.compat import Tables, tables
from envsetup.diagnose.patterns import Observation
from envsetup.diagnose.releases import Release
from envsetup.machine.fact import Fact, Machine

ARM = ("aarch64", "armv7", "armv6")
_CONDA_NAMES = {"pytorch": "torch", "pytorch-gpu": "torch", "pytorch-cpu": "torch"}


class Case:
    """The evidence of one diagnosis.

    Args:
        machine: facts that are given; they win over what the text says of hardware and system.
        observations: what the text says.
        wanted: what the user ran or wanted; may be empty.
    """

    def __init__(self, machine: Machine, observations: Sequence[Observation], wanted: str) -> None:
        self.wanted = wanted
        self.observations = tuple(observations)
        self.given = machine
        self._by_name: Dict[str, List[Observation]] = {}
        for observation in observations:
            self._by_name.setdefault(observation.name, []).append(observation)
        said = text_facts.facts(observations)
        known = {fact.name for fact in machine if fact.known}
        self.machine = machine.with_facts(
            fact for name, fact in said.items() if name not in known or _better(machine.get(name), fact)
        )
        self.machine = self.machine.with_facts(_derived(self.machine))
        self.used: Dict[str, str] = {}
        self.asked_facts: Dict[str, str] = {}

    # what the text says

    def seen(self, *names: str) -> List[Observation]:
        """Return the observations of these names."""
        return [observation for name in names for observation in self._by_name.get(name, ())]

    def first(self, *names: str) -> Observation | None:
        """Return the first observation of one of these names, or None."""
        found = self.seen(*names)
        return found[0] if found else None

    def in_log(self, *names: str) -> List[Observation]:
        """Return observations of the log only, not of what the user wanted."""
        return [observation for observation in self.seen(*names) if observation.line]

    @functools.cached_property
    def log(self) -> bool:
        """True when there is a log at all."""
        return any(observation.line for observation in self.observations)

    # facts

    def fact(self, name: str) -> Fact:
        """Return a fact, noting that the diagnosis used it."""
        fact = self.machine.get(name)
        if fact.known:
            self.used[name] = fact.source
        return fact

    def value(self, name: str, default: Any = None) -> Any:
        """Return a fact's value, or ``default`` when it is unknown."""
        fact = self.fact(name)
        return fact.value if fact.known and fact.value is not None else default

    def need(self, name: str, why: str) -> None:
        """Note that a fact is unknown and would help."""
        if not self.machine.get(name).known:
            self.asked_facts.setdefault(name, why)

    def evidence(self, name: str, value: Any = None) -> str:
        """Return a fact as evidence: name, value and where it was read."""
        fact = self.fact(name)
        shown = fact.value if value is None else value
        return f"fact {name} = {shown} ({fact.source})"

    @functools.cached_property
    def system(self) -> str:
        """``windows``, ``wsl``, ``linux``, ``macos``, or empty when unknown."""
        if self.value("wsl"):
            return "wsl"
        found = str(self.value("os", "") or "")
        if found == "linux" and self._wsl_words:
            return "wsl"
        if not found and self._wsl_words:
            return "wsl"
        return found

    @functools.cached_property
    def _wsl_words(self) -> bool:
        """The text speaks of WSL and no fact says otherwise."""
        return bool(self.seen("wsl-word")) and not self.given.get("wsl").known

    @property
    def windows(self) -> bool:
        """Native Windows."""
        return self.system == "windows"

    @property
    def native_linux(self) -> bool:
        """Linux outside WSL."""
        return self.system == "linux"

    @functools.cached_property
    def build(self) -> int | None:
        """Windows' build number; the host's in WSL."""
        found = self.value("windows-build")
        return int(found) if isinstance(found, int) else None

    @functools.cached_property
    def extra(self) -> Mapping[str, Any]:
        """What a report says beyond facts."""
        found = self.value("extra", {})
        return found if isinstance(found, dict) else {}

    @functools.cached_property
    def words(self) -> str:
        """All free words of the facts, lower-case: what was wanted, the system's version, extras."""
        parts = [self.wanted, str(self.value("os-version", ""))]
        parts += [f"{key} {value}" for key, value in self.extra.items()]
        parts += [f"{name} {text or ''}" for name, text in self._given_packages.items()]
        return " ".join(parts).lower()

    def says(self, regex: str) -> bool:
        """Say whether the free words match."""
        return re.search(regex, self.words) is not None

    # the interpreter

    @functools.cached_property
    def interpreter(self) -> Mapping[str, Any]:
        """The interpreter in question: the only one known, or the first."""
        rows = self.value("python", [])
        return rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}

    @functools.cached_property
    def python(self) -> Version | None:
        """Its version as ``major.minor``; None when unknown or only a lower bound."""
        text = str(self.interpreter.get("version") or "")
        found = releases.version(text)
        source = str(self.interpreter.get("source") or "")
        if found is None or re.match(r"^[<>~!]", source):
            return None
        return Version(releases.minor(found)) if found.release[:1] and len(found.release) > 1 else None

    @functools.cached_property
    def python_bits(self) -> int | None:
        """32 or 64; None when nothing says so."""
        if self.seen("python-32bit"):
            return 32
        bits = self.interpreter.get("bits")
        return int(bits) if bits in (32, 64) else None

    @functools.cached_property
    def arch(self) -> str:
        """The machine's processor; empty when unknown."""
        return str(self.value("arch", "") or "")

    @functools.cached_property
    def arch_certain(self) -> bool:
        """False when the processor was only supposed."""
        return bool(self.arch) and not self.fact("arch").source.startswith("supposed")

    @functools.cached_property
    def python_arch(self) -> str:
        """The interpreter's processor; the machine's when nothing else is said."""
        return str(self.interpreter.get("arch") or self.arch or "")

    # GPUs

    @functools.cached_property
    def gpus(self) -> List[Mapping[str, Any]]:
        """The GPUs in adapter order; empty when none is known."""
        rows = self.value("gpu", [])
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    @property
    def gpus_known(self) -> bool:
        """True when the list of GPUs was read."""
        return self.machine.get("gpu").known

    def of_vendor(self, *vendors: str) -> List[Mapping[str, Any]]:
        """Return the GPUs of these vendors."""
        return [gpu for gpu in self.gpus if gpu.get("vendor") in vendors]

    @functools.cached_property
    def nvidia(self) -> bool:
        """True when an NVIDIA GPU or driver is known to be there."""
        return bool(self.of_vendor("nvidia")) or bool(self.value("driver.nvidia"))

    @functools.cached_property
    def no_nvidia(self) -> bool:
        """True when the GPUs are known and none is NVIDIA's."""
        if self.nvidia:
            return False
        fact = self.machine.get("driver.nvidia")
        return bool(self.gpus_known) or (fact.known and fact.value is None)

    @functools.cached_property
    def capability(self) -> str:
        """The compute capability of the first NVIDIA GPU; empty when unknown."""
        for gpu in self.of_vendor("nvidia"):
            if gpu.get("compute_capability"):
                return str(gpu["compute_capability"])
        for seen in self.seen("said-capability"):
            if seen.get("has", "has2"):
                return seen.get("has", "has2")
            if seen.get("major"):
                return f"{seen.get('major')}.{seen.get('minor')}"
        return ""

    def gpu_name(self, vendor: str = "") -> str:
        """Return the name of the first GPU (of a vendor), or ``the GPU``."""
        rows = self.of_vendor(vendor) if vendor else self.gpus
        return str(rows[0].get("name") or "the GPU") if rows else "the GPU"

    @functools.cached_property
    def cpu_flags(self) -> Tuple[str, ...] | None:
        """Which of avx, avx2 and fma the processor has; None when unknown."""
        cpu = self.value("cpu", {})
        cpu = cpu if isinstance(cpu, dict) else {}
        flags = cpu.get("flags")
        if isinstance(flags, list):
            return tuple(str(flag) for flag in flags)
        model = str(cpu.get("model") or self.extra.get("cpu") or "")
        return cpus.flags(model) if model else None

    @functools.cached_property
    def cpu_model(self) -> str:
        """The processor's name; empty when unknown."""
        cpu = self.value("cpu", {})
        return str((cpu.get("model") if isinstance(cpu, dict) else "") or self.extra.get("cpu") or "")

    # packages

    @functools.cached_property
    def _given_packages(self) -> Mapping[str, Any]:
        found = self.value("packages", {})
        return found if isinstance(found, dict) else {}

    @functools.cached_property
    def packages(self) -> Dict[str, Release]:
        """Installed (or stated) packages by normalised name; the facts win over the text."""
        out = text_facts.packages(self.observations)
        for name, text in self._given_packages.items():
            found = releases.release(str(name), str(text) if text is not None else None)
            old = out.get(found.name)
            if old is None or found.version is not None or found.local:
                out[found.name] = found
        for conda, pip in _CONDA_NAMES.items():
            if conda in out and pip not in out and not _stub(out[conda]):
                was = out[conda]
                out[pip] = releases.Release(pip, was.version, was.local, was.exact, was.text, was.line)
        return out

    def package(self, *names: str) -> Release | None:
        """Return the first of these packages that is there."""
        for name in names:
            found = self.packages.get(canonicalize_name(name))
            if found is not None:
                return found
        return None

    def shown(self, found: Release) -> str:
        """Return a package as evidence."""
        where = f"line {found.line}" if found.line else "stated"
        return f"package {found.shown} ({where})"

    @functools.cached_property
    def tensorflow(self) -> Release | None:
        """The base TensorFlow, under whichever name it has."""
        for name in (
            "tensorflow",
            "tensorflow-gpu",
            "tensorflow-cpu",
            "tensorflow-intel",
            "tensorflow-base",
            "tf-nightly",
            "tf-nightly-gpu",
        ):
            found = self.package(name)
            if found is not None and found.version is not None:
                return found
        return self.package("tensorflow", "tensorflow-gpu", "tensorflow-cpu")

    @functools.cached_property
    def torch(self) -> Release | None:
        """torch, by pip or conda."""
        return self.package("torch")

    # commands

    @functools.cached_property
    def commands(self) -> Tuple[Command, ...]:
        """Install commands, the user's own first."""
        return tuple(
            commands.parse(seen.get("tool"), seen.get("verb"), seen.get("rest"), seen.line, seen.text)
            for seen in self.seen("command")
        )

    @functools.cached_property
    def asked(self) -> Dict[str, str]:
        """What commands ask for: normalised name to specifier text."""
        return {
            canonicalize_name(r.name): str(r.specifier)
            for command in self.commands
            if command.verb not in ("uninstall", "run")
            for r in command.requirements
        }

    @functools.cached_property
    def asked_of_pip(self) -> Dict[str, str]:
        """What commands of pip and its kin ask for; conda's names are other packages."""
        return {
            canonicalize_name(r.name): str(r.specifier)
            for command in self.commands
            if command.verb not in ("uninstall", "run") and "conda" not in command.tool
            if "mamba" not in command.tool
            for r in command.requirements
        }

    @functools.cached_property
    def indexes(self) -> Tuple[str, ...]:
        """Every index and page that pip or uv looks at, as far as is known."""
        urls = [url for command in self.commands for url in command.urls]
        for seen in self.seen("index-used", "links-used"):
            urls += re.split(r"[,\s]+", seen.get("urls"))
        pip = self.value("pip", {})
        if isinstance(pip, dict):
            urls += [str(pip.get("index_url") or ""), *map(str, pip.get("extra_index_url") or ())]
        urls += re.findall(r"https?://[^\s'\"`,)]{4,200}", self.wanted)
        return tuple(dict.fromkeys(url for url in urls if url))

    @functools.cached_property
    def index_labels(self) -> Tuple[str, ...]:
        """The labels of PyTorch's indexes among them, e.g. ``cu121``."""
        return tuple(dict.fromkeys(label for label in map(index_label, self.indexes) if label))

    # what it is about

    def about(self, topic: str) -> bool:
        """Say whether the case is about a topic: directml, cuda, rocm, tensorflow, torch, docker, conda."""
        return topic in self._topics

    @functools.cached_property
    def _topics(self) -> frozenset[str]:
        found = set()
        names = {*self.packages, *self.asked, *(f["package"] for f in self.failed_names())}
        for topic, regex in _TOPICS.items():
            if re.search(regex, self.words) or any(re.search(regex, name) for name in names):
                found.add(topic)
        if self.seen(
            "dml-adapters",
            "dml-adapter",
            "dml-api",
            "dml-device-string",
            "dml-load-failed",
            "tf-plugin-load",
            "hresult",
        ):
            found.add("directml")
        labels = [*self.index_labels, *(p.local for p in self.packages.values() if p.local)]
        if any(label.startswith("cu") for label in labels):
            found.add("cuda")
        if any(label.startswith("rocm") for label in labels) or any(
            # CUDA says "no kernel image" in the same words
            re.search(r"hip|rocblas|tensile|code object", s.text, re.IGNORECASE)
            for s in self.seen("rocm-no-code")
        ):
            found.add("rocm")
        if self.seen("conda-prompt", "conda-unsatisfiable", "conda-not-found"):
            found.add("conda")
        if self.seen("container", "container-refused"):
            found.add("docker")
        return frozenset(found)

    def failed_names(self) -> Iterator[Mapping[str, str]]:
        """Yield the fields of requirements that an installer could not satisfy."""
        for seen in self.seen("no-version", "no-matching", "uv-no-version", "uv-platform", "uv-python"):
            if seen.get("package"):
                yield {"package": canonicalize_name(seen.get("package"))}

    @property
    def tables(self) -> Tables:
        """The compatibility tables."""
        return tables()


_TOPICS: Mapping[str, str] = {
    "directml": r"directml|direct-ml|\bdml\b|privateuseone",
    "cuda": r"cuda|\bnvidia\b|tensorflow-gpu|onnxruntime-gpu|\bcu\d{2,3}\b",
    "rocm": r"\brocm|\bhip\b|\bgfx\d",
    "tensorflow": r"tensorflow|\btf\b|keras",
    "torch": r"\btorch|pytorch|comfyui|stable.diffusion|forge|automatic1111",
    "docker": r"docker|container|podman|kubernetes|\bpod\b",
    "conda": r"conda|mamba",
    "jupyter": r"jupyter|notebook|ipykernel|\bkernel spec|jupyterlab|\bcolab\b|\bvs ?code notebook",
    "gpu": r"\bgpus?\b|cuda|nvidia|directml|list_physical_devices|is_gpu_available|is_available",
}


def _stub(found: Release) -> bool:
    return found.version is not None and found.version.release == (0, 1, 2) and not found.text


def _derived(machine: Machine) -> Iterator[Fact]:
    """What follows from other facts: a system's glibc."""
    system = machine.get("os-version")
    if machine.get("glibc").known or machine.get("libc").value == "musl" or not system.known:
        return
    found = systems.glibc(str(system.value))
    if found:
        yield Fact("glibc", found, f"derived: {system.value}")


def _better(given: Fact, said: Fact) -> bool:
    """The text knows better which interpreter ran, when the facts list several or none."""
    if said.name == "python":
        rows = given.value if isinstance(given.value, list) else []
        return len(rows) != 1 or not rows[0].get("version")
    return said.name in ("arch", "os") and given.source.startswith("supposed")
