"""Compare ``envsetup create --backend dml`` with the documented procedure, by pip and by uv.

``python -m benchmarks.create [--envsetup PROGRAM] [--cold N] [--warm N] [--folder DIR] [--json]``

Measured: wall time from the first command's start to the last one's end; bytes downloaded, counted by a
local proxy (see ``proxy.py``), so with index pages and TLS; bytes on disk of the environment, and of it
with the caches. Cold: no cache at all. Warm: with the caches of the last cold run, medians. Whether pip
takes anything from its cache is for the index to say (Cache-Control); where it says nothing, pip's warm
run downloads all again. The tools' own installation is not measured. A cold run of pip or uv downloads
about 850 MB; 4 GB of disk are needed. The exit code is 1 when an aim is missed.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from benchmarks import startup
from benchmarks.procedures import (
    WSL_RADEON,
    Tools,
    check,
    clean_environment,
    disk,
    find_tools,
    installed,
    remove,
    run,
)
from benchmarks.proxy import CountingProxy

PROBE_FAILED = 5  # envsetup's exit code: on a machine whose GPU was assumed the probe can't pass
PROBED = "envsetup, probed"


class Run(NamedTuple):
    """One run: seconds, bytes downloaded, bytes of the environment, bytes of it with the caches."""

    seconds: float
    downloaded: int
    environment: int
    with_caches: int


class Aim(NamedTuple):
    """What is wanted: ``ratio`` is measured, and ``at_most`` the aim."""

    name: str
    ratio: float
    at_most: float

    @property
    def met(self) -> bool:
        return self.ratio <= self.at_most


class Bench:
    """Runs procedures in ``folder``."""

    def __init__(self, tools: Tools, folder: Path, index: str | None) -> None:
        self.tools, self.folder, self.index = tools, folder, index

    def run(self, name: str, caches: Path) -> Run:
        """Run one procedure in a new environment, and remove the environment."""
        path = self.folder / "environment"
        with CountingProxy() as proxy:
            env = clean_environment(caches, proxy.url, self.index)
            begin = time.perf_counter()
            for command in self.tools.commands(name, path):
                run(command, env, (0, PROBE_FAILED) if name == PROBED else (0,))
            seconds = time.perf_counter() - begin
            downloaded = proxy.received
        check(path)
        measured = Run(seconds, downloaded, disk(path), disk(path, caches))
        remove(path)
        print(f"  {name}: {seconds:.2f} s, {downloaded / 1e6:.1f} MB", file=sys.stderr)
        return measured

    def again(self, caches: Path) -> float:
        """Return the seconds of a ``create`` that finds its environment there already."""
        path = self.folder / "environment"
        with CountingProxy() as proxy:
            env = clean_environment(caches, proxy.url, self.index)
            command = self.tools.commands("envsetup", path)[0]
            run(command, env)
            begin = time.perf_counter()
            run(command, env)
            seconds = time.perf_counter() - begin
        remove(path)
        return seconds


def median(runs: Sequence[Run]) -> Run:
    """Return the median of each column."""
    return Run(*(statistics.median(column) for column in zip(*runs)))


def compare(bench: Bench, cold: int, warm: int) -> Tuple[Dict[str, Run], Dict[str, Run], float]:
    """Return the medians of cold and warm runs by procedure, and the seconds of a second ``create``."""
    names = ["pip", "uv", "envsetup"]
    runs: Dict[str, List[Run]] = {name: [] for name in names}
    for turn in range(cold):
        print(f"cold {turn + 1} of {cold}", file=sys.stderr)
        for name in names:
            remove(bench.folder / name)
            runs[name].append(bench.run(name, bench.folder / name))
    first = {name: median(runs[name]) for name in names}
    # In turns, so that what else the machine does falls on all alike.
    runs = {name: [] for name in [*names, PROBED]}
    for turn in range(warm):
        print(f"warm {turn + 1} of {warm}", file=sys.stderr)
        for name in runs:
            if name == "pip" and turn >= cold:
                continue  # no aim rests on it, and each takes as long as a cold one
            runs[name].append(bench.run(name, bench.folder / name.split(",")[0]))
    again = bench.again(bench.folder / "envsetup")
    return first, {name: median(runs[name]) for name in runs}, again


def aims(cold: Dict[str, Run], warm: Dict[str, Run], start: Dict[str, float]) -> List[Aim]:
    """Return what was measured beside what is wanted."""
    ours = cold["envsetup"]
    # The replaced torch is 735 MB on Linux and 190 MB on Windows, so there is less to save there.
    bytes_wanted = 0.15 if sys.platform == "linux" else 0.5
    return [
        Aim("cold time, of uv's procedure", ours.seconds / cold["uv"].seconds, 0.25),
        Aim("cold time, of pip's procedure", ours.seconds / cold["pip"].seconds, 0.1),
        Aim("cold bytes, of uv's procedure", ours.downloaded / cold["uv"].downloaded, bytes_wanted),
        Aim("cold bytes, of pip's procedure", ours.downloaded / cold["pip"].downloaded, bytes_wanted),
        Aim("warm time, of uv's procedure", warm["envsetup"].seconds / warm["uv"].seconds, 1.0),
        Aim("--help, of pip --version", start["envsetup --help"] / start["pip --version"], startup.AIM),
    ]


def table(
    cold: Dict[str, Run],
    warm: Dict[str, Run],
    again: float,
    start: Dict[str, float],
    wanted: Sequence[Aim],
) -> str:
    """Return all for people."""
    lines = [f"{'':24}{'seconds':>9}{'downloaded':>13}{'environment':>13}{'with caches':>13}"]
    for kind, rows in (("cold", cold), ("warm", warm)):
        for name, row in rows.items():
            sizes = "".join(f"{size / 1e6:>10.1f} MB" for size in row[1:])
            lines.append(f"{kind + ' ' + name:24}{row.seconds:>9.2f}{sizes}")
    lines.append(f"{'envsetup, a second time':24}{again:>9.2f}")
    lines += [f"{name:24}{seconds:>9.3f}" for name, seconds in start.items()]
    lines += ["", f"{'':32}{'measured':>9}{'at most':>9}"]
    lines += [f"{a.name:32}{a.ratio:>9.3f}{a.at_most:>9.2f}  {'' if a.met else 'MISSED'}" for a in wanted]
    return "\n".join(line.rstrip() for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--envsetup", type=Path, help="the installed program (default: install this checkout)"
    )
    parser.add_argument("--cold", type=int, default=1, metavar="N", help="runs without caches (default 1)")
    parser.add_argument("--warm", type=int, default=5, metavar="N", help="runs with caches (default 5)")
    parser.add_argument("--folder", type=Path, help="where to work (default: the system's temporary folder)")
    parser.add_argument("--index", metavar="URL", help="a package index for all three (https)")
    parser.add_argument(
        "--assume",
        action="append",
        metavar="KEY=VALUE",
        help=f"facts for envsetup (default on Linux: {' '.join(WSL_RADEON)})",
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.index and not options.index.startswith("https://"):
        parser.error("the proxy counts https alone")
    if options.cold < 1 or options.warm < 1:
        parser.error("at least one run each")
    assume = options.assume or (WSL_RADEON if sys.platform == "linux" else ())
    with installed(options.envsetup) as program, tempfile.TemporaryDirectory(
        prefix="benchmark-", dir=options.folder
    ) as folder:
        start = startup.measure(program)
        bench = Bench(find_tools(program, assume), Path(folder), options.index)
        cold, warm, again = compare(bench, options.cold, options.warm)
    wanted = aims(cold, warm, start)
    if options.json:
        data: Dict[str, Any] = {
            "schema": 1,
            "machine": platform.platform(),
            "assumed": list(assume),
            "runs": {"cold": options.cold, "warm": options.warm},
            "cold": {name: row._asdict() for name, row in cold.items()},
            "warm": {name: row._asdict() for name, row in warm.items()},
            "again": {"seconds": again},
            "start": start,
            "aims": [{**aim._asdict(), "met": aim.met} for aim in wanted],
        }
        print(json.dumps(data, indent=1))
    else:
        print(table(cold, warm, again, start, wanted))
    return 0 if all(aim.met for aim in wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
