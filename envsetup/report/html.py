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
    """Return the page of a diagnosis.

    Args:
        report: what ``doctor --json`` prints; every text in it may come from outside and is escaped.
        machine: the facts.
    """
    counts = {s: sum(f["severity"] == s for f in report["findings"]) for s in _SEVERITIES}
    hardest = next((s for s in _SEVERITIES if counts[s]), "ok")
    return _page("doctor.html", report=report, counts=counts, facts=_facts(machine), hardest=hardest)


def render_stacks(data: Mapping[str, Any]) -> str:
    """Return the page of what ``stacks --json`` prints."""
    return _page("stacks.html", stacks=data["stacks"], assumed=data["assumed"])


def _page(template: str, **values: Any) -> str:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(TEMPLATES)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return environment.get_template(template).render(made=made, version=__version__, **values)


def write(path: Path, page: str) -> None:
    """Write a page; an earlier file is replaced only by a whole one.

    Raises:
        EnvsetupError: the file can't be written.
    """
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
