"""The environment's interpreter: there, starting, of the right kind."""

from __future__ import annotations

import os

from envsetup.diagnose.checks.check import Problem, Seen
from envsetup.diagnose.checks.context import Context, store
from envsetup.diagnose.finding import Candidate


def look(context: Context) -> Seen:
    """Start the interpreter without its packages and compare what it says with what the environment says."""
    target = context.target
    assert target is not None
    python = str(target.python)
    if not target.python.exists():
        home = target.config.get("home", "its base interpreter")
        gone = (
            f"{python} leads to {os.readlink(python)}"
            if target.python.is_symlink()
            else f"{python} is not there"
        )
        candidate = Candidate(
            "interpreter-broken", 0.95, (gone,), {"why": f"{home} holds it no more", "python": python}
        )
        return Seen((Problem(candidate),))
    said = target.answer
    if isinstance(said, str):
        candidate = Candidate(
            "interpreter-broken", 0.9, (f"{python} {said}",), {"why": f"it {said}", "python": python}
        )
        return Seen((Problem(candidate),))
    problems = []
    version = str(said["version"])
    if target.version and not version.startswith(f"{target.version}."):
        evidence = (
            f"{python} is Python {version}",
            f"the environment was made for {target.version}: {target.prefix}",
        )
        values = {
            "why": f"Python {version} took the place of {target.version}, which the packages are for",
            "python": python,
        }
        problems.append(Problem(Candidate("interpreter-broken", 0.9, evidence, values)))
    if said["bits"] == 32:
        problems.append(Problem(Candidate("python-32bit", 0.9, (f"{python}: 32-bit Python {version}",))))
    if said["ssl"] is False:
        problems.append(Problem(Candidate("python-ssl-broken", 0.9, (f"{python}: import _ssl fails",))))
    if store(target):
        home = target.config.get("home", "")
        problems.append(
            Problem(Candidate("microsoft-store-python", 0.8, (f"{python} comes from {home or python}",)))
        )
    return Seen(tuple(problems), detail=f"Python {version}, {said['bits']}-bit: {python}")
