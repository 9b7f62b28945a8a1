"""``envsetup stacks``."""

from __future__ import annotations

from typing import Tuple

import click

from envsetup.cli.common import Outcome, command, machine_options, read_machine
from envsetup.errors import DONE


@click.command(
    epilog="""\b
Examples:
  envsetup stacks                        what fits here, and what is missing
  envsetup stacks tensorflow-gpu         every version of one stack
  envsetup stacks --machine lab-7.json   on a machine that was recorded"""
)
@click.argument("name", required=False)
@click.option("--html", "page", type=click.Path(dir_okay=False), metavar="FILE", help="Also write a page.")
@machine_options
@command
def stacks(
    name: str | None, page: str | None, machine_file: str | None, assumptions: Tuple[str, ...]
) -> Outcome:
    """List what is known, and what fits this machine."""
    from envsetup.report.stacks import show_stacks
    from envsetup.resolve.survey import survey

    machine = read_machine(machine_file, assumptions)
    entries = survey(machine, name)
    data = {"schema": 1, "assumed": machine.assumed, "stacks": entries}
    if page:
        from pathlib import Path

        from envsetup.report.html import render_stacks, write

        write(Path(page), render_stacks(data))
    return Outcome(DONE, data, lambda out: show_stacks(out, entries, detail=name is not None))
