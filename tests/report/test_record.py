"""A report that goes to others: no names, no secrets, and still good to diagnose with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envsetup.machine.fact import Fact, Machine
from envsetup.machine.recording import load
from envsetup.report.record import Cleaner, save

ENVIRON = {
    "HOME": "/home/ada.l",
    "USER": "ada.l",
    "HOSTNAME": "lovelace.lab.example",
    "COMPUTERNAME": "LOVELACE-PC",
}


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("/home/ada.l/envs/x", "~/envs/x"),
        ("/home/ada.l", "~"),
        ("/home/ada.lovely/x", "/home/USER/x"),
        ("/home/other/x:/usr/bin", "/home/USER/x:/usr/bin"),
        ("/Users/Ada L/x", "/Users/USER/x"),
        (r"C:\Users\Ada Augusta L\x and more", r"C:\Users\USER\x and more"),
        ("from /home/one and /home/two", "from /home/USER and /home/USER"),
        (r"C:\Users\Ada\AppData", r"C:\Users\USER\AppData"),
        (r"C:\\Users\\Ada\\AppData", r"C:\\Users\\USER\\AppData"),
        ("/mnt/c/Users/Ada/x", "/mnt/c/Users/USER/x"),
        ("user ada.l on lovelace.lab.example", "user USER on HOST"),
        ("host lovelace, LOVELACE-PC", "host HOST, HOST"),
        ("https://ada:pw@index.example/simple", "https://***@index.example/simple"),
        ("token ghp_abcdefghijklmnopqrstuvwxyz0123456789", "token ***"),
        ("hf_abcdefghijklmnopqrstuvwxyz", "***"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer ***"),
        ("password=correct-horse", "password=***"),
        ("/usr/lib/python3/dist-packages", "/usr/lib/python3/dist-packages"),
        ("torch 1.8.0 (stated)", "torch 1.8.0 (stated)"),
        ("GeForce RTX 2080 Ti", "GeForce RTX 2080 Ti"),
        ("needs the user's site-packages", "needs the user's site-packages"),
    ],
)
def test_what_is_taken_out_and_what_stays(text: str, cleaned: str) -> None:
    assert Cleaner(ENVIRON).text(text) == cleaned


def test_common_accounts_are_no_names() -> None:
    cleaner = Cleaner({"HOME": "/root", "USER": "root"})
    assert cleaner.text("/root/envs and chroot and root: yes") == "~/envs and chroot and root: yes"


def test_a_report_is_read_again_as_a_machine(tmp_path: Path) -> None:
    machine = Machine.of(
        [
            Fact("os", "linux", "uname"),
            Fact("disk", {"path": "/home/ada.l", "free": 5}, "file system"),
            Fact("packages", {"tensorflow": "2.3.0", "protobuf": "5.0"}, "/home/ada.l/env"),
            Fact("env", {"MY": "ada.l"}, "environment"),
        ]
    )
    path = tmp_path / "report.json"
    save(path, machine, {"findings": [{"cause": "in /home/ada.l/env on lovelace"}]}, ENVIRON)
    text = path.read_text("utf-8")
    assert "ada" not in text and "lovelace" not in text
    again = load(path)
    assert again.value("packages") == {"tensorflow": "2.3.0", "protobuf": "5.0"}
    assert again.value("disk") == {"path": "~", "free": 5}
    assert json.loads(text)["report"]["findings"][0]["cause"] == "in ~/env on HOST"
