"""What all commands share: --json, --machine, --assume, messages, errors and exit codes."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import signal
import sys
import threading
import traceback
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, NamedTuple, Sequence

import click

from envsetup.errors import INTERRUPTED, NO_STACK, EnvsetupError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from envsetup.machine.fact import Machine


_FULL = (errno.ENOSPC, errno.EDQUOT)
_PATIENCE = 1.0  # seconds that may pass without a word


class Outcome(NamedTuple):
    """What a command ends with.

    Args:
        code: the exit code.
        data: what ``--json`` prints.
        show: writes it for people to stdout.
    """

    code: int
    data: Dict[str, Any]
    show: Callable[[Console], None]


class Interrupted(EnvsetupError):
    """The user or the system stopped the run."""

    exit_code = INTERRUPTED


class Defect(EnvsetupError):
    """envsetup itself is wrong. Its exit code is none of those that scripts act on: sysexits' EX_SOFTWARE."""

    exit_code = 70


def console(stderr: bool = False) -> Console:
    """Return a console; NO_COLOR and a dumb terminal are honoured by rich."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def command(function: Callable[..., Outcome]) -> Callable[..., int]:
    """Turn a function that returns an Outcome into the body of a click command with ``--json``."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else on stdout.")
    @functools.wraps(function)
    def body(as_json: bool, **options: Any) -> int:
        # A provisioning tool stops a run with SIGTERM: clean up as after Ctrl-C.
        signal.signal(signal.SIGTERM, lambda *_: _interrupt())
        try:
            outcome = function(**options)
        except EnvsetupError as error:
            outcome = _failure(error)
        except KeyboardInterrupt:
            outcome = _failure(Interrupted("Interrupted; what was there is as it was."))
        except OSError as error:  # a full disk, a folder without permission: the machine's, not a bug
            outcome = _failure(_unwritable(error))
        except Exception as error:
            outcome = _failure(_defect(error))
        if as_json:
            click.echo(json.dumps(outcome.data, indent=1))
        else:
            outcome.show(console())
        return outcome.code

    return body


def _unwritable(error: OSError) -> EnvsetupError:
    where = f"{error.filename}: " if error.filename else ""
    full = "Free some space, or choose another path." if error.errno in _FULL else ""
    return EnvsetupError(f"{where}{error.strerror or error}", full)


def _defect(error: Exception) -> EnvsetupError:
    if os.environ.get("ENVSETUP_DEBUG"):
        raise error
    where = traceback.extract_tb(error.__traceback__)[-1]
    return Defect(
        f"This is a bug in envsetup: {type(error).__name__}: {error} ({where.filename}, line {where.lineno})",
        "Report it with what `envsetup facts --json` prints. ENVSETUP_DEBUG=1 shows the way there.",
    )


def refuse(message: str, hint: str) -> int:
    """Write what is wrong with the command line itself, in the form that was asked for; return the code."""
    outcome = _failure(UsageError(message, hint))
    if "--json" in sys.argv[1:]:
        click.echo(json.dumps(outcome.data, indent=1))
    return outcome.code


def _interrupt() -> None:
    raise KeyboardInterrupt


def _failure(error: EnvsetupError) -> Outcome:
    """Write an error to stderr and return the outcome that ``--json`` prints."""
    from rich.text import Text

    from envsetup.report.layout import hang

    err = console(stderr=True)
    hang(err, Text(error.message), 7, Text("error: ", "bold red"))
    data: Dict[str, Any] = {"schema": 1}
    if error.exit_code == NO_STACK:
        from envsetup.plan.planner import NoStackFits
        from envsetup.report.plan import show_refusal

        if isinstance(error, NoStackFits):
            show_refusal(err, error)
            data = error.to_json()
    if error.hint:
        hang(err, Text(error.hint), 12, Text("what to do: ", "bold"))
    data.update(ok=False, error={"message": error.message, "hint": error.hint}, exit_code=error.exit_code)
    return Outcome(error.exit_code, data, lambda _: None)


def machine_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--assume`` and ``--machine``."""
    function = click.option(
        "--assume",
        "assumptions",
        multiple=True,
        metavar="KEY=VALUE",
        help="Take a fact as given, e.g. cuda=10.1, gpu=1002:67df, os=windows. Repeatable.",
    )(function)
    return click.option(
        "--machine",
        "machine_file",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Work from a file that `envsetup facts --record` wrote on another machine.",
    )(function)


def read_machine(
    machine_file: str | None, assumptions: Sequence[str], only: Iterable[str] | None = None
) -> Machine:
    """Return the machine that the options name, with the assumptions laid over it."""
    from envsetup.machine import read
    from envsetup.machine.assume import overlay
    from envsetup.machine.recording import load

    with patience("reading what this machine has"):
        machine = load(machine_file) if machine_file else read(only=only)
    return overlay(machine, assumptions) if assumptions else machine


@contextlib.contextmanager
def patience(line: str) -> Iterator[None]:
    """Write ``line`` to stderr if the block takes long, so that nobody wonders."""
    timer = threading.Timer(_PATIENCE, click.echo, (line,), {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Progress:
    """Lines of progress on stderr: one that changes on a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        self._console = console(stderr=True)
        self._status = self._console.status("") if self._console.is_terminal else None

    def __enter__(self) -> Progress:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()

    def __call__(self, line: str) -> None:
        """Show one line. Lines that begin with a small letter are envsetup's own and stay on the screen."""
        from rich.markup import escape

        # uv's own lines begin with a capital letter and pass; envsetup's stay on the screen.
        if self._status is None or (line[:1].islower() and not line.startswith(("warning", "hint"))):
            self._console.print(escape(line))
        else:
            self._status.update(escape(line))


def ask(question: str) -> bool:
    """Ask on a terminal; without one the answer is no."""
    # Windows calls NUL a terminal: it then ends at once, which click reports as Abort.
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        return False
