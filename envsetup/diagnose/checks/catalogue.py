"""All checks by name, in the order in which a report shows them."""

from __future__ import annotations

from typing import Iterable, Tuple

from envsetup.diagnose.checks import (
    contents,
    cudnn,
    dependencies,
    files,
    fits,
    interpreter,
    isolation,
    libraries,
    prove,
    system,
    versions,
    wheels,
)
from envsetup.diagnose.checks.check import Check
from envsetup.errors import UsageError

CHECKS: Tuple[Check, ...] = (
    Check("system", "The system, its driver and its GPUs", "machine", system.look),
    Check("stacks", "What fits this machine", "machine", fits.look),
    Check("interpreter", "The interpreter", "environment", interpreter.look),
    Check("contents", "What the environment is", "environment", contents.look),
    Check("versions", "Versions that go together", "environment", versions.look),
    Check("dependencies", "Requirements", "environment", dependencies.look),
    Check("wheels", "Wheels for this Python and system", "environment", wheels.look),
    Check("files", "Files as they were installed", "environment", files.look, limit=120),
    Check("libraries", "Native libraries", "environment", libraries.look, limit=120),
    Check("cudnn", "Copies of cuDNN", "environment", cudnn.look),
    Check("isolation", "Nothing from outside", "environment", isolation.look),
    # The probe has a limit for each of its stages, and ends what it started.
    Check("probe", "A training step on the device", "probe", prove.look, limit=1800),
)


def choose(names: Iterable[str]) -> Tuple[Check, ...]:
    """Return the checks of these names; all when none is named.

    Raises:
        UsageError: there is no such check.
    """
    wanted = set(names)
    known = [check.name for check in CHECKS]
    for name in sorted(wanted - set(known)):
        raise UsageError(f"There is no check {name!r}.", f"The checks: {', '.join(known)}")
    return tuple(check for check in CHECKS if not wanted or check.name in wanted)
