"""The report as one page for a browser: nothing is loaded from anywhere, and it can be printed."""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Mapping

from envsetup import __version__
from envsetup.errors import EnvsetupError
from envsetup.machine.fact import Machine
from envsetup.report.facts import value_lines

TEMPLATES = Path(__file__).parent / "templates"
_SEVERITIES = ("error", "warning", "info")
_HIDDEN = frozenset({"env", "packages"})  # long, and of no use on paper; --record has them


def render(report: Mapping[str, Any], machine: Machine) -> str:
    """Return the page.

    Args:
        report: what ``doctor --json`` prints; every text in it may come from outside and is escaped.
        machine: the facts.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(TEMPLATES)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    counts = {s: sum(f["severity"] == s for f in report["findings"]) for s in _SEVERITIES}
    return environment.get_template("doctor.html").render(
        report=report,
        counts=counts,
        facts=_facts(machine),
        hardest=next((s for s in _SEVERITIES if counts[s]), "ok"),
        made=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
    )


def write(path: Path, report: Mapping[str, Any], machine: Machine) -> None:
    """Write the page; an earlier file is replaced only by a whole one.

    Raises:
        EnvsetupError: the file can't be written.
    """
    page = render(report, machine)
    try:
        folder = path.absolute().parent
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, delete=False) as file:
            file.write(page)
        Path(file.name).chmod(0o644)
        Path(file.name).replace(path)
    except OSError as error:
        raise EnvsetupError(f"{path} can't be written: {error.strerror}.") from None


def _facts(machine: Machine) -> List[Dict[str, Any]]:
    return [
        {
            "name": fact.name,
            "lines": value_lines(fact),
            "source": fact.to_json()["source"],
            "known": fact.known,
            "assumed": fact.assumed,
        }
        for fact in sorted(machine, key=lambda f: f.name)
        if fact.name not in _HIDDEN
    ]
