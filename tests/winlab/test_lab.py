"""The lab keeps the promises that the other Windows tests rely on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.winlab.lab import Lab

pytestmark = [pytest.mark.winlab, pytest.mark.heavy(disk=1)]


def test_programs_get_what_they_are_given_and_give_back_what_they_say(winlab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "Übung – 演習 1"
    folder.mkdir()
    code = (
        "import json, os, sys; sys.stderr.write('complaint\\n');"
        "print(json.dumps([sys.argv[1:], os.getcwd(), os.environ['GIVEN'], os.environ.get('HOME')]));"
        "sys.exit(7)"
    )
    done = winlab.python("3.8", "-c", code, "ü 演", tmp_path / "x", cwd=folder, env={"GIVEN": "a b"})
    assert done.returncode == 7
    assert done.stderr == "complaint\n"
    arguments, cwd, given, home = json.loads(done.stdout)
    assert arguments == ["ü 演", winlab.path(tmp_path / "x")]
    assert (cwd, given, home) == (winlab.path(folder), "a b", None)


def test_a_program_that_hangs_is_ended(winlab: Lab) -> None:
    code = "import time; print('begun', flush=True); time.sleep(99)"
    done = winlab.python("3.8", "-c", code, timeout=8)
    assert (done.returncode, done.stdout.strip()) == (124, "begun")


def test_it_is_windows_10_with_a_registered_python(winlab: Lab) -> None:
    code = (
        "import sys, winreg as w; v = sys.getwindowsversion(); print(v.major, v.build, sys.version_info[:2])"
    )
    code += r"; print(w.QueryValue(w.HKEY_LOCAL_MACHINE, r'Software\Python\PythonCore\3.8\InstallPath'))"
    version, where = winlab.python("3.8", "-c", code).stdout.splitlines()
    assert version == "10 19043 (3, 8)"
    assert where.lower().endswith("py3.8\\")


@pytest.mark.parametrize(
    "gpu, says",
    [("1002:679a", "VEN_1002&DEV_679A"), ("10de:1180", "VEN_10DE&DEV_1180"), ("off", "VEN_0000")],
)
def test_the_gpu_can_be_chosen(gpu: str, says: str, winlab: Lab) -> None:
    winlab.gpu(gpu)
    assert says in winlab.run("wmic", "path", "win32_VideoController", "get", "PNPDeviceID").stdout


def test_the_gpu_is_changed_back_after_a_test(winlab: Lab) -> None:
    """Runs after the tests above."""
    done = winlab.run("wmic", "path", "win32_VideoController", "get", "PNPDeviceID")
    assert "VEN_1002&DEV_67DF" in done.stdout
