"""Stand-ins for the libraries that only WSL 2 has, so that the real wheels for it import on any Linux.

They are no Direct3D: they report that there is no adapter, and everything runs on the CPU.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

LIBRARIES = ("libdxcore", "libd3d12")


def build(folder: Path) -> Path:
    """Compile the stand-ins into ``folder`` and return it, for ``LD_LIBRARY_PATH``."""
    here = Path(__file__).parent
    folder.mkdir(parents=True, exist_ok=True)
    for name in LIBRARIES:
        source, versions = here / f"{name}_standin.c", here / f"{name}_standin.map"
        command = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", f"-Wl,-soname,{name}.so"]
        if versions.exists():
            command.append(f"-Wl,--version-script,{versions}")
        subprocess.run([*command, "-o", str(folder / f"{name}.so"), str(source)], check=True)
    return folder
