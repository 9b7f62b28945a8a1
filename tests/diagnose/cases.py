"""The cases of this folder, and how one is run: through the file that ``--machine`` reads."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, Dict, List

from envsetup.diagnose import Diagnosis, diagnose_facts, explain
from envsetup.machine import recording

HERE = Path(__file__).parent


def load(name: str) -> List[Dict[str, Any]]:
    """Return the cases of a file."""
    with (HERE / name).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def run(case: Dict[str, Any], folder: Path) -> Diagnosis:
    """Return the diagnosis of a case."""
    path = folder / "machine.json"
    path.write_text(json.dumps({"facts": case["facts"], "wanted": case["wanted"]}), encoding="utf-8")
    machine = recording.load(path)
    return explain(io.BytesIO(case["log"].encode()), machine) if case["log"] else diagnose_facts(machine)


def first(diagnosis: Diagnosis) -> str | None:
    """Return the code of the best finding, or None."""
    return diagnosis.findings[0].code if diagnosis.findings else None
