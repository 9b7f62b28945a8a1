"""pip's settings, with pip's own order of precedence."""

from __future__ import annotations

import pytest

from tests.machine.fake_host import FakeHost, read_twice

PIP = {
    "nothing": ({}, {}, {"index_url": None, "extra_index_url": [], "no_index": False, "sources": []}),
    "all users, then the user": (
        {
            "/etc/pip.conf": "[global]\nindex-url = https://a/\ncert = /a.pem\n",
            "/home/ada/.config/pip/pip.conf": "[global]\nindex_url = https://b/\n",
        },
        {},
        {"index_url": "https://b/", "cert": "/a.pem"},
    ),
    "install wins over global": (
        {"/etc/pip.conf": "[install]\nno-index = yes\n[global]\nno-index = no\n"},
        {},
        {"no_index": True},
    ),
    "lists": (
        {"/etc/pip.conf": "[global]\nextra-index-url =\n  https://a/\n  https://b/\ntrusted-host = a b\n"},
        {},
        {"extra_index_url": ["https://a/", "https://b/"], "trusted_host": ["a", "b"]},
    ),
    "variables win": (
        {"/etc/pip.conf": "[global]\nindex-url = https://a/\n"},
        {"PIP_INDEX_URL": "https://v/", "PIP_CONSTRAINT": "/c.txt", "PIP_NO_INDEX": "1"},
        {
            "index_url": "https://v/",
            "constraint": ["/c.txt"],
            "no_index": True,
            "sources": ["/etc/pip.conf", "PIP_CONSTRAINT", "PIP_INDEX_URL", "PIP_NO_INDEX"],
        },
    ),
    "a named file stands in for the user's": (
        {
            "/named.conf": "[global]\nproxy = p:1\n",
            "/home/ada/.config/pip/pip.conf": "[global]\nindex-url = https://b/\n",
        },
        {"PIP_CONFIG_FILE": "/named.conf"},
        {"index_url": None, "proxy": "p:1"},
    ),
    "no file at all": (
        {"/etc/pip.conf": "[global]\nindex-url = https://a/\n"},
        {"PIP_CONFIG_FILE": "/dev/null"},
        {"index_url": None},
    ),
    "the environment's": (
        {"/venv/pip.conf": "[global]\nfind-links = /wheels\n"},
        {"VIRTUAL_ENV": "/venv"},
        {"find_links": ["/wheels"]},
    ),
    "garbage": (
        {
            "/etc/pip.conf": "\ufffd\ufffd no section",
            "/home/ada/.config/pip/pip.conf": "[global]\nindex-url = https://b/\n",
        },
        {},
        {"index_url": "https://b/", "sources": ["/home/ada/.config/pip/pip.conf"]},
    ),
}


@pytest.mark.parametrize("name", PIP)
def test_pip_settings(name):
    files, env, expected = PIP[name]
    found = read_twice(FakeHost({}, files=files, env={"HOME": "/home/ada", **env}), only=["pip"]).value("pip")
    assert {key: found[key] for key in expected} == expected
    assert bool(found["problems"]) is (name == "garbage")
