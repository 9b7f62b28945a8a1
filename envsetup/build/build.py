"""Build an environment: in a folder beside the target, probed there, then moved into place."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Sequence

from envsetup import uv
from envsetup.build import environment as venv
from envsetup.build.environment import Environment
from envsetup.build.place import exclusive, recover, staging, swap
from envsetup.build.receipt import Receipt, key_of, read_receipt, receipt_for
from envsetup.errors import BuildError
from envsetup.plan.planner import index_settings
from envsetup.plan.provides import write_record
from envsetup.plan.steps import Plan, Step

Probe = Callable[[Environment], Dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Options:
    """How to build.

    Args:
        as_documented: carry out the steps that the plan could leave out.
        provides: record replaced distributions as provided.
        replace: an environment that is there already may be replaced.
    """

    as_documented: bool = False
    provides: bool = True
    replace: bool = False


@dataclasses.dataclass(frozen=True)
class Result:
    """What ``create`` ended with.

    Args:
        environment: where the environment is; None when the probe failed and an earlier one was kept.
        receipt: what was built.
        changed: False when everything was there already.
        probed: whether a probe was asked for.
    """

    environment: Environment | None
    receipt: Receipt
    changed: bool
    probed: bool

    @property
    def ok(self) -> bool:
        """Whether no probe was asked for, or it passed."""
        return not self.probed or bool(self.receipt.probe and self.receipt.probe["ok"])


def build(
    plan: Plan,
    target: Path,
    options: Options,
    env: Mapping[str, str],
    facts: Mapping[str, Any],
    probe: Probe | None,
    report: uv.Report,
) -> Result:
    """Carry out a plan.

    A failure or an interruption at any point leaves what was at ``target`` as it was.

    Args:
        target: absolute path of the environment.
        env: for uv, from :func:`envsetup.uv.settings`.
        facts: the machine's facts as JSON, for the receipt.
        probe: judges the environment; None to leave it out.
        report: called with lines of progress.

    Raises:
        BuildError: with what to do next.
    """
    env = index_settings(plan.row, env)
    key = key_of(plan, as_documented=options.as_documented, provides=options.provides)
    with exclusive(target, lambda: report(f"another run is working on {target}; waiting for it")):
        recover(target)
        there = Environment(target)
        receipt = read_receipt(target)
        if receipt is not None and receipt.key == key and there.python.exists() and not options.replace:
            return _again(there, receipt, probe, report)
        _check_target(there, receipt, options.replace)
        _check_disk(plan, target)
        with staging(target) as folder:
            built = _fill(plan, folder, target, env, report)
            verdict = probe(built) if probe else None
            receipt = receipt_for(plan, key, facts, verdict)
            receipt.write(folder)
            if verdict is not None and not verdict["ok"] and there.is_venv:
                report(f"the probe failed: {target} is left as it was")
                return Result(None, receipt, changed=False, probed=probe is not None)
            swap(folder, target)
    return Result(there, receipt, changed=True, probed=probe is not None)


def _again(there: Environment, receipt: Receipt, probe: Probe | None, report: uv.Report) -> Result:
    """Return the result for an environment that is there already; a probe that did not pass runs again."""
    report(f"{there.path} is there already, built from the same lock: nothing to do")
    if probe is not None and (receipt.probe is None or not receipt.probe["ok"]):
        receipt = receipt.with_probe(probe(there))
        receipt.write(there.path)
    return Result(there, receipt, changed=False, probed=probe is not None)


def _check_target(there: Environment, receipt: Receipt | None, replace: bool) -> None:
    path = there.path
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if not there.is_venv and (path.is_file() or any(path.iterdir())):
            raise BuildError(
                f"{path} is there already and is no virtual environment.",
                "Choose another path, or move it away.",
            )
        if there.is_venv and not replace:
            what = f"holds {receipt.data['stack']}" if receipt else "was not made by envsetup"
            hint = "Choose another path, or replace it with --replace."
            raise BuildError(f"{path} {what}.", hint)


def _check_disk(plan: Plan, target: Path) -> None:
    """Refuse at once when not even the packed files would fit."""
    import shutil

    place = next(p for p in (target.parent, *target.parent.parents) if p.exists())
    free = shutil.disk_usage(place).free
    if free < plan.download_bytes:
        needed, has = plan.download_bytes // 10**6, free // 10**6
        raise BuildError(
            f"The disk of {place} has {has} MB free; the packages alone are {needed} MB.",
            "Free some space, or choose another path.",
        )


def _fill(plan: Plan, folder: Path, target: Path, env: Mapping[str, str], report: uv.Report) -> Environment:
    """Carry out the steps up to the probe."""
    built = Environment(folder)
    for step in _joined(plan.steps):
        _run(step, plan, built, target, env, report)
    return built


def _joined(steps: Sequence[Step]) -> List[Step]:
    """Return the steps to carry out; installs in a row become one, to download side by side."""
    out: List[Step] = []
    for step in steps:
        if step.elided:
            continue
        if out and out[-1].action == step.action == "install":
            out[-1] = Step("install", (*out[-1].packages, *step.packages))
        else:
            out.append(step)
    return out


def _run(
    step: Step, plan: Plan, built: Environment, target: Path, env: Mapping[str, str], report: uv.Report
) -> None:
    if step.action == "create":
        python = plan.python.path or plan.python.version
        if plan.python.fetch:
            report(f"downloading Python {plan.python.version}")
            python = venv.fetch_python(plan.python.version, env, report)
        report(f"making a virtual environment with Python {plan.python.version}")
        venv.make(built.path, python, target, env, report)
    elif step.action == "install":
        report(f"installing {len(step.packages)} packages, {step.bytes / 1e6:.0f} MB")
        venv.install(built, step.packages, env, report)
    elif step.action == "remove":
        report(f"removing {', '.join(p.requirement for p in step.packages)}")
        venv.remove(built, step.packages, env, report)
    elif step.action == "provide" and step.replacement is not None:
        write_record(built.site_packages, step.replacement)
