"""Hide credentials in anything that is shown or saved."""

from __future__ import annotations

import re
from typing import Any

HIDDEN = "***"

# https://user:password@host, https://token@host; a password may hold an @ itself, so the last one counts.
_IN_URL = re.compile(r"(?P<keep>[A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#\"']+@")
# user:password@proxy:3128, as pip accepts it for its proxy, without a scheme.
_BARE = re.compile(r"(?P<keep>^|[\s=\"'])[^\s/:=@\"']+:[^\s/@\"']+@(?=[\w\[])", re.MULTILINE)
# ?token=…&password=… in an address.
_IN_QUERY = re.compile(
    r"(?P<keep>[?&](?:[\w-]*(?:token|password|passwd|secret|api_?key|signature))=)[^&\s\"']+",
    re.IGNORECASE,
)


def mask(value: Any) -> Any:
    """Return a JSON value in which every credential of every text is ``***``.

    Example:
        >>> mask({"index_url": "https://me:pw@index.example/simple"})
        {'index_url': 'https://***@index.example/simple'}
    """
    if isinstance(value, str):
        if "@" in value:
            value = _IN_URL.sub(rf"\g<keep>{HIDDEN}@", value)
            value = _BARE.sub(rf"\g<keep>{HIDDEN}@", value)
        return _IN_QUERY.sub(rf"\g<keep>{HIDDEN}", value) if "?" in value or "&" in value else value
    if isinstance(value, dict):
        return {mask(key): mask(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask(item) for item in value]
    return value
