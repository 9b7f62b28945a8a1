"""Make the lock files: ``python -m tools.lock [STACK[==VERSION] ...] [--missing]``.

For each row × Python × platform, resolve with the row's ceilings and cut-off date on the package index that
uv is set up with, and write ``constraints/locks/STACK/VERSION/pyPYTHON-PLATFORM.txt``.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime
import os
import shutil
import sys
from pathlib import Path

from envsetup import uv
from envsetup.errors import EnvsetupError
from envsetup.knowledge.stacks import Row, stacks
from envsetup.plan.closure import resolve_packages
from envsetup.plan.lock import lock_path


def interpreter(python: str) -> str:
    """Return an interpreter of that version on PATH or under pyenv, or an empty text."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = sorted(pyenv.glob(f"{python}.*/bin/python"))
    return str(found[-1]) if found else shutil.which(f"python{python}") or ""


def write(row: Row, python: str, platform: str) -> Path:
    """Resolve one lock and write it."""
    lock = resolve_packages(row, python, platform, uv.settings(None), interpreter=interpreter(python))
    path = lock_path(row, python, platform)
    path.parent.mkdir(parents=True, exist_ok=True)
    header = [
        f"{row.name}, Python {python}, {platform}: made by `python -m tools.lock`",
        f"{datetime.date.today()}; nothing but pip is newer than {row.cut_off}; file and size follow each",
    ]
    path.write_bytes(lock.text(header).encode())
    return path


def main() -> int:
    """Make the locks that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tools.lock", description=__doc__)
    parser.add_argument("stacks", nargs="*", help="families or rows; all when none is named")
    parser.add_argument("--missing", action="store_true", help="only locks that are not there yet")
    parser.add_argument("--jobs", type=int, default=4)
    options = parser.parse_args()
    rows = [
        r
        for s in stacks()
        for r in s.rows
        if not r.index
        if not options.stacks or r.name in options.stacks or r.family in options.stacks
    ]
    jobs = [(r, python, platform) for r in rows for python in r.python for platform in r.platforms]
    if options.missing:
        jobs = [job for job in jobs if not lock_path(*job).exists()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(write, *job): job for job in jobs}
        for done in concurrent.futures.as_completed(futures):
            row, python, platform = futures[done]
            try:
                print(done.result(), flush=True)
            except EnvsetupError as error:
                failed += 1
                print(f"FAILED {row.name} {python} {platform}: {error.message}", file=sys.stderr, flush=True)
    print(f"{len(jobs) - failed} locks made, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
