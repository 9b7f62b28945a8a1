"""Two copies of cuDNN: the one that is found first serves both, whichever was meant."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Dict, Iterable, List, Tuple

from envsetup.diagnose.checks.check import Problem, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.finding import Candidate

# libcudnn.so.8, libcudnn.so.8.9.2, libcudnn_ops_infer.so.8, cudnn64_8.dll; the main one stands for its parts.
_LIBRARY = re.compile(r"(?:^|/)(?:libcudnn\.so\.(\d+)[\d.]*|cudnn64_(\d+)\.dll)$", re.IGNORECASE)


def look(context: Context) -> Seen:
    """Compare the copies that packages bring with each other and with those on the search path."""
    inside: Dict[str, List[str]] = {}
    for distribution in context.installed:
        for entry in distribution.record:
            major = _major(entry.path)
            if major:
                inside.setdefault(major, []).append(f"{entry.path} ({distribution.shown})")
    outside = list(_search_path(context))
    problems = []
    for major, copies in sorted(inside.items()):
        # What stands on the search path is found before what a package has beside itself.
        first = [path for other, path in outside if other == major]
        folders = {copy.rpartition("/")[0] for copy in copies}
        if first or len(folders) > 1:
            values = {"loaded": first[0] if first else copies[0], "compiled": copies[0]}
            candidate = Candidate("cudnn-shadowed", 0.6, (*first[:2], *copies[:4]), values)
            problems.append(Problem(candidate, severity="warning"))
    count = sum(map(len, inside.values()))
    return Seen(tuple(problems), detail=f"{count} in packages, {len(outside)} on the search path")


def _search_path(context: Context) -> Iterable[Tuple[str, str]]:
    """Yield (major version, path) of each cuDNN in the folders that are searched before all others."""
    name = "PATH" if os.name == "nt" else "LD_LIBRARY_PATH"
    for folder in context.environ.get(name, "").split(os.pathsep):
        try:
            names = sorted(path.name for path in Path(folder).iterdir()) if folder else []
        except OSError:
            continue
        for file in names:
            major = _major(file)
            if major:
                yield major, str(Path(folder, file))
                break


def _major(path: str) -> str:
    match = _LIBRARY.search(path)
    return (match.group(1) or match.group(2)) if match else ""
