"""A doctor's report to send to others: facts and findings, without names of people and machines."""

from __future__ import annotations

import json
import os
import platform
import re
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Mapping, Tuple

from envsetup.errors import EnvsetupError
from envsetup.machine.fact import Machine
from envsetup.machine.secrets import mask

KIND = "envsetup doctor report"

# Accounts that say nothing about a person, and too short names: they are parts of other words.
_COMMON = frozenset(
    {"root", "user", "admin", "administrator", "home", "localhost", "runner", "vagrant", "ubuntu"}
)
_HOMES = re.compile(
    r"(/home/|/Users/|[A-Za-z]:[\\/]+Users[\\/]+|/mnt/[a-z]/Users/)"
    r"(?:[^\\/\s:;\"',]+(?: [^\\/\s:;\"',]+)*(?=[\\/])|[^\\/\s:;\"',]+)",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"\b(gh[pousr]_\w{20,}|github_pat_\w{20,}|hf_\w{20,}|pypi-[\w-]{20,}|glpat-[\w-]{16,}|sk-[\w-]{20,}|xox[abprs]-[\w-]{10,}"
    r"|AKIA[0-9A-Z]{16}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+)"
)
_HEADER = re.compile(
    r"(?i)\b(authorization\s*[:=]\s*\S+|bearer|token|password|passwd|secret|api[_-]?key)(\s*[:=]\s*|\s+)([^\s,;\"']{6,})"
)


def save(
    path: Path, machine: Machine, report: Mapping[str, Any], environ: Mapping[str, str] | None = None
) -> None:
    """Write a report that ``--machine`` reads; an earlier file is replaced only by a whole one.

    Args:
        machine: the facts, with the environment's packages and interpreter.
        report: what ``doctor --json`` prints.
        environ: where the names to remove are found (default: this process's).

    Raises:
        EnvsetupError: the file can't be written.
    """
    cleaner = Cleaner(os.environ if environ is None else environ)
    data = {"schema": 1, "kind": KIND, "facts": machine.to_json()["facts"], "report": dict(report)}
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.absolute().parent, delete=False
        ) as file:
            json.dump(cleaner.clean(data), file, indent=1, sort_keys=True)
            file.write("\n")
        Path(file.name).replace(path)
    except OSError as error:
        raise EnvsetupError(f"{path} can't be written: {error.strerror}.") from None


class Cleaner:
    """Takes user names, host names, the home folder and credentials out of a JSON value.

    Args:
        environ: environment variables that name them.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        homes = {environ.get("HOME", ""), environ.get("USERPROFILE", ""), str(Path.home())}
        users = {environ.get(n, "") for n in ("USER", "LOGNAME", "USERNAME", "SUDO_USER")}
        users |= {re.split(r"[\\/]", home.rstrip("\\/"))[-1] for home in homes}
        hosts = {environ.get("HOSTNAME", ""), environ.get("COMPUTERNAME", ""), platform.node()}
        hosts |= {host.split(".")[0] for host in hosts}
        words: List[Tuple[str, str]] = [
            (home, "~") for home in sorted(homes, key=len, reverse=True) if len(home) > 1
        ]
        self._homes = words
        self._names = [
            (re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", re.IGNORECASE), label)
            for names, label in ((users, "USER"), (hosts, "HOST"))
            for name in sorted(names, key=len, reverse=True)
            if len(name) > 2 and name.lower() not in _COMMON
        ]

    def clean(self, value: Any) -> Any:
        """Return the value without them, in every text of it, keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            cleaned: Dict[Any, Any] = {self.clean(key): self.clean(item) for key, item in value.items()}
            return cleaned
        if isinstance(value, (list, tuple)):
            return [self.clean(item) for item in value]
        return value

    def text(self, text: str) -> str:
        """Return a text without them."""
        text = str(mask(text))
        for home, label in self._homes:
            text = re.sub(rf"{re.escape(home)}(?![\w.-])", label.replace("\\", r"\\"), text)
        text = _HOMES.sub(r"\1USER", text)
        for name, label in self._names:
            text = name.sub(label, text)
        text = _TOKEN.sub("***", text)
        return _HEADER.sub(r"\1\2***", text)
