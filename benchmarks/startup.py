"""Measure how long ``envsetup --help`` takes beside ``pip --version``.

``python -m benchmarks.startup [--envsetup PROGRAM]``: both are run as installed console scripts of one
environment, in turns, after one run of each that is not counted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List, Sequence

from benchmarks.procedures import installed

RUNS = 20
AIM = 0.5  # of pip's time


def seconds(command: Sequence[str]) -> float:
    """Run a command and return how long it took, in seconds."""
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def measure(envsetup: Path, runs: int = RUNS) -> Dict[str, float]:
    """Return the medians in seconds, by command.

    Args:
        envsetup: the console script; pip's is beside it.
        runs: how often each is run.
    """
    commands = {
        "envsetup --help": [str(envsetup), "--help"],
        "pip --version": [str(envsetup.with_name("pip" + envsetup.suffix)), "--version"],
    }
    taken: Dict[str, List[float]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            took = seconds(command)
            if turn:
                taken[name].append(took)
    return {name: statistics.median(times) for name, times in taken.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--envsetup", type=Path, help="the installed program (default: install this checkout)"
    )
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with installed(options.envsetup) as program:
        medians = measure(program, options.runs)
    ratio = medians["envsetup --help"] / medians["pip --version"]
    if options.json:
        print(json.dumps({"seconds": medians, "ratio": ratio, "aim": AIM}, indent=1))
    else:
        for name, median in medians.items():
            print(f"{name:16} {median * 1000:6.0f} ms")
        print(f"ratio {ratio:.2f}, at most {AIM} wanted")
    return 0 if ratio <= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
