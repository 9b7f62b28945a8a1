from __future__ import annotations

import threading
import time

import pytest

from envsetup.diagnose.catalogue import causes
from envsetup.diagnose.checks.catalogue import CHECKS, choose
from envsetup.diagnose.checks.check import Check, Problem, Repair, Result, Seen
from envsetup.diagnose.checks.context import Context, Once
from envsetup.diagnose.checks.run import run, together
from envsetup.diagnose.finding import Candidate, Fix
from envsetup.errors import UsageError
from envsetup.machine.fact import Machine

CONTEXT = Context(lambda: Machine.of([]))


def check(name: str, look: object, limit: float = 5) -> Check:
    return Check(name, name, "machine", look, limit)  # type: ignore[arg-type]


def seen(*problems: Problem) -> Seen:
    return Seen(problems)


def test_a_check_that_breaks_is_a_finding_about_that_check() -> None:
    def broken(_: Context) -> Seen:
        raise ValueError("no such thing")

    bad, good = run([check("bad", broken), check("good", lambda _: Seen(detail="well"))], CONTEXT)
    assert [f.code for f in bad.findings] == ["check-failed"]
    assert "bad" in bad.findings[0].cause and "no such thing" in bad.findings[0].evidence[0]
    assert bad.status == "warning" and good.status == "ok"


def test_a_check_that_takes_too_long_is_a_finding_and_holds_nobody_up() -> None:
    began, stop = time.monotonic(), threading.Event()
    (result,) = run([check("slow", lambda _: stop.wait(60), limit=0.2)], CONTEXT)
    stop.set()
    assert time.monotonic() - began < 10
    assert [f.code for f in result.findings] == ["check-failed"]


def test_checks_run_side_by_side() -> None:
    both = threading.Barrier(2, timeout=5)

    def meet(_: Context) -> Seen:
        both.wait()
        return Seen()

    assert [r.status for r in run([check("a", meet), check("b", meet)], CONTEXT)] == ["ok", "ok"]


def test_checks_of_an_environment_need_one() -> None:
    assert {r.check.about for r in run(CHECKS, CONTEXT)} == {"machine"}


def result(*problems: Problem) -> Result:
    (found,) = run([check("one", lambda _: seen(*problems))], CONTEXT)
    return found


def test_one_finding_a_code_with_all_the_evidence() -> None:
    weak = result(Problem(Candidate("damaged-file", 0.5, ("a",)), severity="warning"))
    strong = result(Problem(Candidate("damaged-file", 0.9, ("b", "a"))))
    (found,) = together([weak, strong])
    assert (found.evidence, found.severity, found.score) == (("b", "a"), "error", 0.9)


def test_errors_come_first_and_the_probe_tells_no_second_error() -> None:
    results = [
        result(Problem(Candidate("probe-failed", 0.99))),
        result(Problem(Candidate("interrupted-install", 0.9))),
        result(Problem(Candidate("torch-clobber", 0.5))),
    ]
    assert [(f.code, f.severity) for f in together(results)] == [
        ("torch-clobber", "error"),
        ("interrupted-install", "warning"),
        ("probe-failed", "info"),
    ]
    assert [f.severity for f in together(results[:2])] == ["error", "warning"]


def test_what_a_check_knows_better_than_the_catalogue() -> None:
    fix = Fix(("do this",), False, False, "look")
    (found,) = result(Problem(Candidate("damaged-file", 0.9), severity="info", fix=fix)).findings
    assert (found.severity, found.fix) == ("info", fix)


def test_repairs_add_up() -> None:
    one, two = (
        Problem(Candidate("a", 1), repair=Repair(("x",), ("y",))),
        Problem(Candidate("b", 1), repair=Repair(restore=("y", "z"))),
    )
    assert one.repair + two.repair == Repair(("x",), ("y", "z"))
    assert not Repair()


def test_choosing_checks() -> None:
    assert [c.name for c in choose(["files", "system"])] == ["system", "files"]
    assert choose([]) == CHECKS
    with pytest.raises(UsageError, match="no check 'flies'"):
        choose(["flies"])


def test_once_is_once_for_all_threads() -> None:
    calls = []

    def slow() -> int:
        time.sleep(0.05)
        calls.append(1)
        return len(calls)

    once = Once(slow)
    threads = [threading.Thread(target=once) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert once() == 1


def test_every_code_of_the_checks_is_in_the_catalogue() -> None:
    import re
    from pathlib import Path

    import envsetup.diagnose.checks as package

    named = set()
    for path in Path(package.__file__).parent.glob("*.py"):
        text = path.read_text("utf-8")
        named |= set(re.findall(r"Candidate\(\s*\"([a-z0-9-]+)\"", text))
        named |= set(re.findall(r"\"([a-z0-9]+(?:-[a-z0-9]+)+)\" if ", text)) & set(causes())
    assert len(named) > 20
    assert named <= set(causes())
