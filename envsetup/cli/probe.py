"""``envsetup probe``."""

from __future__ import annotations

from pathlib import Path

import click

from envsetup.cli.common import Outcome, Progress, command
from envsetup.errors import DONE, PROBE_FAILED, UsageError


@click.command(
    epilog="""\b
Examples:
  envsetup probe                       the environment in .venv
  envsetup probe lab --device dml:1    on the second adapter
  envsetup probe --snippet             the lines for your own code"""
)
@click.argument("path", default=".venv", type=click.Path())
@click.option("--device", metavar="ID", help="The device to use, e.g. dml:1 (default: the first).")
@click.option("--framework", metavar="NAME", help="For an environment that envsetup did not make.")
@click.option("--backend", metavar="NAME", help="For an environment that envsetup did not make.")
@click.option("--snippet", is_flag=True, help="Print the lines that choose the device in your own code.")
@command
def probe(
    path: str, device: str | None, framework: str | None, backend: str | None, snippet: bool
) -> Outcome:
    """Run one training step on the device in an environment, and compare it with the CPU."""
    from envsetup.build.environment import Environment
    from envsetup.build.receipt import read_receipt
    from envsetup.machine import read
    from envsetup.probe.examine import examine
    from envsetup.probe.snippet import snippet as lines
    from envsetup.report.probe import show_probe

    environment = Environment(Path(path).absolute())
    if not environment.python.exists():
        what = "is no virtual environment" if environment.path.exists() else "is not there"
        raise UsageError(f"{path} {what}.", "Give the environment's folder, or make one: `envsetup create`.")
    receipt = read_receipt(environment.path)
    framework = framework or (receipt.data["framework"] if receipt else None)
    backend = backend or (receipt.data["backend"] if receipt else None)
    if framework is None or backend is None:
        raise UsageError(
            f"{path} was not made by envsetup: what to probe is not known.",
            "Give --framework and --backend, e.g. --framework torch --backend cuda.",
        )
    if snippet:
        family, _, version = str(receipt.data["stack"] if receipt else "").partition("==")
        if framework == "tensorflow" and version.startswith("1."):
            framework = "tensorflow1"
        proven = (receipt.probe or {}) if receipt else {}
        first = str(proven.get("device") or "") if proven.get("ok") and backend != "cpu" else ""
        text = lines(framework, backend, family, device or first)
        return Outcome(
            DONE, {"schema": 1, "snippet": text}, lambda out: out.print(text.rstrip(), markup=False)
        )
    with Progress() as progress:
        machine = read(only=["distro", "cuda", "cudnn"])
        report = examine(environment, framework, backend, device, machine, progress).to_json()
    if receipt is not None and device is None:
        receipt.with_probe(report).write(environment.path)
    return Outcome(DONE if report["ok"] else PROBE_FAILED, report, lambda out: show_probe(out, report))
