"""No log at all: what the user says of the trouble, in words that are no message of a program."""

from __future__ import annotations

import re
from typing import Callable, Iterator, Tuple

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate

SCORE = 0.62  # under what tables say: words are vague


def _any(case: Case) -> bool:
    return True


def _framework(case: Case) -> bool:
    return case.about("tensorflow") or case.about("torch") or case.about("directml")


def _windows(case: Case) -> bool:
    return case.system in ("windows", "") and _framework(case)


def _installs(case: Case) -> bool:
    return bool(case.commands) or case.says(r"\binstall|\bpip\b|\buv\b|\bconda\b|\bdownload")


# code, what the words hold, what must be true besides
_WORDS: Tuple[Tuple[str, str, Callable[[Case], bool]], ...] = (
    (
        "gpu-memory-growth",
        r"(takes?|allocat\w+|grabs?|uses?|eats?|reserves?|occup\w+|fills?) "
        r"(up )?(all|the whole|the entire|nearly all|almost all|9\d ?%|100 ?%)( of)?( the)?( gpu| video)? "
        r"?(memory|vram)|(whole|entire|all( the)?) (gpu|video) memory",
        lambda case: case.about("tensorflow"),
    ),
    ("out-of-memory", r"out of (gpu |video )?memory|\boom\b|not enough (gpu |video )?(memory|vram)", _any),
    (
        "msvc-redist-missing",
        r"vc\+\+|visual c\+\+|vc_?redist|redistributable|msvcp140|vcruntime140",
        _windows,
    ),
    ("tls-proxy", r"\bproxy\b|certificate|\bssl error|firewall|tls inspection", _installs),
    (
        "jupyter-kernel-wrong-env",
        r"(jupyter|notebook).{0,80}(terminal|console|shell|prompt)"
        r"|(terminal|console|shell|prompt).{0,80}(jupyter|notebook)",
        _framework,
    ),
    (
        "wrong-interpreter",
        r"(another|other|different|wrong|second|two) (python|interpreter|environment)s?\b"
        r"|(pycharm|vs ?code|idle|spyder|sudo).{0,60}(no module|not found|can'?t import|cannot import)",
        _framework,
    ),
    ("windows-long-path", r"long paths?\b|path (is )?too long|max_path|260 char", _windows),
    ("yanked-noise", r"\byanked\b", _installs),
    ("python-ssl-broken", r"ssl module|no ssl\b|without (open)?ssl", _any),
    (
        "conda-channel-mix",
        r"(defaults|pytorch|anaconda) (channel )?(and|with|plus) conda-forge"
        r"|conda-forge (and|with|plus) (the )?(defaults|pytorch|anaconda)",
        _any,
    ),
)


def evaluate(case: Case) -> Iterator[Candidate]:
    """Yield findings that only the user's own words support."""
    if case.log:
        return
    for code, regex, holds in _WORDS:
        # Not the packages' names: lazy-object-proxy says nothing of a proxy.
        if re.search(regex, case.wanted.lower()) and holds(case):
            yield Candidate(code, SCORE, (f"wanted: {case.wanted[:160]}",), {})
