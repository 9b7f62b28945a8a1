"""Package indexes other than the default one: where they are, and how a mirror is named."""

from __future__ import annotations

import os
from typing import Dict, Mapping

from envsetup.errors import UsageError
from envsetup.knowledge.files import constraints
from envsetup.knowledge.toml import load


def index_urls() -> Dict[str, str]:
    """Return the URL of each index by name; ``{variant}`` stands for what a row asks for."""
    root = load(constraints() / "indexes.toml")
    tables = root.table("index")
    out = {}
    for name in tables:
        table = tables.table(name)
        table.text("source")
        out[name] = table.text("url")
        table.end()
    root.end()
    return out


def index_url(index: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the URL for a row's ``index`` such as ``pytorch/cu118``.

    ``ENVSETUP_INDEX_PYTORCH`` names a mirror: a URL with ``{variant}``, or one below which the variants are.

    Raises:
        UsageError: when no index of that name is known.
    """
    name, _, variant = index.partition("/")
    mirror = (os.environ if environ is None else environ).get(f"ENVSETUP_INDEX_{name.upper()}")
    url = mirror or index_urls().get(name)
    if url is None:
        raise UsageError(f"There is no index {name!r}.", "Known indexes stand in constraints/indexes.toml.")
    if "{variant}" not in url:
        url = url.rstrip("/") + "/{variant}"
    return url.replace("{variant}", variant)
