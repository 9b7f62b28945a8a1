"""Credentials are hidden, and nothing else."""

from __future__ import annotations

import pytest

from envsetup.machine.secrets import mask


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://me:pw@host/simple", "https://***@host/simple"),
        ("https://token@host/simple", "https://***@host/simple"),
        ("http://me:p@ss@proxy:3128", "http://***@proxy:3128"),
        ("me:pw@proxy:3128", "***@proxy:3128"),
        ("proxy = me:pw@proxy:3128\n", "proxy = ***@proxy:3128\n"),
        ("https://host/x?a=1&access_token=abc#f", "https://host/x?a=1&access_token=***"),
        ("git+https://host/repo@v1.0", "git+https://host/repo@v1.0"),
        ("Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz", "Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz"),
        ("git@host:repo", "git@host:repo"),
    ],
)
def test_credentials_are_hidden_and_nothing_else(text, masked):
    assert mask({"k": [text]}) == {"k": [masked]}
