"""``envsetup doctor``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

import click

from envsetup.cli.common import Outcome, Progress, ask, command, machine_options, read_machine
from envsetup.errors import DONE, FINDINGS, EnvsetupError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from envsetup.diagnose.checks.check import Check, Result
    from envsetup.diagnose.checks.context import Context
    from envsetup.diagnose.checks.target import Target


@click.command(
    epilog="""\b
Examples:
  envsetup doctor                              the machine, and the environment in .venv or the active one
  envsetup doctor lab --no-probe               without running anything of it
  envsetup doctor --python /usr/bin/python3    an interpreter's own packages
  envsetup doctor --backend dml                what stands between this machine and DirectML
  envsetup doctor lab --fix                    show what would repair it, ask, and do it
  envsetup doctor lab --record report.json     to send to others, without names
  envsetup doctor --machine report.json        what the facts of another machine say"""
)
@click.argument("path", required=False, type=click.Path(file_okay=False))
@click.option("--python", "python", metavar="INTERPRETER", help="The environment of this interpreter.")
@click.option("--backend", metavar="NAME", help="The backend that is wanted, to look at the machine for it.")
@click.option("--only", metavar="NAME", multiple=True, help="Only these checks. Repeatable, or with commas.")
@click.option("--list", "listed", is_flag=True, help="List the checks.")
@click.option("--no-probe", is_flag=True, help="Run nothing of the environment.")
@click.option("--fix", is_flag=True, help="Repair what can be repaired in an environment that envsetup made.")
@click.option("--yes", is_flag=True, help="Repair without asking.")
@click.option(
    "--html", type=click.Path(dir_okay=False), metavar="FILE", help="Also write one page for a browser."
)
@click.option(
    "--record", type=click.Path(dir_okay=False), metavar="FILE", help="Also save facts and findings."
)
@machine_options
@command
def doctor(
    path: str | None,
    python: str | None,
    backend: str | None,
    only: Tuple[str, ...],
    listed: bool,
    no_probe: bool,
    fix: bool,
    yes: bool,
    html: str | None,
    record: str | None,
    machine_file: str | None,
    assumptions: Tuple[str, ...],
) -> Outcome:
    """Look for what is wrong with the machine or an environment: causes, evidence, and how to fix them.

    Exit code 1 when there is an error among the findings, else 0.
    """
    from envsetup.diagnose.checks.catalogue import CHECKS, choose
    from envsetup.diagnose.checks.context import Context
    from envsetup.diagnose.checks.run import run
    from envsetup.resolve.wish import Wish

    if listed:
        return _listing(CHECKS)
    Wish(backend).check()
    names = [name.strip() for text in only for name in text.split(",") if name.strip()]
    checks = [c for c in choose(names) if c.about != "probe" or not no_probe]
    target = _target(path, python, machine_file)
    if names and target is None and all(c.about != "machine" for c in checks):
        raise UsageError(
            "These checks need an environment.", "Give its folder, or an interpreter with --python."
        )
    with Progress() as progress:
        context = Context(
            lambda: read_machine(machine_file, assumptions),
            target,
            backend or "",
            replayed=bool(machine_file),
            report=progress,
        )
        results = run(checks, context)
    repaired: Dict[str, Any] | None = None
    if fix:
        results, context, repaired = _fix(results, checks, context, yes)
    return _outcome(results, context, repaired, html, record)


def _target(path: str | None, python: str | None, machine_file: str | None) -> Target | None:
    """Return the environment in question: the one named, the one in .venv, or the active one."""
    from envsetup.diagnose.checks.target import open_path, open_python

    if path and python:
        raise UsageError("PATH and --python name two environments.", "Give one of them.")
    if python:
        return open_python(Path(python))
    if path:
        return open_path(Path(path))
    active = os.environ.get("VIRTUAL_ENV", "")
    for folder in (Path(".venv"), *([Path(active)] if active else [])):
        if not machine_file and (folder / "pyvenv.cfg").is_file():
            return open_path(folder)
    return None


def _listing(checks: Tuple[Check, ...]) -> Outcome:
    data = [{"name": c.name, "title": c.title, "about": c.about, "limit": c.limit} for c in checks]

    def show(out: Console) -> None:
        for check in checks:
            out.print(f"{check.name:<13} {check.title} [dim]({check.about})[/dim]")

    return Outcome(DONE, {"schema": 1, "checks": data}, show)


def _fix(
    results: Tuple[Result, ...], checks: List[Check], context: Context, yes: bool
) -> Tuple[Tuple[Result, ...], Context, Dict[str, Any]]:
    """Show what can be repaired, ask, do it, and look again: return what is seen then, and how it went."""
    from envsetup import uv
    from envsetup.cli.common import console
    from envsetup.diagnose.checks import repair
    from envsetup.report.findings import show_repair

    plan = repair.plan(results, context)
    if plan is None:
        why = "there is nothing that envsetup can repair"
        if context.target is not None and context.target.receipt is None:
            why = f"{context.target.prefix} was not made by envsetup, which repairs only what it made"
        context.report(why)
        return results, context, {"ok": None, "why": why, "commands": [], "codes": []}
    commands = list(plan.commands(context))
    out: Dict[str, Any] = {"ok": None, "why": "", "commands": commands, "codes": list(plan.codes)}
    show_repair(console(stderr=True), commands)
    if not (yes or ask("Carry it out?")):
        context.report("nothing was changed; --yes repairs without asking")
        return results, context, {**out, "why": "nobody agreed"}
    try:
        with Progress() as progress:
            repair.carry_out(plan, context, uv.settings(context.machine.value("pip")), progress)
    except EnvsetupError as error:
        why = f"{error.message} {error.hint}".strip()
        context.report(f"the repair failed: {why}")
        return results, context, {**out, "ok": False, "why": why}
    results, context, left = repair.verify(plan, checks, context)
    why = f"found again: {', '.join(left)}" if left else ""
    context.report(why or "repaired")
    return results, context, {**out, "ok": not left, "why": why}


def _outcome(
    results: Tuple[Result, ...],
    context: Context,
    repaired: Dict[str, Any] | None,
    html: str | None,
    record: str | None,
) -> Outcome:
    from envsetup.diagnose.checks.run import together
    from envsetup.report import findings as shown

    found = together(results)
    if context.target is None:
        # Facts alone: the surest cause first, as the rules rank them.
        found = tuple(sorted(found, key=lambda f: -f.score))
    ok = all(f.severity != "error" for f in found)
    more = {r.check.name: r.seen.data for r in results if r.seen}
    system = more.get("system")
    missing = system.get("missing_facts", {}) if isinstance(system, dict) else {}
    data: Dict[str, Any] = {
        "schema": 1,
        "ok": ok,
        "findings": [f.to_json() for f in found],
        "checks": [shown.check_json(r) for r in results],
        "environment": _environment(context, more.get("contents")),
        "assumed": context.machine.assumed,
        "fits": more.get("stacks"),
        "probe": more.get("probe"),
        "missing_facts": [{"fact": name, "why": why} for name, why in missing.items()],
    }
    if repaired is not None:
        data["fix"] = repaired
    if record:
        from envsetup.report.record import save

        save(Path(record), context.facts, data)
        context.report(f"saved in {record}")
    if html:
        from envsetup.report.html import render, write

        write(Path(html), render(data, context.facts))
        context.report(f"written to {html}")
    what = (
        str(context.target.prefix)
        if context.target
        else "the machine of the file"
        if context.replayed
        else "this machine"
    )

    def show(out: Console) -> None:
        if context.machine.assumed:
            out.print(f"[yellow]assumed, not read here: {', '.join(context.machine.assumed)}[/yellow]")
        shown.show_checks(out, results)
        shown.show_findings(out, found)
        shown.show_verdict(out, found, what)
        if not found and context.replayed:
            shown.show_missing(out, missing)

    return Outcome(DONE if ok else FINDINGS, data, show)


def _environment(context: Context, contents: object) -> Dict[str, Any] | None:
    target = context.target
    if target is None:
        return None
    return {
        "path": str(target.prefix),
        "interpreter": str(target.python),
        "python": target.version or None,
        "kind": target.kind,
        "made_by_envsetup": target.receipt is not None,
        **(contents if isinstance(contents, dict) else {"stack": None, "framework": None, "backend": None}),
    }
