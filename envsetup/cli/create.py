"""``envsetup create``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, Tuple

import click

from envsetup.cli.common import Outcome, Progress, ask, command, machine_options, read_machine
from envsetup.errors import DONE, PROBE_FAILED, UsageError


@click.command(
    epilog="""\b
Examples:
  envsetup create                            whatever fits this machine, in .venv
  envsetup create lab --backend dml          PyTorch on DirectML, Python 3.8
  envsetup create --backend cuda             TensorFlow for the CUDA that is here
  envsetup create --stack "tensorflow-gpu<2" the newest TensorFlow 1 that fits
  envsetup create --backend dml --with timm==0.4.12 -r requirements.txt
Plan for another machine:
  envsetup create --dry-run --backend dml --assume os=windows --assume gpu=1002:67df"""
)
@click.argument("path", default=".venv", type=click.Path(file_okay=True))
@click.option("--backend", metavar="NAME", help="dml, cuda, cpu … or auto: what fits, a GPU first (default).")
@click.option("--framework", metavar="NAME", help="torch, tensorflow …")
@click.option("--stack", metavar="NAME", help="A stack by name, with a version or range if wanted.")
@click.option("--python", metavar="VERSION|PATH", help="The Python to use, e.g. 3.8.")
@click.option(
    "--with", "requirements", multiple=True, metavar="REQUIREMENT", help="Also install. Repeatable."
)
@click.option(
    "-r", "files", multiple=True, type=click.Path(dir_okay=False), help="A requirements file. Repeatable."
)
@click.option("--device", metavar="ID", help="The device to prove it on, e.g. dml:1.")
@click.option("--as-documented", is_flag=True, help="Carry out every documented step, needless ones too.")
@click.option("--no-provides", is_flag=True, help="Leave out the record that a replaced package is provided.")
@click.option("--no-probe", is_flag=True, help="Do not run the probe.")
@click.option("--replace", is_flag=True, help="Replace an environment that is there already.")
@click.option("--dry-run", is_flag=True, help="Show the plan and change nothing.")
@click.option("--yes", is_flag=True, help="Download a missing Python without asking.")
@machine_options
@command
def create(
    path: str,
    backend: str | None,
    framework: str | None,
    stack: str | None,
    python: str | None,
    requirements: Tuple[str, ...],
    files: Tuple[str, ...],
    device: str | None,
    as_documented: bool,
    no_provides: bool,
    no_probe: bool,
    replace: bool,
    dry_run: bool,
    yes: bool,
    machine_file: str | None,
    assumptions: Tuple[str, ...],
) -> Outcome:
    """Make an environment that works on this machine's GPU, and prove it.

    The stack is chosen from what the machine has; a machine that fits none gets a refusal that names what
    is missing. PATH is the environment's folder (default .venv). Running it twice changes nothing.
    """
    from envsetup import uv
    from envsetup.build.build import Options, build
    from envsetup.build.environment import Environment
    from envsetup.build.here import consent, own_machine
    from envsetup.build.receipt import read_receipt
    from envsetup.machine.given import with_interpreter
    from envsetup.plan.additions import Additions
    from envsetup.plan.planner import make_plan
    from envsetup.probe.examine import examine
    from envsetup.report.plan import show_plan, show_result
    from envsetup.resolve.gpu import device_of
    from envsetup.resolve.wish import Wish

    target = Path(os.path.abspath(path))  # noqa: PTH100 - a link at the path is replaced, not followed
    if not target.name:
        raise UsageError(f"{target} can't be an environment.", "Give a folder of its own, such as .venv.")
    machine = read_machine(machine_file, assumptions)
    machine, python = with_interpreter(machine, python)
    env = uv.settings(machine.value("pip"))
    wish = Wish.of(backend, framework, stack, python)
    additions = Additions(requirements, tuple(Path(f).absolute() for f in files))
    receipt = None if dry_run else read_receipt(target)
    with Progress() as progress:
        plan = make_plan(
            machine,
            wish,
            additions,
            env,
            as_documented=as_documented,
            provides=not no_provides,
            probe=not no_probe,
            earlier=receipt.data if receipt and not replace else None,
            report=progress,
        )
    if dry_run:
        return Outcome(DONE, plan.to_json(), lambda out: show_plan(out, plan))
    own_machine(plan, machine_file)
    consent(
        plan, yes or (plan.python.fetch and ask(f"Python {plan.python.version} is missing. Download it?"))
    )

    with Progress() as progress:

        def probe(environment: Environment) -> Dict[str, Any]:
            row = plan.row
            chosen = device or device_of(row.backend, plan.verdict.gpu, machine)
            return examine(environment, row.framework, row.backend, chosen, machine, progress).to_json()

        options = Options(as_documented, not no_provides, replace)
        facts = machine.to_json()["facts"]
        result = build(plan, target, options, env, facts, None if no_probe else probe, progress)
    data = {
        **plan.to_json(),
        "ok": result.ok,
        "changed": result.changed,
        "path": str(target),
        "receipt": dict(result.receipt.data),
        "probe": result.receipt.probe,
    }
    return Outcome(DONE if result.ok else PROBE_FAILED, data, lambda out: show_result(out, plan, result))
