"""What a diagnosis carries: evidence, recipe, where facts came from, and what is missing."""

from __future__ import annotations

import io
import json
from typing import Iterator

import pytest

from envsetup.diagnose import Diagnosis, explain
from envsetup.diagnose import explain as package_function
from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.machine.fact import Fact, Machine

PROTOBUF = b"TypeError: Descriptors cannot be created directly.\n"


def test_json_has_the_keys_that_scripts_rely_on() -> None:
    data = json.loads(json.dumps(explain(io.BytesIO(PROTOBUF)).to_json()))
    assert data["schema"] == 1 and data["ok"] is False
    finding = data["findings"][0]
    assert set(finding) >= {"code", "severity", "title", "evidence", "cause", "fix"}
    assert set(finding["fix"]) == {"steps", "admin", "reboot", "verify"}
    assert finding["evidence"] == ["line 1: TypeError: Descriptors cannot be created directly."]


def test_nothing_matched_is_said_plainly() -> None:
    found = explain(io.BytesIO(b"all quiet\n"))
    assert found.findings == () and found.ok
    assert set(found.missing_facts) >= {"os", "python", "packages"}


def test_only_errors_make_it_not_ok() -> None:
    benign = b"Not creating XLA devices, tf_xla_enable_xla_devices not set\n"
    found = explain(io.BytesIO(benign))
    assert found.findings[0].severity == "info" and found.ok


def test_facts_say_where_they_came_from() -> None:
    log = b"NVIDIA-SMI 470.86       Driver Version: 470.86       CUDA Version: 11.4\n"
    machine = Machine.of(
        [Fact("packages", {"torch": "2.1.0+cu121"}, "report"), Fact("os", "linux", "report")]
    )
    found = explain(io.BytesIO(log + b"Is CUDA available: False\n"), machine)
    assert found.findings[0].code == "driver-too-old"
    assert found.facts_from["driver.nvidia"] == "the text, line 1"
    assert found.facts_from["packages"] == "report"
    assert any("line 1" in evidence for evidence in found.findings[0].evidence)


def test_given_facts_win_over_the_text() -> None:
    log = b"Driver Version: 470.86       CUDA Version: 11.4\n"
    facts = [Fact("driver.nvidia", "550.54", "report"), Fact("os", "linux", "report")]
    machine = Machine.of([*facts, Fact("packages", {"torch": "2.1.0+cu121"}, "report")])
    assert explain(io.BytesIO(log), machine).findings == ()


def test_fix_carries_this_machines_numbers_and_system() -> None:
    log = b"Could not load dynamic library 'libcudart.so.10.1'; dlerror: cannot open\n"
    facts = {"packages": {"tensorflow": "2.3.0"}, "os": "linux", "wsl": 0, "cuda": [{"version": "11.2"}]}
    machine = Machine.of(Fact(name, value, "report") for name, value in facts.items())
    finding = explain(io.BytesIO(log), machine, "use the GPU").findings[0]
    assert finding.code == "tf-cuda-toolkit-mismatch"
    assert "CUDA 10.1" in finding.cause and "11.2" in finding.cause
    assert any("CUDA 10.1" in step and "cuDNN 7.6" in step for step in finding.fix.steps)


def test_what_a_log_says_cannot_become_a_command() -> None:
    hostile = (
        b"ERROR: Could not find a version that satisfies the requirement tensorflow==1.0; rm -rf ~ "
        b"(from versions: none)\n"
    )
    machine = Machine.of([Fact("python", [{"version": "3.13.0"}], "report"), Fact("os", "linux", "report")])
    for finding in explain(io.BytesIO(hostile), machine).findings:
        assert not any("rm -rf" in step for step in finding.fix.steps)
    module = b"ModuleNotFoundError: No module named 'torch$(reboot)'\n"
    for finding in explain(io.BytesIO(module), machine).findings:
        assert not any("$(" in step for step in finding.fix.steps)


def test_a_broken_rule_does_not_end_the_diagnosis(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    module = sys.modules[package_function.__module__]

    def broken(case: Case) -> Iterator[Candidate]:
        raise ZeroDivisionError("by design")
        yield

    monkeypatch.setattr(module, "RULES", (broken, *module.RULES))  # type: ignore[attr-defined]
    found = explain(io.BytesIO(PROTOBUF))
    assert found.findings[0].code == "protobuf-too-new"
    assert "ZeroDivisionError" in found.failed_rules[0]
    assert "failed_rules" in found.to_json()


def test_a_text_stream_works_too() -> None:
    found: Diagnosis = explain(io.StringIO(PROTOBUF.decode()))
    assert found.findings[0].code == "protobuf-too-new"


@pytest.mark.parametrize(
    ("wanted", "log", "code"),
    [
        ("torch.cuda.is_available()", b">>> False\n", "torch-cpu-build-installed"),
        ("print the time", b"False\n", None),
        ("torch.cuda.is_available()", b"True\n", None),
    ],
)
def test_a_bare_answer_is_read_with_its_question(wanted: str, log: bytes, code: str | None) -> None:
    machine = Machine.of(
        [
            Fact("os", "windows", "report"),
            Fact("driver.nvidia", "537.13", "report"),
            Fact("packages", {"torch": "2.1.0"}, "report"),
        ]
    )
    found = explain(io.BytesIO(log), machine, wanted)
    assert (found.findings[0].code if found.findings else None) == code


def test_a_systems_name_gives_its_c_library() -> None:
    machine = Machine.of(
        [Fact("os", "linux", "report"), Fact("wsl", 0, "report"), Fact("os-version", "CentOS 7", "report")]
    )
    found = explain(io.BytesIO(b""), machine, "pip install torch==2.6.0")
    assert found.findings[0].code == "glibc-too-old"
    assert any("derived: CentOS 7" in evidence for evidence in found.findings[0].evidence)
