"""What all checks look at: the machine, the environment, and what is installed in it; each read once."""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import threading
from pathlib import Path
from typing import Any, Callable, Dict, FrozenSet, List, Mapping, Tuple

from packaging.version import InvalidVersion, Version

from envsetup.build.receipt import NAME
from envsetup.diagnose.checks.installed import Distribution, distributions
from envsetup.diagnose.checks.target import Target
from envsetup.knowledge.stacks import stacks
from envsetup.machine.fact import Fact, Machine
from envsetup.plan.lock import Package, parse_lock

_ASKED_FOR = re.compile(
    r"(torch|pytorch|tensorflow|tf-nightly|tensorboard|keras|numpy|protobuf|h5py|jax|onnx|openvino|nvidia-|pip$"
    r"|triton|cpuonly|mxnet|plaidml|tvm|apache-tvm|intel-extension)"
)


class Once:
    """Calls a function once, whichever thread asks first; the others wait for its answer."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function, self._lock = function, threading.Lock()
        self._done: List[Any] = []

    def __call__(self) -> Any:
        """Return the answer."""
        with self._lock:
            if not self._done:
                self._done.append(self._function())
            return self._done[0]


@dataclasses.dataclass
class Context:
    """The input of every check.

    Args:
        read: returns the machine's facts.
        target: the environment; None to look at the machine alone.
        backend: the backend that the user wants; empty when the environment says it, or nobody does.
        environ: the environment variables of the programs in question.
        folder: where the user's programs run.
        replayed: the facts are another machine's: nothing of this one counts.
        report: called with lines of progress.
    """

    read: Callable[[], Machine]
    target: Target | None = None
    backend: str = ""
    environ: Mapping[str, str] = dataclasses.field(default_factory=lambda: dict(os.environ))
    folder: Path = dataclasses.field(default_factory=Path.cwd)
    replayed: bool = False
    report: Callable[[str], None] = lambda line: None

    def __post_init__(self) -> None:
        self._machine = Once(self.read)
        self._installed = Once(lambda: distributions(self.target.site) if self.target else ())
        self._claims = Once(self._read_records)

    @property
    def machine(self) -> Machine:
        """The machine's facts."""
        machine: Machine = self._machine()
        return machine

    @property
    def installed(self) -> Tuple[Distribution, ...]:
        """Everything installed in the environment, envsetup's own records too."""
        found: Tuple[Distribution, ...] = self._installed()
        return found

    @property
    def packages(self) -> Dict[str, Distribution]:
        """What really is installed, by name."""
        return {d.name: d for d in self.installed if not d.provided}

    @property
    def sizes(self) -> Mapping[str, int]:
        """The recorded size of each file by its path; -1 where none is recorded."""
        sizes: Mapping[str, int] = self._claims()
        return sizes

    @functools.cached_property
    def facts_in_question(self) -> Machine:
        """The facts that rules are asked about: see :func:`in_question`."""
        return in_question(self.facts)

    @functools.cached_property
    def locked(self) -> Mapping[str, Package]:
        """What the receipt says was installed, by name; empty without a receipt."""
        receipt = self.target.receipt if self.target else None
        if self.target is None or receipt is None:
            return {}
        lines = [str(line) for line in receipt.data.get("packages", ())]
        return {p.name: p for p in parse_lock(lines, self.target.prefix / NAME).packages}

    @functools.cached_property
    def deviating(self) -> FrozenSet[str]:
        """The distributions that are not as the receipt has them: gone, or of another version."""
        packages = self.packages
        return frozenset(
            name
            for name, locked in self.locked.items()
            if name not in packages or (locked.version and not same(packages[name].version, locked.version))
        )

    @functools.cached_property
    def replacements(self) -> FrozenSet[str]:
        """The distributions that own the import package of another."""
        return frozenset(r.by for stack in stacks() for row in stack.rows for r in row.replaces)

    def _read_records(self) -> Dict[str, int]:
        return {f"{d.folder}/{e.path}": e.size for d in self.installed for e in d.record}

    @functools.cached_property
    def facts(self) -> Machine:
        """The machine's facts with the environment's: its packages, and its interpreter as the only one."""
        if self.target is None:
            return self.machine
        target, arch = self.target, self.target.processor
        python = {
            "version": target.version or None,
            "path": str(target.python),
            "bits": arch[1] if arch else None,
            "arch": arch[0] if arch else None,
            "emulated": False,
            "implementation": "cpython",
            "store": store(target),
            "source": "environment",
        }
        versions = {name: d.version for name, d in self.packages.items()}
        where = str(target.prefix)
        return self.machine.with_facts([Fact("python", [python], where), Fact("packages", versions, where)])


def in_question(machine: Machine) -> Machine:
    """Return the facts with only those packages that rules ask for.

    Rules also look for words in names, as people say what they want; a package such as ``lazy-object-proxy``
    says nothing of a proxy.
    """
    fact = machine.get("packages")
    if not fact.known:
        return machine
    kept = {name: version for name, version in fact.value.items() if _ASKED_FOR.match(name)}
    return machine.with_facts([dataclasses.replace(fact, value=kept)])


def same(one: str, other: str) -> bool:
    """Say whether two texts are the same version."""
    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return one == other


def store(target: Target) -> bool:
    """Say whether an interpreter is the Microsoft Store's, whose programs see PATH's DLLs no more."""
    home = target.config.get("home", "")
    return any("windowsapps" in text.lower() for text in (str(target.python), home))
