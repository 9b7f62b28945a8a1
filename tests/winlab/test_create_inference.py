"""envsetup on Windows with ONNX Runtime on DirectML, one of several that own its import package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import pytest

from tests.winlab.lab import Done, Lab

pytestmark = [pytest.mark.winlab, pytest.mark.heavy(disk=3)]


def test_onnxruntime_directml_is_made_and_proven(
    envsetup: Callable[..., Done[str]], winlab: Lab, tmp_path: Path
) -> None:
    env = tmp_path / "env"
    done = envsetup("create", "--stack", "onnxruntime-directml==1.19", "--python", "3.8", "--json", env)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    result: Any = json.loads(done.stdout)
    assert result["stack"] == "onnxruntime-directml==1.19.2"
    assert (result["probe"]["ok"], result["probe"]["device"]) == (True, "dml:0")
    assert result["probe"]["devices"] == [{"id": "dml:0", "name": "Radeon (TM) RX 480 Graphics"}]
    assert {op["device"] for op in result["probe"]["placement"]["ops"]} == {"dml:0"}
    python = env / "Scripts/python.exe"
    checked = winlab.run(python, "-m", "pip", "check")
    assert checked.returncode == 0, checked.stdout
    shown = winlab.run(python, "-c", "import importlib.metadata as m; print(m.version('onnxruntime'))").stdout
    assert shown.strip() == "1.19.2+directml"
    snippet = json.loads(envsetup("probe", env, "--snippet", "--json").stdout)["snippet"]
    assert '"DmlExecutionProvider", {"device_id": 0}' in snippet
