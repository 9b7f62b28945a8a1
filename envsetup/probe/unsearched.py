"""Libraries that are on the machine, in folders that programs do not look in."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Dict, Iterable, List, Sequence

from envsetup.machine.fact import Machine

_FOLDERS = ("", "bin", "lib", "lib64", "lib/x64", "extras/CUPTI/lib64", "extras/CUPTI/libx64", "cuda/lib64")


def unsearched(names: Iterable[str], machine: Machine) -> List[str]:
    """Return a line for each folder of a known CUDA or cuDNN that holds one of the libraries ``names``.

    Args:
        names: file names such as ``libcudart.so.10.1`` or ``cudart64_101.dll``.
    """
    found: Dict[str, List[str]] = {}
    for folder in _candidates([*(machine.value("cuda") or ()), *(machine.value("cudnn") or ())]):
        for name in names:
            if (folder / name).is_file() and not any(name in held for held in found.values()):
                found.setdefault(str(folder), []).append(name)
    return [f"{', '.join(held)} is in {folder}: {_how(folder)}" for folder, held in found.items()]


def _candidates(installed: Sequence[Dict[str, Any]]) -> List[Path]:
    """Return the library folders of each installed toolkit or library, once."""
    out: Dict[Path, None] = {}
    for one in installed:
        if one.get("path"):
            root = Path(one["path"])
            for base in (root, root.parent) if root.is_file() else (root,):
                for part in _FOLDERS:
                    out.setdefault(base / part)
    return [folder for folder in out if folder.is_dir()]


def _how(folder: str) -> str:
    if sys.platform == "win32":
        return f'run `setx PATH "%PATH%{os.pathsep}{folder}"` and open a new terminal'
    return f"run `export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH`, and put it into your shell's profile"
