"""What pip is configured with: its files and PIP_* variables, in pip's own order of precedence."""

from __future__ import annotations

import configparser
from typing import Any, Dict, Iterator, List, Tuple

from envsetup.machine.fact import Fact
from envsetup.machine.host import Host, Unreadable
from envsetup.machine.reading import Sight

LISTS = ("extra-index-url", "find-links", "constraint", "trusted-host")
TEXTS = ("index-url", "cert", "proxy")
FLAGS = ("no-index",)
FILE_LIMIT = 1 << 18  # bytes
_TRUE = {"1", "y", "yes", "t", "true", "on"}


def read_pip(sight: Sight) -> Iterator[Fact]:
    """Read pip. Credentials stay in the value, for passing on; they are hidden wherever it is shown."""
    host = sight.host
    settings: Dict[str, str] = {}
    sources: List[str] = []
    problems: List[str] = []
    for path in files(host):
        try:
            text = host.read_text(path, FILE_LIMIT)
            found = parse(text) if text is not None else None
        except (Unreadable, configparser.Error) as error:
            problems.append(str(error) if isinstance(error, Unreadable) else f"{path}: {error.message}")
            continue
        if found is not None:
            sources.append(path)
            settings.update(found)
    for key in (*LISTS, *TEXTS, *FLAGS):
        name = "PIP_" + key.upper().replace("-", "_")
        value = host.env(name)
        if value:
            settings[key] = value
            sources.append(name)
    pip = {**shape(settings), "sources": sources, "problems": problems}
    yield Fact("pip", pip, ", ".join(sources) or "no settings")


def shape(settings: Dict[str, str]) -> Dict[str, Any]:
    """Return settings with the fact's names and types; pip splits lists at white space."""
    out: Dict[str, Any] = {key.replace("-", "_"): settings.get(key) or None for key in TEXTS}
    out.update({key.replace("-", "_"): settings.get(key, "").split() for key in LISTS})
    out.update({key.replace("-", "_"): settings.get(key, "").strip().lower() in _TRUE for key in FLAGS})
    return out


def parse(text: str) -> Dict[str, str]:
    """Return the settings of one file that hold for ``pip install``: [global], overridden by [install].

    Raises:
        configparser.Error: it is no configuration file; pip refuses it too.
    """
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    found: Dict[str, str] = {}
    for section in ("global", "install"):
        if parser.has_section(section):
            found.update({key.replace("_", "-"): value for key, value in parser.items(section)})
    return found


def files(host: Host) -> List[str]:
    """Return pip's files, the weakest first: all users', the user's, the environment's, PIP_CONFIG_FILE."""
    named = host.env("PIP_CONFIG_FILE") or None  # pip takes an empty one as none
    if named in ("/dev/null", "nul", "NUL"):
        return []  # pip's way to read no file at all
    shared, own = _places(host)
    inside = host.env("VIRTUAL_ENV") or host.env("CONDA_PREFIX")
    site = [host.join(inside, "pip.ini" if host.system == "windows" else "pip.conf")] if inside else []
    # A file that is named, and there, stands in for the user's own.
    replaces = named is not None and host.stat(named) is not None
    return [*shared, *([] if replaces else own), *site, *([named] if named else [])]


def _places(host: Host) -> Tuple[List[str], List[str]]:
    """Return the files for all users and the user's, each the weakest first."""
    home = host.home
    if host.system == "windows":
        data, shared = host.env("APPDATA"), host.env("ProgramData") or r"C:\ProgramData"
        own = [host.join(home, "pip", "pip.ini")] if home else []
        return [host.join(shared, "pip", "pip.ini")], own + (
            [host.join(data, "pip", "pip.ini")] if data else []
        )
    own = [f"{home}/.pip/pip.conf"] if home else []
    if host.system == "macos":
        library = "Library/Application Support/pip"
        newer = (
            f"{home}/{library}/pip.conf"
            if home and host.stat(f"{home}/{library}")
            else f"{home}/.config/pip/pip.conf"
        )
        return [f"/{library}/pip.conf"], own + ([newer] if home else [])
    config = host.env("XDG_CONFIG_HOME") or (f"{home}/.config" if home else None)
    folders = [part for part in (host.env("XDG_CONFIG_DIRS") or "/etc/xdg").split(":") if part]
    shared_files = [*(f"{folder}/pip/pip.conf" for folder in reversed(folders)), "/etc/pip.conf"]
    return shared_files, own + ([f"{config}/pip/pip.conf"] if config else [])
