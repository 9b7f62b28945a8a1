"""Put an environment right that envsetup made: from its receipt, with uv, everything fetched first."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
from pathlib import Path
from typing import Iterable, Iterator, List, Mapping, Sequence, Tuple

from envsetup import uv
from envsetup.build import environment as venv
from envsetup.build.place import exclusive
from envsetup.diagnose.checks.check import Repair, Result
from envsetup.diagnose.checks.context import Context
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

    def commands(self, context: Context) -> Tuple[str, ...]:
        """Return the commands as a person would type them."""
        assert context.target is not None
        python = (
            f'"{context.target.python}"' if " " in str(context.target.python) else str(context.target.python)
        )
        out = []
        if self.remove:
            out.append(f"uv pip uninstall --python {python} {' '.join(self.remove)}")
        for packages in (self.first, self.second):
            if packages:
                names = " ".join(f'"{p.requirement}"' if p.url else p.requirement for p in packages)
                out.append(f"uv pip install --python {python} --no-deps --reinstall {names}")
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
    replaces = tuple(Replacement(**r) for r in data.get("replaces", ()))
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


def carry_out(
    plan: Plan, context: Context, env: Mapping[str, str], report: uv.Report, fresh: bool = False
) -> None:
    """Repair the environment.

    All packages are fetched and unpacked elsewhere before anything is removed, so that a network that fails
    leaves the environment as it was.

    Args:
        env: for uv, from :func:`envsetup.uv.settings`.
        fresh: drop the packages from uv's cache first. uv links files from its cache into environments, so
            a file that was damaged in place is damaged in the cache too, and would only come back.

    Raises:
        EnvsetupError: with what state the environment is in.
    """
    target = context.target
    assert target is not None
    environment = target.environment
    packages = [*plan.first, *plan.second]
    with exclusive(
        target.prefix, lambda: report(f"another run is working on {target.prefix}; waiting for it")
    ):
        if fresh:
            report(f"dropping {', '.join(p.name for p in packages)} from uv's cache")
            uv.run(["cache", "clean", *(p.name for p in packages)], env)
        report(f"fetching {len(packages)} packages")
        with _unpacked(packages, target.python, target.prefix, env, report):
            try:
                if plan.remove:
                    report(f"removing {', '.join(plan.remove)}")
                    uv.run(["pip", "uninstall", f"--python={target.python}", *plan.remove], env)
                for group in (plan.first, plan.second):
                    if group:
                        report(f"installing {', '.join(p.requirement for p in group)}")
                        _install(group, target.python, env, report)
                for replacement in plan.provides:
                    _provide(environment, replacement)
            except EnvsetupError as error:
                hint = f"{target.prefix} is half repaired: try again, or envsetup create --replace."
                raise BuildError(error.message, f"{hint} {error.hint}".strip()) from None


@contextlib.contextmanager
def _unpacked(
    packages: Sequence[Package], python: Path, prefix: Path, env: Mapping[str, str], report: uv.Report
) -> Iterator[None]:
    """Install into a folder that is thrown away: then all that is needed is in uv's cache, and whole."""
    if not packages:
        yield
        return
    folder = Path(tempfile.mkdtemp(prefix=f".{prefix.name}.envsetup-fix-", dir=prefix.parent))
    try:
        uv.run(_command(packages, python, f"--target={folder}"), env, report, _lines(packages))
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _install(packages: Sequence[Package], python: Path, env: Mapping[str, str], report: uv.Report) -> None:
    names = [f"--reinstall-package={p.name}" for p in packages]
    uv.run(_command(packages, python, *names), env, report, _lines(packages))


def _command(packages: Sequence[Package], python: Path, *options: str) -> List[str]:
    hashed = ["--require-hashes"] if all(p.sha256 for p in packages) else []
    return ["pip", "install", f"--python={python}", "--no-deps", *hashed, *options, "-r", "-"]


def _lines(packages: Sequence[Package]) -> str:
    return "\n".join(p.line() for p in packages)


def _provide(environment: venv.Environment, replacement: Replacement) -> None:
    """Write the record anew, in the place of whatever record the replaced distribution has."""
    site = environment.site_packages
    name = replacement.name.replace("-", "_")
    for old in site.glob(f"{name}-*.dist-info"):
        shutil.rmtree(old)
    write_record(site, replacement)
