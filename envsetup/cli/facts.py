"""``envsetup facts``."""

from __future__ import annotations

from typing import Tuple

import click

from envsetup.cli.common import Outcome, command, machine_options, patience
from envsetup.errors import DONE


@click.command(
    epilog="""\b
Examples:
  envsetup facts                          what is seen here, and where it was read
  envsetup facts --record machine.json    save it, for --machine elsewhere"""
)
@click.option("--record", type=click.Path(dir_okay=False), metavar="FILE", help="Save what was read.")
@machine_options
@command
def facts(record: str | None, machine_file: str | None, assumptions: Tuple[str, ...]) -> Outcome:
    """Show what envsetup sees of this machine: each fact, its value, and where it was read."""
    from envsetup.cli.common import read_machine
    from envsetup.errors import UsageError
    from envsetup.report.facts import show_facts

    if record:
        if machine_file or assumptions:
            raise UsageError("--record saves this machine alone.", "Leave out --machine and --assume.")
        from envsetup.machine import RealHost, RecordingHost, read
        from envsetup.machine.recording import save

        host = RecordingHost(RealHost())
        with patience("reading what this machine has"):
            machine = read(host)
        save(record, host)
    else:
        machine = read_machine(machine_file, assumptions)
    return Outcome(DONE, machine.to_json(), lambda out: show_facts(out, machine))
