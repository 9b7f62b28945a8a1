"""Make small real wheels: valid for every installer, and the same bytes for the same arguments."""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from pathlib import Path
from typing import Mapping, Sequence, Tuple, Union

EPOCH = (2020, 1, 1, 0, 0, 0)


def tiny_wheel(
    folder: Path,
    name: str,
    version: str,
    *,
    requires: Sequence[str] = (),
    files: Mapping[str, Union[str, bytes]] | None = None,
    python: str = ">=3.6",
    tag: str = "py3-none-any",
    scripts: Mapping[str, str] | None = None,
) -> Path:
    """Write a wheel into ``folder`` and return its path.

    Args:
        folder: made if it isn't there.
        name: the distribution's name, such as ``pytorch-directml``.
        version: its version.
        requires: requirements of ``Requires-Dist``.
        files: what it installs, by path within site-packages; a module of the distribution's name by default.
        python: ``Requires-Python``.
        tag: Python, ABI and platform tag of the file name.
        scripts: console scripts, ``{"hello": "hello:main"}``.
    """
    module = re.sub(r"[-_.]+", "_", name)
    stem = f"{module}-{version}"
    if files is None:
        files = {f"{module}/__init__.py": f"__version__ = {version!r}\n"}
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Requires-Python: {python}"]
    metadata += [f"Requires-Dist: {requirement}" for requirement in requires]
    pure = "true" if tag.endswith("-none-any") else "false"
    contents = dict(files)
    info = f"{stem}.dist-info"
    contents[f"{info}/METADATA"] = "\n".join(metadata) + "\n"
    contents[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"
    if scripts:
        lines = [f"{script} = {target}" for script, target in sorted(scripts.items())]
        contents[f"{info}/entry_points.txt"] = "[console_scripts]\n" + "\n".join(lines) + "\n"
    record = [_record(path, _bytes(content)) for path, content in sorted(contents.items())]
    contents[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]) + "\n"

    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(contents.items()):
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, _bytes(content), zipfile.ZIP_DEFLATED)
    return wheel


def name_and_version(wheel: str) -> Tuple[str, str]:
    """Return the normalised name and the version that a wheel's file name states."""
    name, version = wheel.split("-")[:2]
    return re.sub(r"[-_.]+", "-", name).lower(), version


def _bytes(content: Union[str, bytes]) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _record(path: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(content)}"
