"""Judge an environment: native libraries first, without importing anything, then the probe."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Tuple

from envsetup import uv
from envsetup.build import native
from envsetup.build.environment import Environment
from envsetup.errors import BuildError
from envsetup.machine.fact import Machine
from envsetup.probe.report import ProbeReport
from envsetup.probe.run import run
from envsetup.probe.unsearched import unsearched


def examine(
    environment: Environment,
    framework: str,
    backend: str,
    device: str | None = None,
    machine: Machine | None = None,
    report: uv.Report = lambda line: None,
) -> ProbeReport:
    """Return the probe's report; an import that fails is explained by all missing libraries at once.

    Args:
        device: e.g. ``dml:1``; None takes the first.
        machine: for the names of its distribution's packages, and where its CUDA is.
        report: called with lines of progress.
    """
    machine = machine or Machine.of([])
    missing, advice = missing_libraries(environment, framework, machine.value("distro"))
    for line in advice:
        report(line)
    report(f"probing: {framework} on {backend}")
    found = run(environment.python, framework, backend, device)
    if found.ok:
        return found
    reason = [found.reason]
    if missing and found.stage in ("start", "import"):
        found = dataclasses.replace(
            found, missing_libraries=tuple(dict.fromkeys((*found.missing_libraries, *missing)))
        )
        reason += advice
    reason += unsearched(found.missing_libraries, machine)
    return dataclasses.replace(found, reason=". ".join(reason))


def missing_libraries(
    environment: Environment, framework: str, distro: str | None
) -> Tuple[Tuple[str, ...], Tuple[str, ...]]:
    """Return the libraries without which ``framework`` can't be imported, and what to do about them."""
    try:
        site_packages: Path = environment.site_packages
    except BuildError:
        return (), ()
    checked = native.check(site_packages, packages=[framework], interpreter=environment.python)
    lacking = [library for library in checked.missing if library.required]
    if not lacking:
        return (), ()
    told = native.advice(lacking, distro)
    names = tuple(library.soname for library in lacking)
    commands = [f"install them with: {command}" for command in told.commands.values()]
    return names, (f"missing libraries: {', '.join(names)}", *commands, *told.notes)
