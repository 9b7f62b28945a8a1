"""Machines in files: recordings, the output of ``facts --json``, and the short form."""

from __future__ import annotations

import json

import pytest

from envsetup.errors import EnvsetupError, UsageError
from envsetup.machine import RealHost, RecordingHost, read
from envsetup.machine.recording import SIZE_LIMIT, load, save
from tests.machine import machines


@pytest.mark.parametrize(
    "make", [machines.windows_hybrid, machines.wsl1, machines.debian_1080ti, machines.macos_apple]
)
def test_a_recording_says_elsewhere_what_the_machine_said(make, tmp_path):
    host = RecordingHost(make())
    machine = read(host)
    save(tmp_path / "machine.json", host)
    assert load(tmp_path / "machine.json").to_json() == machine.to_json()


def test_this_machine_can_be_recorded(tmp_path):
    host = RecordingHost(RealHost())
    machine = read(host)
    save(tmp_path / "machine.json", host)
    assert load(tmp_path / "machine.json").to_json() == machine.to_json()
    assert (tmp_path / "machine.json").stat().st_size < 1 << 20


def test_credentials_are_in_the_fact_and_nowhere_else(tmp_path):
    host = machines.debian_1080ti()
    host.files["/home/ada/.config/pip/pip.conf"] = (
        "[global]\nindex-url = https://ada:s3cret@index.example/simple\n"
        "proxy = ada:s3cret@proxy.example:3128\n"
        "extra-index-url =\n    https://s3cret@one.example/simple\n    https://two.example/simple?token=s3cret\n"
    )
    host.variables.update(
        PIP_FIND_LINKS="https://ada:s3cret@links.example/",
        HTTPS_PROXY="http://ada:s3cr@t@proxy.example",
        UV_INDEX_HOUSE_PASSWORD="s3cret",
        TF_API_TOKEN="s3cret",
    )
    recording = RecordingHost(host)
    machine = read(recording)
    pip = machine.value("pip")
    assert pip["index_url"] == "https://ada:s3cret@index.example/simple"
    assert pip["proxy"] == "ada:s3cret@proxy.example:3128"
    assert pip["find_links"] == ["https://ada:s3cret@links.example/"]
    shown = machine.to_json()["facts"]["pip"]["value"]
    assert (
        shown["index_url"] == "https://***@index.example/simple"
        and shown["proxy"] == "***@proxy.example:3128"
    )
    save(tmp_path / "machine.json", recording)
    for text in (json.dumps(machine.to_json()), (tmp_path / "machine.json").read_text()):
        assert "s3cr" not in text
    assert (
        load(tmp_path / "machine.json").value("pip")["extra_index_url"][0] == "https://***@one.example/simple"
    )


def test_the_output_of_facts_can_be_read_again(tmp_path):
    machine = read(machines.wsl2_nvidia())
    (tmp_path / "facts.json").write_text(json.dumps(machine.to_json()))
    again = load(tmp_path / "facts.json")
    assert again.value("gpu") == machine.value("gpu") and again.value("wsl") == 2
    assert again.get("libc").known and again.get("nonsense").known is False


BROKEN = {
    "missing": None,
    "empty": b"",
    "binary": b"\x00\xff\xfe\x80",
    "no object": b"[1, 2]",
    "another object": b'{"name": "x"}',
    "deep": b"[" * 200_000,
    "a newer schema": b'{"schema": 99, "recorded": {}}',
    "facts of the wrong type": b'{"facts": [1]}',
    "huge": b" " * (SIZE_LIMIT + 1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_is_no_machine_is_refused(name, tmp_path):
    path = tmp_path / "machine.json"
    if BROKEN[name] is not None:
        path.write_bytes(BROKEN[name])
    with pytest.raises(UsageError, match=r"machine\.json"):
        load(path)


def test_a_recording_with_nothing_in_it_is_a_machine_of_which_nothing_is_known(tmp_path):
    (tmp_path / "machine.json").write_text('{"schema": 1, "recorded": {}}')
    machine = load(tmp_path / "machine.json")
    assert not any(fact.known for fact in machine)


def test_a_recording_does_not_reach_this_machine(tmp_path):
    data = {
        "schema": 1,
        "recorded": {"native": {"platform": {"value": {"system": "linux", "release": "6.1"}}}},
    }
    (tmp_path / "machine.json").write_text(json.dumps(data))
    machine = load(tmp_path / "machine.json")
    assert {fact.name for fact in machine if fact.known} == {"os", "kernel"}
    assert "not in the recording" in machine.get("cpu").source


def test_saving_where_nothing_can_be_written_says_so(tmp_path):
    with pytest.raises(EnvsetupError, match="can't be written"):
        save(tmp_path / "missing" / "machine.json", RecordingHost(machines.alpine()))
