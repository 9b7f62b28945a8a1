"""The probe: what the environment really does, and the causes behind what it prints."""

from __future__ import annotations

import io
from typing import List

from envsetup.diagnose.checks.check import Problem, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.recognise import recognise
from envsetup.diagnose.explain import explain
from envsetup.diagnose.finding import Candidate

SURE = 0.6  # a cause that the log gives at least this much for explains the failure


def look(context: Context) -> Seen:
    """Run the probe on the backend that the environment is for; explain its log when it fails."""
    from envsetup.probe.examine import examine
    from envsetup.probe.run import supported

    target = context.target
    assert target is not None
    kind = recognise(context)
    if kind is None or (kind.framework, kind.backend) not in supported():
        what = f"{kind.framework} on {kind.backend}" if kind else "an unknown environment"
        return Seen(skipped=f"there is no probe for {what}")
    report = examine(
        target.environment, kind.framework, kind.backend, machine=context.machine, report=context.report
    )
    data = report.to_json()
    if report.ok:
        return Seen(detail=f"a training step ran on {report.device}", data=data)
    problems: List[Problem] = []
    log = io.BytesIO(f"{report.log}\n{report.reason}\n".encode("utf-8", "replace"))
    for finding in explain(log, context.facts_in_question, "").findings:
        if finding.severity == "error" and finding.score >= SURE:
            candidate = Candidate(finding.code, finding.score, finding.evidence)
            problems.append(Problem(candidate, fix=finding.fix))
    values = {"stage": report.stage, "what": f"{kind.framework} on {kind.backend}"}
    evidence = (report.reason,)
    problems.append(Problem(Candidate("probe-failed", 0.5, evidence, values)))
    return Seen(tuple(problems), data=data)
