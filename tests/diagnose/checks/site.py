"""An environment on disk for the checks: real wheels, unpacked as an installer does; no interpreter."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, Union

from envsetup.diagnose.checks.check import Problem, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.target import Target, open_path
from envsetup.knowledge.stacks import Replacement
from envsetup.machine.fact import Fact, Machine
from envsetup.plan.provides import write_record
from tests.support.wheels import tiny_wheel

LINUX = {
    "os": "linux",
    "wsl": 0,
    "arch": "x86_64",
    "libc": "glibc",
    "glibc": "2.36",
    "gpu": [],
    "distro": "debian",
}


class Site:
    """A folder that is laid out as a virtual environment.

    Attributes:
        prefix: the environment.
        packages: its site-packages.
    """

    def __init__(self, folder: Path, version: str = "3.8", config: str = "") -> None:
        self.folder, self.prefix = folder, folder / "env"
        self.packages = self.prefix / "lib" / f"python{version}" / "site-packages"
        self.packages.mkdir(parents=True)
        home = folder / "base" / "bin"
        (self.prefix / "pyvenv.cfg").write_text(
            f"home = {home}\nversion_info = {version}.18\n{config}", "utf-8"
        )
        (self.prefix / "bin").mkdir()
        self.facts: Dict[str, Any] = dict(LINUX)

    def add(self, name: str, version: str, **wheel: Any) -> Site:
        """Install a small wheel."""
        path = tiny_wheel(self.folder / "wheels", name, version, **wheel)
        with zipfile.ZipFile(path) as archive:
            archive.extractall(self.packages)
        return self

    def write(self, path: str, content: Union[str, bytes]) -> Path:
        """Write a file below site-packages, over whatever is there."""
        target = self.packages / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def receipt(self, packages: Iterable[str], replaces: Iterable[Replacement] = (), **data: Any) -> Site:
        """Write a receipt as ``create`` does, and the records of what is provided."""
        for replacement in replaces:
            write_record(self.packages, replacement)
        whole = {
            "schema": 1,
            "key": {"provides": True},
            "stack": "tiny==1",
            "framework": "torch",
            "backend": "cpu",
            "packages": list(packages),
            "replaces": [vars(r) for r in replaces],
            **data,
        }
        (self.prefix / "envsetup.json").write_text(json.dumps(whole), "utf-8")
        return self

    @property
    def target(self) -> Target:
        return open_path(self.prefix)

    def context(self, environ: Mapping[str, str] | None = None, **more: Any) -> Context:
        machine = Machine.of(Fact(name, value, "test") for name, value in self.facts.items())
        return Context(lambda: machine, self.target, environ=environ or {}, folder=self.folder, **more)

    def seen(self, look: Callable[[Context], Seen], **context: Any) -> Seen:
        return look(self.context(**context))


def codes(seen: Seen) -> List[str]:
    """Return the codes that a check found."""
    return [problem.candidate.code for problem in seen.problems]


def problem(seen: Seen, code: str) -> Problem:
    """Return the one problem of a code."""
    (found,) = [p for p in seen.problems if p.candidate.code == code]
    return found
