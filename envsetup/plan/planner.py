"""From a machine and a wish to a plan, or to a refusal that explains itself."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Sequence

from envsetup import uv
from envsetup.errors import NO_STACK, EnvsetupError
from envsetup.knowledge.indexes import index_url
from envsetup.knowledge.stacks import Row
from envsetup.machine.fact import Machine
from envsetup.machine.secrets import mask
from envsetup.plan.additions import Additions
from envsetup.plan.closure import ClosureError, resolve_packages
from envsetup.plan.earlier import earlier_lock, wish_digest
from envsetup.plan.limits import constraint_files, meets
from envsetup.plan.lock import lock_path, read_lock
from envsetup.plan.steps import SCHEMA, Plan, order
from envsetup.resolve.resolver import Resolution, resolve
from envsetup.resolve.wish import Wish


class NoStackFits(EnvsetupError):
    """No row fits the machine and the wish.

    Args:
        resolution: the refused rows, and what would work instead.
    """

    exit_code = NO_STACK

    def __init__(self, resolution: Resolution, assumed: Sequence[str]) -> None:
        nearest = resolution.rejected[0] if resolution.rejected else None
        if nearest:
            fix = nearest.unmet[0].fix
            super().__init__("No stack fits this machine.", f"{fix[:1].upper()}{fix[1:]}.")
        else:
            hint = "`envsetup stacks` lists what is known, and `envsetup stacks NAME` its versions."
            super().__init__("No stack that is known is what you ask for.", hint)
        self.resolution, self.assumed = resolution, assumed

    def to_json(self) -> Dict[str, Any]:
        """Return the refusal as ``create --json`` prints it."""
        return {
            "schema": SCHEMA,
            "stack": None,
            "assumed": list(self.assumed),
            "rejected": [v.to_json() for v in self.resolution.rejected],
            "alternatives": [
                {"stack": v.row.name, "backend": v.row.backend, "framework": v.row.framework}
                for v in self.resolution.alternatives
            ],
        }


def make_plan(
    machine: Machine,
    wish: Wish,
    additions: Additions,
    env: Mapping[str, str],
    *,
    as_documented: bool = False,
    provides: bool = True,
    probe: bool = True,
    earlier: Mapping[str, Any] | None = None,
    report: uv.Report = lambda line: None,
) -> Plan:
    """Choose the stack and order its steps.

    Without additions the shipped lock is used and nothing is asked of any network, unless pip's or uv's
    constraints speak against it; a row of another index than the default one has no lock: it is resolved.

    Args:
        earlier: the receipt of the environment that is there. If it was made for the same wish, its packages
            are taken again.

    Raises:
        NoStackFits: when no row fits.
        UsageError: when an addition is no requirement.
        ClosureError: when the user's additions contradict the stack.
    """
    additions.check()
    resolution = resolve(machine, wish)
    verdict = resolution.chosen
    if verdict is None or verdict.python is None:
        raise NoStackFits(resolution, machine.assumed)
    row, python, platform = verdict.row, verdict.python, verdict.platform
    env = index_settings(row, env)
    shipped = None if row.index else read_lock(lock_path(row, python.version, platform))
    limits = constraint_files(env)
    wish_key = {
        "stack": row.name,
        "python": python.version,
        "platform": platform,
        "requirements": list(additions.record()),
    }
    given = wish_digest(row, shipped, limits)
    lock = shipped if shipped and not additions and meets(shipped, limits) else None
    lock = lock or earlier_lock(earlier or {}, wish_key, given)
    if lock is None:
        report("resolving the packages")
        try:
            lock = resolve_packages(
                row,
                python.version,
                platform,
                env,
                additions.requirements,
                additions.files,
                prefer=shipped.packages if shipped else (),
                interpreter=python.path,
                report=report,
            )
        except ClosureError as error:
            raise (_conflict(error, row) if additions else _not_there(error, row, env)) from None
    steps = order(row, lock, as_documented=as_documented, provides=provides, probe=probe)
    return Plan(verdict, resolution, lock, steps, wish_key, given, tuple(machine.assumed))


def index_settings(row: Row, env: Mapping[str, str]) -> Mapping[str, str]:
    """Return uv's settings with the index that the row needs besides the default one."""
    return uv.with_index(env, index_url(row.index, env)) if row.index else env


def _not_there(error: ClosureError, row: Row, env: Mapping[str, str]) -> ClosureError:
    """Return uv's explanation of why a row can't be resolved, with the index that should have it."""
    if not row.index or error.hint:
        return error
    where = mask(index_url(row.index, env))
    mirror = f"ENVSETUP_INDEX_{row.index.partition('/')[0].upper()}"
    return ClosureError(
        f"{row.name} is not to be had. {error.message}",
        f"It comes from {where}, which lacks it ({mirror} names another one). "
        f"`envsetup stacks {row.family}` lists other builds, which --stack takes.",
    )


def _conflict(error: ClosureError, row: Row) -> ClosureError:
    """Return uv's explanation of a conflict with what the stack holds fixed; other failures as they are."""
    if error.hint:
        return error
    fixed = [f"{r.name} is {r.version}, provided by {r.by}" for r in row.replaces]
    fixed += [str(r) for r in (*row.install, *row.ceilings)]
    return ClosureError(
        f"What you add does not go with {row.name}. {error.message}",
        f"Ask for another version, or leave it out. Held fixed here: {'; '.join(fixed)}.",
    )
