"""``python launch.py CONSTRAINTS ARGUMENT…`` is ``envsetup ARGUMENT…`` with another folder of constraints.

Tests need tiny stacks; the program itself has no setting for that, since the hashes in that folder are what a
user relies on.

PAUSE=move-in   stops after the earlier environment was set aside, before the new one is moved into place
PAUSE=clean-up  stops after the new one was moved into place, before the earlier one is removed
In both cases the file PAUSED is made, and the process sleeps until it is killed.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from envsetup.knowledge import files

folder = Path(sys.argv.pop(1))
files.constraints = lambda: folder


def pause() -> None:
    Path(os.environ["PAUSED"]).touch()
    time.sleep(600)


if os.environ.get("PAUSE") == "move-in":
    rename = Path.rename

    def paused_rename(self: Path, to: Any) -> Path:
        if ".envsetup-new-" in self.name:
            pause()
        return rename(self, to)

    Path.rename = paused_rename  # type: ignore[method-assign]
elif os.environ.get("PAUSE") == "clean-up":
    from envsetup.build import place

    remove_tree = place.remove_tree

    def paused_remove(path: Path) -> None:
        if path.name.endswith(".envsetup-old"):
            pause()
        remove_tree(path)

    place.remove_tree = paused_remove

from envsetup.cli import main  # noqa: E402 - it reads the constraints

main()
