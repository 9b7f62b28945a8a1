"""Whether a plan may be carried out on this machine."""

from __future__ import annotations

import platform
import sys

from envsetup.errors import NO_STACK, EnvsetupError, UsageError
from envsetup.knowledge.pythons import pythons
from envsetup.knowledge.stacks import PLATFORMS
from envsetup.plan.steps import Plan


class NoConsent(EnvsetupError):
    """A Python would have to be downloaded, and nobody agreed to it."""

    exit_code = NO_STACK


def own_machine(plan: Plan, machine_file: str | None) -> None:
    """Refuse a plan for another machine.

    Raises:
        UsageError: the plan is from a recording, or its platform is not this one.
    """
    systems = {"win32": ("windows",), "darwin": ("macos",)}.get(sys.platform, ("linux", "wsl"))
    wanted = PLATFORMS[plan.verdict.platform].systems
    if machine_file or not set(systems) & set(wanted):
        where = machine_file or f"{plan.verdict.platform}, and this is {platform.system()}"
        raise UsageError(f"This plan is for another machine ({where}).", "Add --dry-run to see the plan.")


def consent(plan: Plan, given: bool) -> None:
    """Refuse to download a Python without consent.

    Raises:
        NoConsent: with the other ways to get that Python.
    """
    if plan.python.fetch and not given:
        version = plan.python.version
        raise NoConsent(
            f"{plan.row.name} needs Python {version}, and this machine has none.",
            f"Add --yes to download it with uv, or install it with "
            f"{pythons().elsewhere.format(version=version)}.",
        )
