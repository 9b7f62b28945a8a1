"""Errors that end a command, with the exit code that scripts rely on."""

from __future__ import annotations

DONE = 0
FINDINGS = 1
USAGE = 2
NO_STACK = 3
BUILD_FAILED = 4
PROBE_FAILED = 5
INTERRUPTED = 130


class EnvsetupError(Exception):
    """What went wrong, said for a person, and what to do next.

    Args:
        message: one or two sentences: what happened, to what.
        hint: what to do next, or an empty string.
    """

    exit_code = BUILD_FAILED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(EnvsetupError):
    """The command line or a file that the user gave is wrong."""

    exit_code = USAGE


class BuildError(EnvsetupError):
    """An environment could not be built; the earlier one, if any, is as it was."""

    exit_code = BUILD_FAILED
