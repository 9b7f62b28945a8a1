from __future__ import annotations

import io

import pytest
from rich.console import Console

from envsetup.diagnose.checks.check import Check, Result, Seen
from envsetup.diagnose.finding import Finding, Fix
from envsetup.report.findings import show_checks, show_findings, show_missing, show_verdict


def finding(severity: str = "error", admin: bool = False, reboot: bool = False) -> Finding:
    fix = Fix(("first [do] this", "then that"), admin, reboot, "look again")
    return Finding("a-code", severity, "A title", ("seen [here]",), "The cause.", fix, 0.9)


def console(encoding: str = "utf-8") -> tuple[Console, io.BytesIO]:
    raw = io.BytesIO()
    return Console(
        file=io.TextIOWrapper(raw, encoding=encoding, write_through=True), width=40, soft_wrap=True
    ), raw


def shown(encoding: str = "utf-8", **finding_: bool) -> str:
    out, raw = console(encoding)
    show_findings(out, [finding(**finding_)])
    return raw.getvalue().decode(encoding)


def test_a_finding_is_shown_whole_and_its_brackets_stay() -> None:
    text = shown()
    for part in (
        "error A title",
        "a-code",
        "The cause.",
        "• seen [here]",
        "    first [do] this\n",
        "look again",
    ):
        assert part in text


def test_what_a_step_asks_for_is_said() -> None:
    assert "needs administrator rights, then restart" in shown(admin=True, reboot=True)
    assert "administrator" not in shown()


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp437"])
def test_an_old_terminal_gets_plain_marks(encoding: str) -> None:
    text = shown(encoding)
    assert "* seen [here]" in text
    out, raw = console(encoding)
    show_checks(out, [Result(Check("a", "Title", "machine", lambda _: Seen()), Seen(detail="well"), (), 0.1)])
    assert raw.getvalue().decode(encoding) == "ok Title  well\n"


@pytest.mark.parametrize(
    ("severities", "words"),
    [
        ([], "nothing wrong was found with it"),
        (["info"], "nothing wrong was found with it"),
        (["error", "error", "warning"], "it: 2 errors, 1 warning"),
        (["warning"], "it: 1 warning"),
    ],
)
def test_the_last_line(severities: list[str], words: str) -> None:
    out, raw = console()
    show_verdict(out, [finding(s) for s in severities], "it")
    assert raw.getvalue().decode().strip() == words


def test_what_would_help() -> None:
    out, raw = console()
    show_missing(out, {"gpu": "which GPU it is"})
    assert raw.getvalue().decode() == "what would help:\n  gpu: which GPU it is\n"
