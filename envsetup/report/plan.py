"""Plans, refusals and results on a terminal."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from envsetup.build.build import Result
from envsetup.plan.planner import NoStackFits
from envsetup.plan.steps import Plan, Step
from envsetup.report.layout import hang


def megabytes(size: int) -> str:
    """Return a size in bytes for people."""
    return f"{size / 1e6:.1f} MB" if size < 10**8 else f"{size / 1e6:.0f} MB"


def _count(packages: int) -> str:
    return "1 package" if packages == 1 else f"{packages} packages"


def _line(step: Step) -> str:
    names = ", ".join(p.requirement for p in step.packages)
    if step.elided:
        return f"{step.action} {names}: left out, nothing of it would stay ({megabytes(step.bytes)} saved)"
    if step.action == "install":
        return f"install {_count(len(step.packages))}, {megabytes(step.bytes)}: {names}"
    if step.replacement is not None:
        return f"record that {step.replacement.provided} is provided by {step.replacement.by}"
    return f"{step.action} {names}".strip()


def show_choice(out: Console, plan: Plan) -> None:
    """Write which stack was chosen and why."""
    row, python = plan.row, plan.python
    out.print(Text.assemble(("stack ", "bold"), (row.name, "bold green"), f" on Python {python.version}"))
    if plan.assumed:
        hang(out, Text.assemble(("assumed, not read here: ", "yellow"), ", ".join(plan.assumed)))
    if row.backend == "cpu":
        out.print(Text("No GPU is used: this environment computes on the CPU.", "yellow"))
        with_gpu = [v for v in plan.resolution.rejected if v.row.backend != "cpu"]
        for verdict in {v.row.family: v for v in reversed(with_gpu)}.values():
            hang(out, Text(f"{verdict.row.name}: {verdict.unmet[0]}"), 2)
    for reason in plan.resolution.reasons:
        hang(out, Text(reason), 2)


def show_plan(out: Console, plan: Plan) -> None:
    """Write a dry run."""
    show_choice(out, plan)
    for number, step in enumerate(plan.steps, 1):
        hang(out, Text(_line(step), "dim" if step.elided else ""), 4, Text(f"{number}."))
    if plan.python.fetch:
        out.print(Text(f"Python {plan.python.version} is not here and would be downloaded.", "yellow"))
    out.print(Text(f"to download: {megabytes(plan.download_bytes)}"))


def show_result(out: Console, plan: Plan, result: Result) -> None:
    """Write what ``create`` ended with."""
    show_choice(out, plan)
    probe = result.receipt.probe
    if result.probed and probe is not None:
        from envsetup.report.probe import show_probe

        show_probe(out, probe)
    if result.environment is None:
        out.print("The earlier environment was kept. --no-probe puts the new one in place all the same.")
        return
    path = result.environment.path
    out.print(Text.assemble(("environment ", "bold"), str(path)))
    out.print(Text(f"use it: {activation(path)}"))


def activation(path: Path) -> str:
    """Return the command that activates an environment."""
    if sys.platform == "win32":
        return f'"{path}\\Scripts\\activate"'
    return f"source {shlex.quote(str(path / 'bin' / 'activate'))}"


def show_refusal(out: Console, error: NoStackFits) -> None:
    """Write each refused stack with every unmet requirement, and what would work instead."""
    for verdict in error.resolution.rejected:
        out.print(Text(verdict.row.name, "bold"))
        for unmet in verdict.unmet:
            hang(out, Text(str(unmet)), 2)
            hang(out, Text(unmet.fix, "cyan"), 4)
    if error.assumed:
        out.print(Text(f"assumed, not read here: {', '.join(error.assumed)}", "yellow"))
    if error.resolution.alternatives:
        names = ", ".join(
            f"--stack {v.row.family} (--backend {v.row.backend})" for v in error.resolution.alternatives
        )
        hang(out, Text.assemble(("would work here: ", "bold"), names))
