"""Python interpreters: all that can be found, with version and architecture, mostly without a start."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from typing import Any, Callable, Dict, Iterator, List, Tuple

from envsetup.machine import binaries, interpreter_places
from envsetup.machine.fact import Fact, unknown
from envsetup.machine.host import Host, Unreadable
from envsetup.machine.interpreter_places import Candidate
from envsetup.machine.reading import Sight, side_by_side

START_LIMIT = 6.0  # seconds for an interpreter that has to be asked itself
_ASK = (
    "import sys, struct;"
    "print('%d.%d.%d' % sys.version_info[:3], struct.calcsize('P') * 8, sys.implementation.name)"
)
# Apple's stub opens a window that offers to install the developer tools unless these are there.
_APPLE_STUB, _APPLE_TOOLS = (
    "/usr/bin/python3",
    ("/Library/Developer/CommandLineTools", "/Applications/Xcode.app"),
)


def read_pythons(sight: Sight) -> Iterator[Fact]:
    """Read python."""
    host = sight.host
    machine = sight.value("arch")
    candidates, failures = interpreter_places.search(host)
    bases = _bases(host, candidates)
    answers = side_by_side([_examining(host, candidate, machine) for candidate in bases])
    found = [answer for answer in answers if isinstance(answer, dict)]
    failures += [str(answer) for answer in answers if isinstance(answer, Exception)]
    if not found and failures:
        yield unknown("python", "; ".join(failures[:5]))
        return
    source = (
        ", ".join(dict.fromkeys(entry["source"] for entry in found)) or "no interpreter in any usual place"
    )
    yield Fact("python", found, source, others=tuple((failure, None) for failure in failures))


def _examining(host: Host, candidate: Candidate, machine: str | None) -> Callable[[], Dict[str, Any] | None]:
    return lambda: examine(host, candidate, machine)


def _bases(host: Host, candidates: List[Candidate]) -> List[Candidate]:
    """Return each interpreter once; for one of a virtual environment, the one that it was made from."""
    seen: Dict[str, Candidate] = {}
    for candidate in candidates:
        for base in (base_of(host, candidate), candidate):
            try:
                real = base.path if base.store else host.real_path(base.path)
            except Unreadable:
                real = base.path
            if real:
                key = real.lower() if host.system == "windows" else real
                known = seen.setdefault(key, base)
                if known.version is None and base.version:
                    seen[key] = dataclasses.replace(known, version=base.version, arch=base.arch)
                break
    return list(seen.values())


def base_of(host: Host, candidate: Candidate, steps: int = 8) -> Candidate:
    """Follow pyvenv.cfg, beside the program or one folder above, to the base interpreter.

    Args:
        steps: how many environments, each made from the next, are followed.
    """
    folder, _, name = candidate.path.replace("\\", "/").rpartition("/")
    for place in (folder.rpartition("/")[0], folder):
        text = None
        with contextlib.suppress(Unreadable):
            text = host.read_text(host.join(place, "pyvenv.cfg"), 1 << 14)
        fields = dict(re.findall(r"^\s*([\w-]+)\s*=\s*(.+?)\s*$", text or "", re.MULTILINE))
        if "home" in fields:
            program = (
                "python.exe"
                if host.system == "windows"
                else re.sub(r"^(python[\d.]*|pypy[\d.]*).*", r"\1", name)
            )
            version = re.match(r"\d+\.\d+\.\d+", fields.get("version") or fields.get("version_info") or "")
            made_from = dataclasses.replace(
                candidate,
                path=host.join(fields["home"], program),
                version=version.group(0) if version else None,
            )
            return base_of(host, made_from, steps - 1) if steps > 1 else made_from
    return candidate


def examine(host: Host, candidate: Candidate, machine: str | None) -> Dict[str, Any] | None:
    """Return one interpreter as the fact lists it; None for what is none (a script, a stub).

    Raises:
        Unreadable: it looks like an interpreter, and does not start.
    """
    version, bits, arch = candidate.version, candidate.bits, candidate.arch
    implementation = candidate.implementation
    path = candidate.path
    if not candidate.store:
        built_for = binaries.architectures(host.read_bytes(path) or b"")
        if not built_for:
            return None
        # A universal program runs as the machine's own.
        arch, bits = next((pair for pair in built_for if pair[0] == machine), built_for[0])
    if version is None or version.count(".") < 2:
        asked = None if candidate.store or _is_apple_stub(host, path) else _ask(host, path)
        if asked:
            version, implementation = asked
        elif version is None:
            return None
    return {
        "version": version,
        "path": path,
        "bits": bits,
        "arch": arch,
        # 32-bit x86 runs on x86_64 itself; anything else that differs is translated.
        "emulated": bool(machine and arch and arch != machine and (arch, machine) != ("x86", "x86_64")),
        "implementation": implementation,
        "store": candidate.store,
        "source": candidate.source,
    }


def _is_apple_stub(host: Host, path: str) -> bool:
    return (
        host.system == "macos" and path == _APPLE_STUB and not any(host.stat(tool) for tool in _APPLE_TOOLS)
    )


def _ask(host: Host, path: str) -> Tuple[str, str]:
    done = host.run([path, "-I", "-S", "-c", _ASK], timeout=START_LIMIT, remember=True)
    match = re.match(r"(\d+\.\d+\.\d+) (\d+) (\w+)\s*$", done.out) if done else None
    if done and done.code not in (0, None) and not match:
        done = host.run(
            [path, "-S", "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"], timeout=START_LIMIT
        )
        match = re.match(r"(\d+\.\d+\.\d+)()()\s*$", done.out) if done else None  # Python 2 knows no -I
    if not match:
        raise Unreadable(
            f"{path}: " + ("did not answer in time" if done and done.timed_out else "does not start")
        )
    return match.group(1), match.group(3) or "cpython"
