"""Where ``constraints/`` is: in the wheel, or beside the package in a checkout."""

from __future__ import annotations

from pathlib import Path


def constraints() -> Path:
    """Return the folder of data files."""
    package = Path(__file__).resolve().parent.parent
    shipped = package / "_constraints"
    return shipped if shipped.is_dir() else package.parent / "constraints"
