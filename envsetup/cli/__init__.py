"""The command line: one file a command; what they do is elsewhere."""

from __future__ import annotations

import importlib
import sys
from typing import List, Tuple

import click

from envsetup import __version__
from envsetup.errors import BUILD_FAILED, INTERRUPTED, USAGE

# Named here with their summaries, so that --help imports none of them.
COMMANDS = {
    "create": "Make an environment that works on this machine's GPU, and prove it.",
    "doctor": "Look for what is wrong with the machine or an environment.",
    "probe": "Run a real computation on the device in an environment.",
    "explain": "Name the cause behind an error log, and the fix.",
    "stacks": "List what is known, and what fits this machine.",
    "facts": "Show what envsetup sees of this machine.",
}


class LazyGroup(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> List[str]:
        """Return the names in the order in which a user meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"envsetup.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: List[str]
    ) -> Tuple[str | None, click.Command | None, List[str]]:
        """Return the command that ``args`` begin with; a misspelt one is answered with its neighbour."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            if not near:
                raise
            raise click.UsageError(f"No such command {args[0]!r}. Did you mean {near[0]!r}?", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


_EXAMPLES = """\b
Examples:
  envsetup create                      whatever fits this machine
  envsetup create --backend dml        PyTorch on DirectML (Windows, WSL)
  envsetup create --backend cuda       TensorFlow on NVIDIA
  envsetup doctor                      what is wrong here

Exit codes: 0 done; 1 findings; 2 usage; 3 no stack fits; 4 building failed; 5 the probe failed."""


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EXAMPLES,
)
@click.version_option(__version__, prog_name="envsetup")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Put a working GPU deep-learning environment on this machine, and prove it."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(USAGE)


def main() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        # A Windows console or pipe may not know every letter of a path: show it escaped rather than fail.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("Interrupted.", err=True)
        code = INTERRUPTED
    except click.ClickException as error:
        code = _usage(error)
    except OSError as error:  # a full disk behind `> file`
        click.echo(f"error: the output can't be written: {error.strerror or error}", err=True)
        code = BUILD_FAILED
    sys.exit(code if isinstance(code, int) else 0)


def _usage(error: click.ClickException) -> int:
    from envsetup.cli.common import refuse

    context = getattr(error, "ctx", None)
    path = context.command_path if context else "envsetup"
    return refuse(error.format_message(), f"`{path} --help` shows what there is.")
