"""``envsetup explain``."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Dict, List, Tuple

import click

from envsetup.cli.common import Outcome, command, machine_options, read_machine
from envsetup.errors import DONE, FINDINGS, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from envsetup.diagnose import Diagnosis

WEAK = 0.6  # below it, the text alone does not say enough
COMMAND = "envsetup.command"
IN_MEMORY = 8 << 20  # bytes of a log that are kept in memory; more go to a temporary file


class _Explain(click.Command):
    """A command that keeps what follows ``--``: a program to run."""

    def parse_args(self, ctx: click.Context, args: List[str]) -> List[str]:
        """Set the program's words aside before click reads the options."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[COMMAND] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


@click.command(
    cls=_Explain,
    epilog="""\b
Examples:
  envsetup explain install.log                     a log in a file
  pip install torch 2>&1 | envsetup explain -      a log from a pipe
  envsetup explain -- pip install tensorflow-gpu   run it, and explain it if it fails
  envsetup explain - --machine machine.json < log  with the facts of the machine where it happened

\b
With -- the program's own exit code is passed on (127: not found). Without, 1 when an error was
recognised, else 0. A log is read by itself; this machine's facts count when it does not say
enough, and always for a program that is run here.""",
)
@click.argument("log", required=False, type=click.Path(dir_okay=False, allow_dash=True))
@machine_options
@command
def explain(log: str | None, machine_file: str | None, assumptions: Tuple[str, ...]) -> Outcome:
    """Name the cause behind an error log, with the evidence and the fix."""
    from envsetup.diagnose import explain as ask

    words: Tuple[str, ...] | None = click.get_current_context().meta.get(COMMAND)
    if words is not None:
        return _run(words, log, machine_file, assumptions)
    text = _open(log)
    if machine_file or assumptions:
        return _outcome(ask(text, read_machine(machine_file, assumptions)))
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as kept:  # a pipe can be read once only
        shutil.copyfileobj(text, kept)
        kept.seek(0)
        diagnosis = ask(kept)
        if not diagnosis.findings or diagnosis.findings[0].score < WEAK:
            kept.seek(0)
            diagnosis = ask(kept, read_machine(None, ()))
    return _outcome(diagnosis)


def _open(log: str | None) -> IO[Any]:
    if log is None or log == "-":
        if sys.stdin is None or (log is None and sys.stdin.isatty()):
            raise UsageError("There is no log.", "Give a file, - for a pipe, or -- and a program to run.")
        return sys.stdin.buffer
    try:
        return Path(log).open("rb")
    except OSError as error:
        raise UsageError(f"{log} can't be read: {error.strerror}.", "Check the path of the log.") from None


def _run(
    words: Tuple[str, ...], log: str | None, machine_file: str | None, assumptions: Tuple[str, ...]
) -> Outcome:
    from envsetup.cli.passing import run
    from envsetup.diagnose import explain as ask

    if log is not None or not words:
        raise UsageError("Give either a log, or -- and a program.", "envsetup explain -- pip install torch")
    code, output = run(words, quiet=bool(click.get_current_context().params.get("as_json")))
    if code == 0:
        data: Dict[str, Any] = {
            "schema": 1,
            "ok": True,
            "findings": [],
            "missing_facts": [],
            "facts_from": {},
        }
        return Outcome(DONE, {**data, "exit": 0}, lambda out: None)
    diagnosis = ask(io.BytesIO(output), read_machine(machine_file, assumptions), " ".join(words))
    outcome = _outcome(diagnosis)
    return Outcome(code, {**outcome.data, "exit": code}, outcome.show)


def _outcome(diagnosis: Diagnosis) -> Outcome:
    from envsetup.report.findings import show_findings, show_missing

    def show(out: Console) -> None:
        if not diagnosis.findings:
            out.print("Nothing in this is a failure that envsetup knows.")
        show_findings(out, diagnosis.findings)
        if diagnosis.missing_facts:
            out.print()
        show_missing(out, diagnosis.missing_facts)

    return Outcome(DONE if diagnosis.ok else FINDINGS, diagnosis.to_json(), show)
