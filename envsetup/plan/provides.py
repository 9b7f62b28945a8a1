"""The record that a replaced distribution is provided: metadata only, not one file of the distribution."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path
from typing import Dict

from envsetup.knowledge.stacks import Replacement


def record_files(replacement: Replacement) -> Dict[str, str]:
    """Return the files of the ``.dist-info`` folder, by path below site-packages.

    ``pip check`` and ``uv pip check`` accept it (uv wants the WHEEL file), and
    ``importlib.metadata.version`` answers with the version that the replacement stands for.
    """
    version = f"{replacement.version}+{replacement.local}"
    folder = f"{replacement.name.replace('-', '_')}-{version}.dist-info"
    summary = f"provided by {replacement.by}; this record holds no files of {replacement.name}"
    metadata = f"Metadata-Version: 2.1\nName: {replacement.name}\nVersion: {version}\nSummary: {summary}\n"
    wheel = "Wheel-Version: 1.0\nGenerator: envsetup\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {
        f"{folder}/METADATA": metadata,
        f"{folder}/WHEEL": wheel,
        f"{folder}/INSTALLER": "envsetup\n",
    }
    lines = [f"{path},sha256={_digest(text)},{len(text.encode())}" for path, text in files.items()]
    files[f"{folder}/RECORD"] = "\n".join([*lines, f"{folder}/RECORD,,"]) + "\n"
    return files


def write_record(site_packages: Path, replacement: Replacement) -> str:
    """Write the record below ``site_packages`` and return its folder's name."""
    folder = ""
    for path, text in record_files(replacement).items():
        folder = path.split("/")[0]
        (site_packages / folder).mkdir(exist_ok=True)
        (site_packages / path).write_bytes(text.encode())
    return folder


def stub_wheel(folder: Path, replacement: Replacement) -> Path:
    """Write the record as a wheel into ``folder``, so that a resolver can choose it, and return its path."""
    version = f"{replacement.version}+{replacement.local}"
    path = folder / f"{replacement.name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in record_files(replacement).items():
            if not name.endswith("INSTALLER"):
                wheel.writestr(name, text)
    return path


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
