"""Put an environment right that envsetup made: from its receipt, with uv, everything fetched first."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from pathlib import Path
from typing import Iterable, Mapping, Sequence, Tuple

from envsetup import uv
from envsetup.build import environment as venv
from envsetup.build.place import exclusive
from envsetup.diagnose.checks.check import Check, Repair, Result
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.files import unlike_record
from envsetup.diagnose.checks.run import run
from envsetup.diagnose.checks.target import open_path
from envsetup.errors import BuildError, EnvsetupError
from envsetup.knowledge.stacks import Replacement
from envsetup.plan.lock import Package
from envsetup.plan.provides import write_record


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a repair does, in this order.

    Args:
        remove: distributions that go first: their removal may take files along that others own as well.
        first: packages that are installed before the replacement.
        second: the replacements, which must have the last word.
        provides: records that replaced distributions are provided.
        checks: the checks that must find nothing of it afterwards.
        codes: the findings that it is for.
    """

    remove: Tuple[str, ...]
    first: Tuple[Package, ...]
    second: Tuple[Package, ...]
    provides: Tuple[Replacement, ...]
    checks: Tuple[str, ...]
    codes: Tuple[str, ...]

    def uninstalled(self, context: Context) -> Tuple[str, ...]:
        """Return what is removed first: what is too much, and what is put back afterwards."""
        back = [p.name for p in (*self.first, *self.second) if p.name in context.packages]
        return tuple(dict.fromkeys((*self.remove, *back)))

    def commands(self, context: Context) -> Tuple[str, ...]:
        """Return the commands as a person would type them."""
        assert context.target is not None
        python = (
            f'"{context.target.python}"' if " " in str(context.target.python) else str(context.target.python)
        )
        out = []
        gone = self.uninstalled(context)
        if gone:
            out.append(f"uv pip uninstall --python {python} {' '.join(gone)}")
        for packages in (self.first, self.second):
            if packages:
                names = " ".join(f'"{p.requirement}"' if p.url else p.requirement for p in packages)
                out.append(f"uv pip install --python {python} --no-deps {names}")
        out += [f"(record that {r.provided} is provided by {r.by})" for r in self.provides]
        return tuple(out)


def plan(results: Iterable[Result], context: Context) -> Plan | None:
    """Return what would put right what the checks found; None when nothing would."""
    target = context.target
    if target is None or target.receipt is None:
        return None
    fixable = [(r, p) for r in results if r.seen for p in r.seen.problems if p.repair]
    wanted = sum((p.repair for _, p in fixable), Repair())
    if not wanted:
        return None
    data = target.receipt.data
    try:
        replaces = tuple(Replacement(**r) for r in data.get("replaces", ()))
    except TypeError:
        raise BuildError(
            f"The receipt of {target.prefix} can't be read.", "envsetup create --replace"
        ) from None
    last = {r.by for r in replaces}
    restore = {name for name in wanted.restore if name in context.locked}
    # What goes may have shared files with the replacement, and with what else owns the same package.
    if wanted.remove:
        restore |= last & set(context.locked)
    packages = [p for name, p in context.locked.items() if name in restore]
    provides = replaces if data.get("key", {}).get("provides") and restore & last else ()
    return Plan(
        tuple(name for name in wanted.remove if name in context.packages),
        tuple(p for p in packages if p.name not in last),
        tuple(p for p in packages if p.name in last),
        provides,
        tuple(dict.fromkeys(result.check.name for result, _ in fixable)),
        tuple(dict.fromkeys(p.candidate.code for _, p in fixable)),
    )


def carry_out(plan: Plan, context: Context, env: Mapping[str, str], report: uv.Report) -> None:
    """Repair the environment.

    All packages are fetched, unpacked and checked elsewhere before anything is removed, so that a network
    that fails leaves the environment as it was.

    Args:
        env: for uv, from :func:`envsetup.uv.settings`.

    Raises:
        EnvsetupError: nothing was changed.
        HalfRepairedError: something was.
    """
    target = context.target
    assert target is not None
    packages = [*plan.first, *plan.second]
    with exclusive(
        target.prefix, lambda: report(f"another run is working on {target.prefix}; waiting for it")
    ):
        _fetch(packages, target.python, target.prefix, env, report)
        try:
            gone = plan.uninstalled(context)
            if gone:
                report(f"removing {', '.join(gone)}")
                uv.run(["pip", "uninstall", f"--python={target.python}", *gone], env)
            for group in (plan.first, plan.second):
                if group:
                    report(f"installing {', '.join(p.requirement for p in group)}")
                    _install(group, target.python, env, report)
            for replacement in plan.provides:
                _provide(target.environment, replacement)
        except EnvsetupError as error:
            raise HalfRepairedError(target.prefix, error.message, error.hint) from None
        except KeyboardInterrupt:
            raise HalfRepairedError(
                target.prefix, "Interrupted while the environment was repaired."
            ) from None


def verify(
    plan: Plan, checks: Sequence[Check], context: Context
) -> Tuple[Tuple[Result, ...], Context, Tuple[str, ...]]:
    """Look again after a repair.

    Returns:
        All results, in the order of ``checks``; what they looked at; and the codes that are found again.
    """
    assert context.target is not None
    now = Context(context.read, open_path(context.target.prefix), context.backend, report=context.report)
    results = run(checks, now)
    left = [
        f.code for r in results if r.check.name in plan.checks for f in r.findings if f.code in plan.codes
    ]
    return results, now, tuple(left)


class HalfRepairedError(BuildError):
    """A repair ended in the middle."""

    def __init__(self, prefix: Path, message: str, hint: str = "") -> None:
        todo = f"{prefix} is half repaired: try again, or envsetup create --replace. {hint}"
        super().__init__(message, todo.strip())


def _fetch(
    packages: Sequence[Package], python: Path, prefix: Path, env: Mapping[str, str], report: uv.Report
) -> None:
    """Install into a folder that is thrown away: then all that is needed is in uv's cache, and whole.

    uv links files from its cache into environments. A file that was damaged in place there is damaged in the
    cache too and would only come back; such packages are dropped from the cache and fetched anew.
    """
    if not packages:
        return
    report(f"fetching {len(packages)} package{'s' * (len(packages) > 1)}")
    for last in (False, True):
        folder = Path(tempfile.mkdtemp(prefix=f".{prefix.name}.envsetup-fix-", dir=prefix.parent))
        try:
            _install(packages, python, env, report, f"--target={folder}")
            damaged = unlike_record(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if not damaged:
            return
        if last:
            raise BuildError(f"Fetched anew, {', '.join(damaged)} is still not what its record says.")
        report(f"uv's cache of {', '.join(damaged)} is damaged too: fetching it anew")
        uv.run(["cache", "clean", *damaged], env)


def _install(
    packages: Sequence[Package], python: Path, env: Mapping[str, str], report: uv.Report, *options: str
) -> None:
    # The plan met the constraints when the environment was made; here they would have to state hashes too.
    env = {name: value for name, value in env.items() if name != "UV_CONSTRAINT"}
    hashed = ["--require-hashes"] if all(p.sha256 for p in packages) else []
    command = ["pip", "install", f"--python={python}", "--no-deps", *hashed, *options, "-r", "-"]
    uv.run(command, env, report, "\n".join(p.line() for p in packages))


def _provide(environment: venv.Environment, replacement: Replacement) -> None:
    """Write the record anew, in the place of whatever record the replaced distribution has."""
    site = environment.site_packages
    name = replacement.name.replace("-", "_")
    for old in site.glob(f"{name}-*.dist-info"):
        shutil.rmtree(old)
    write_record(site, replacement)
