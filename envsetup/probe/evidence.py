"""What a framework's own log gives away: missing libraries, fallbacks to the CPU, why no GPU was taken.

Lines are read as they come, so that nothing is lost where the log is cut.
"""

from __future__ import annotations

import re
from typing import Dict, List, Set

from .log import clean

ITEM_LIMIT = 200

_MISSING = [
    # TensorFlow: "Could not load dynamic library 'libcudart.so.10.1'" (1.15 on; 'cudart64_101.dll' on
    # Windows), "Could not dlopen library '…'" (1.14), "Couldn't open CUDA library libcuda.so.1" (to 1.13).
    re.compile(r"Could not (?:load dynamic|dlopen) library '([^']+)'"),
    re.compile(r"Couldn't open CUDA library (\S+?)\.?(?:\s|$)"),
    # TensorFlow 1.x for Windows, before it tries: "Could not find 'cudart64_100.dll'."
    re.compile(r"Could not find '([^']+\.dll)'"),
    # The ELF loader, whoever called it.
    re.compile(r"(?:^|[\s'\"(:])([\w.+-]+\.so(?:\.\d+)*): cannot open shared object file"),
    # cuDNN 8: "Could not load library libcudnn_cnn_infer.so.8."
    re.compile(
        r"(?:Could not load|Unable to load|Failed to load) library:? '?([\w.+-]+?\.(?:so(?:\.\d+)*|dll))\b"
        r"(?!\.\d| with error)"  # ONNX Runtime: its own library is there, the error names the missing one
    ),
    # macOS.
    re.compile(r"Library not loaded: (?:\S*/)?(\S+\.dylib)"),
    # ctypes from Python 3.8 on; an "ImportError: DLL load failed" of Windows names no file.
    re.compile(r"Could not find module '(?:[^']*[\\/])?([\w.+-]+\.dll)'"),
]
# TensorRT is optional: TensorFlow looks for it, warns, and works without.
_OPTIONAL = re.compile(r"nvinfer", re.IGNORECASE)

_FALLBACK = re.compile(r"operator '([^']+)' is not currently supported .*fall back to run on the CPU")

# TensorFlow's placement log: "Executing op Conv2D in device /job:…" and "name: (Conv2D): /job:…".
_PLACED = re.compile(r"(?:Executing op (\w+) in device |\((\w+)\):? ?)/job:\S*/device:(\w+:\d+)")
_NOT_AN_OPERATION = {"_Arg", "_Retval", "_DeviceArg", "_DeviceRetval", "NoOp", "Const", "_EagerConst"}

_WHY_NO_DEVICE = [
    re.compile(pattern)
    for pattern in (
        r"failed call to cuInit: .*",
        r"kernel driver does not appear to be running.*",
        r"no CUDA-capable device is detected.*",
        r"CUDA driver version is insufficient.*",
        r"kernel version \S+ does not match DSO version.*",
        r"Ignoring visible (?:gpu|XLA_GPU_JIT) device.*",
        r"Cannot dlopen some GPU libraries.*",
        r"Could not find cuda drivers on your machine.*",
        r"Loaded runtime CuDNN library: .*",
        r"DirectML device enumeration: found 0 compatible adapters.*",
        r"Could not load (?:DirectML|adapter).*",
    )
]
# Cheap test for the lines that any of the above could match: a program may print millions.
_KEYS = re.compile(
    rb"librar|Library|\.so|\.dll|fall back|/job:|cuInit|driver|CUDA|Ignoring visible|dlopen|CuDNN"
    rb"|DirectML"
)


# Lines of a traceback say where; the line before or after them says what.
_TRACE = re.compile(rb"\s|Current thread|Thread 0x|Traceback|envsetup-probe: ")


class Evidence:
    """Collects from a log, line by line; every list is bounded."""

    def __init__(self) -> None:
        self._last = b""
        self._training_on = ""
        self.missing: List[str] = []
        self.fallbacks: List[str] = []
        self.why_no_device: List[str] = []
        self.placed: Dict[str, Set[str]] = {}
        self.ran_out_of_time = False

    def line(self, line: bytes) -> bool:
        """Read one line of the log.

        Returns:
            False for a line of TensorFlow's placement log. There is one for each operation, hundreds for
            a step; kept here by operation and device, they need not fill the log.
        """
        if line.startswith(b"envsetup-probe: "):
            self._mark(line[len(b"envsetup-probe: ") :].decode("utf-8", "replace").strip())
            return True
        if line.startswith(b"Timeout ("):  # faulthandler, before it ends the process
            self.ran_out_of_time = True
        if line.strip() and not _TRACE.match(line):
            self._last = line
        return not _KEYS.search(line) or self.read(clean(line).strip())

    def _mark(self, mark: str) -> None:
        if mark.startswith("train"):  # "train on GPU:0" … "trained"
            self._training_on = mark[len("train on ") :]

    def read(self, line: str) -> bool:
        """Read a line or an error's text; False for TensorFlow's placement log."""
        placed = _PLACED.search(line)
        if placed:
            op = placed.group(1) or placed.group(2)
            wanted = self._training_on not in ("", "cpu") and op not in _NOT_AN_OPERATION
            if wanted and (op in self.placed or len(self.placed) < ITEM_LIMIT):
                self.placed.setdefault(op, set()).add(placed.group(3))
            return False
        for pattern in _MISSING:
            for name in pattern.findall(line):
                if not _OPTIONAL.search(name):
                    _add(self.missing, name)
        for name in _FALLBACK.findall(line):
            _add(self.fallbacks, name)
        for pattern in _WHY_NO_DEVICE:
            found = pattern.search(line)
            if found:
                _add(self.why_no_device, found.group()[:300])
        return True

    def last(self) -> str:
        """Return the last line that is not blank, shortened."""
        return clean(self._last).strip()[:500]


def _add(items: List[str], item: str) -> None:
    if item not in items and len(items) < ITEM_LIMIT:
        items.append(item)
