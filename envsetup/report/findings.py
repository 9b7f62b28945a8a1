"""Findings on a terminal: one line a healthy check, detail where it matters."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from envsetup.diagnose.checks.check import Result
from envsetup.diagnose.finding import Finding

STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan", "skipped": "dim", "ok": "green"}
MARKS = {"error": "✗", "warning": "!", "info": "i", "skipped": "-", "ok": "✓"}
_PLAIN = {"✗": "x", "✓": "ok"}


def check_json(result: Result) -> Dict[str, Any]:
    """Return one check's outcome as JSON."""
    seen = result.seen
    return {
        "name": result.check.name,
        "title": result.check.title,
        "status": result.status,
        "detail": seen.detail or seen.skipped if seen else "",
        "codes": [finding.code for finding in result.findings],
        "seconds": round(result.seconds, 3),
    }


def show_checks(out: Console, results: Iterable[Result]) -> None:
    """Write one line a check."""
    for result in results:
        status, seen = result.status, result.seen
        detail = (seen.detail or seen.skipped) if seen else "the check itself failed"
        line = Text.assemble((f"{_mark(out, status)} ", STYLES[status]), (result.check.title, "bold"))
        line.append(f"  {detail}" if detail else "", "dim" if status in ("ok", "skipped") else "")
        out.print(line)


def show_findings(out: Console, findings: Sequence[Finding]) -> None:
    """Write each finding with its evidence and its fix, the worst first."""
    for finding in findings:
        out.print()
        style = STYLES[finding.severity]
        title = Text.assemble(
            (f"{finding.severity} ", style), (finding.title, "bold"), (f"  {finding.code}", "dim")
        )
        out.print(title)
        _indented(out, 2, finding.cause)
        for text in finding.evidence:
            _indented(out, 2, f"{_bullet(out)} {text}", "dim")
        if finding.severity != "info":
            _fix(out, finding)


def _fix(out: Console, finding: Finding) -> None:
    fix = finding.fix
    if not fix.steps:
        return
    notes = [
        word
        for word, needed in (("needs administrator rights", fix.admin), ("then restart", fix.reboot))
        if needed
    ]
    label = Text("what to do", "bold")
    label.append(f" ({', '.join(notes)})" if notes else "")
    out.print(Text.assemble("  ", label))
    for step in fix.steps:
        _indented(out, 4, step, "cyan")
    if fix.verify:
        _indented(out, 4, f"to verify: {fix.verify}", "dim")


def show_verdict(out: Console, findings: Sequence[Finding], what: str) -> None:
    """Write the last line: how many errors and warnings."""
    counts = {s: sum(f.severity == s for f in findings) for s in ("error", "warning")}
    out.print()
    if not any(counts.values()):
        out.print(Text(f"nothing wrong was found with {what}", "green"))
        return
    words = [f"{n} {severity}{'s' * (n > 1)}" for severity, n in counts.items() if n]
    out.print(Text(f"{what}: {', '.join(words)}", STYLES["error" if counts["error"] else "warning"]))


def show_missing(out: Console, missing: Mapping[str, str]) -> None:
    """Write which facts would help."""
    if not missing:
        return
    out.print(Text("what would help:", "bold"))
    for name, why in missing.items():
        _indented(out, 2, f"{name}: {why}")


def show_repair(out: Console, commands: Iterable[str]) -> None:
    """Write the commands of a repair."""
    out.print(Text("the repair:", "bold"))
    for command in commands:
        _indented(out, 2, command, "cyan")


def titles(findings: Iterable[Finding]) -> List[str]:
    """Return ``severity: title (code)`` of each, for one-line messages."""
    return [f"{f.severity}: {f.title} ({f.code})" for f in findings]


def _indented(out: Console, by: int, text: str, style: str = "") -> None:
    """Write one paragraph; the terminal breaks it, so that it can be copied whole."""
    out.print(Text(" " * by + text, style))


def _mark(out: Console, status: str) -> str:
    mark = MARKS[status]
    return mark if _unicode(out) else _PLAIN.get(mark, mark)


def _bullet(out: Console) -> str:
    return "•" if _unicode(out) else "*"


def _unicode(out: Console) -> bool:
    return (out.encoding or "").lower().replace("-", "") in ("utf8", "utf16", "utf8sig")
