"""Install and import rows for real: ``python -m tools.verify [STACK[==VERSION] ...] [--all] [--missing]``.

Each lock of this machine's platform whose Python is here is installed in a temporary folder and probed.
What was seen goes into ``constraints/verified.toml``: whether it imported, and where it trained. Without
``--all``, only the newest Python of a row is tried.
"""

from __future__ import annotations

import argparse
import datetime
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Dict, List

from envsetup import uv
from envsetup.build.build import Options, build
from envsetup.errors import EnvsetupError
from envsetup.knowledge.files import constraints
from envsetup.knowledge.stacks import Row, stacks
from envsetup.knowledge.verified import Key, Seen, read_verified, write_verified
from envsetup.machine import read
from envsetup.machine.fact import Machine
from envsetup.plan.lock import lock_path, read_lock
from envsetup.plan.steps import Plan, order
from envsetup.probe.examine import examine
from envsetup.resolve.python import choose_platform, choose_python
from envsetup.resolve.resolver import Resolution
from envsetup.resolve.verdict import Verdict


def verify(row: Row, python: str, name: str, machine: Machine) -> Seen | None:
    """Build one lock and return what was seen; None when its Python is not here."""
    chosen, _ = choose_python(row, machine, name, python)
    if chosen is None or chosen.fetch:
        return None
    verdict = Verdict(row, python=chosen, platform=name)
    lock = read_lock(lock_path(row, python, name))
    plan = Plan(verdict, Resolution(verdict, ()), lock, order(row, lock))
    folder = Path(tempfile.mkdtemp(prefix="envsetup-verify-"))
    try:
        result = build(
            plan,
            folder / "env",
            Options(),
            uv.settings(machine.value("pip")),
            {},
            lambda env: examine(env, row.framework, row.backend, machine=machine).to_json(),
            lambda line: None,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    probe = result.receipt.probe or {}
    imported = probe.get("stage") not in ("start", "import")
    trained = probe.get("device") if probe.get("max_error") is not None else None
    where = f"{machine.value('os-version')} {machine.value('arch')}"
    return Seen(str(datetime.date.today()), where, imported, trained or "")


def main() -> int:
    """Verify the rows that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tools.verify", description=__doc__)
    parser.add_argument("stacks", nargs="*", help="families or rows; all when none is named")
    parser.add_argument("--all", action="store_true", help="every Python of a row")
    parser.add_argument("--missing", action="store_true", help="only what was not verified yet")
    options = parser.parse_args()
    machine = read(only=["os", "os-version", "wsl", "arch", "python", "pip", "distro"])
    known: Dict[Key, Seen] = read_verified(constraints() / "verified.toml")
    failed: List[str] = []
    for row in (r for s in stacks() for r in s.rows):
        if options.stacks and row.name not in options.stacks and row.family not in options.stacks:
            continue
        if machine.system not in row.systems or row.index:
            continue
        name, other_machine = choose_platform(row, machine)
        if other_machine:
            continue
        for python in row.python if options.all else row.python[-1:]:
            key = (row.name, python, name)
            if options.missing and key in known:
                continue
            try:
                seen = verify(row, python, name, machine)
            except EnvsetupError as error:
                failed.append(f"{row.name} {python}: {error.message}")
                continue
            print(f"{row.name} Python {python}: {seen or 'no such Python here'}", flush=True)
            if seen is not None:
                known[key] = seen
                write_verified(constraints() / "verified.toml", known)
    print("\n".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
