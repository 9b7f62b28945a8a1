"""The constraint files that people have set for pip or uv."""

from __future__ import annotations

import re
from pathlib import Path
from typing import List, Mapping, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envsetup.errors import UsageError
from envsetup.plan.lock import Lock


def constraint_files(env: Mapping[str, str]) -> List[str]:
    """Return the files of ``UV_CONSTRAINT`` in uv's settings, which holds pip's too; paths or URLs."""
    return env.get("UV_CONSTRAINT", "").split()


def meets(lock: Lock, files: Sequence[str]) -> bool:
    """Say whether a lock meets all constraints; False also when that can't be told from the files alone.

    Raises:
        UsageError: a file can't be read.
    """
    versions = {p.name: p.version for p in lock.packages}
    for file in files:
        if "://" in file:
            return False
        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(
                f"The constraints {file} can't be read: {getattr(error, 'strerror', None) or error}",
                "It is named by PIP_CONSTRAINT, UV_CONSTRAINT or pip's configuration.",
            ) from None
        for line in re.sub(r"\\\r?\n", " ", text).splitlines():
            if not _allows(re.sub(r"(^|\s)#.*", "", line).strip(), versions):
                return False
    return True


def _allows(line: str, versions: Mapping[str, str]) -> bool:
    if not line:
        return True
    try:
        requirement = Requirement(re.split(r"\s--", line)[0])
    except InvalidRequirement:  # another file, or an option
        return False
    version = versions.get(canonicalize_name(requirement.name))
    if version is None:
        return True
    return not requirement.url and requirement.specifier.contains(version, prereleases=True)
