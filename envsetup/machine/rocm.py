"""ROCm, AMD's compute platform."""

from __future__ import annotations

import re
from typing import Iterator, List, Tuple

from envsetup.machine.fact import Fact, unknown
from envsetup.machine.host import Unreadable
from envsetup.machine.reading import Sight, agree

WINDOWS_FOLDER = r"C:\Program Files\AMD\ROCm"


def read_rocm(sight: Sight) -> Iterator[Fact]:
    """Read rocm."""
    host = sight.host
    if host.system == "macos":
        yield Fact("rocm", None, "there is no ROCm for macOS")
        return
    if host.system == "windows":
        versions = [name for name in host.list(WINDOWS_FOLDER) or [] if re.fullmatch(r"\d+\.\d+", name)]
        newest = sorted(versions, key=lambda v: [int(n) for n in v.split(".")])[-1:]
        yield agree("rocm", [(WINDOWS_FOLDER, v) for v in newest], absent=f"{WINDOWS_FOLDER} is missing")
        return
    answers: List[Tuple[str, str | None]] = []
    failures = []
    env = host.env("ROCM_PATH")
    folders = [
        *([env] if env else []),
        "/opt/rocm",
        *(f"/opt/{name}" for name in host.list("/opt", "rocm-*") or []),
    ]
    for folder in dict.fromkeys(folders):
        path = f"{folder}/.info/version"
        try:
            match = re.match(r"(\d+\.\d+)", host.read_text(path, 256) or "")
        except Unreadable as error:
            failures.append(str(error))
            continue
        answers.append((path, match.group(1) if match else None))
    # Distributions' own packages have no /opt/rocm; the runtime's library has ROCm's number.
    for path in host.libraries("libamdhip64.so.*") or []:
        real = host.real_path(path) or path
        match = re.search(r"\.so\.(\d+\.\d+)\.", real)
        answers.append((real, match.group(1) if match else None))
    fact = agree("rocm", answers, absent="neither /opt/rocm nor libamdhip64 is there")
    yield unknown("rocm", "; ".join(failures)) if failures and fact.value is None else fact
