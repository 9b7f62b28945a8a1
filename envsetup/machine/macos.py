"""What macOS's own tools say: sysctl and system_profiler."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List

from envsetup.machine import gpus
from envsetup.machine.host import Host, Unreadable

SYSCTL = "/usr/sbin/sysctl"
PROFILER = "/usr/sbin/system_profiler"


def sysctl(host: Host) -> Dict[str, str]:
    """Return the values below hw.optional and machdep.cpu, and whether this process is translated."""
    # A name that this system does not know makes the exit code 1, and the others are printed all the same.
    done = host.run([SYSCTL, "hw.optional", "machdep.cpu", "sysctl.proc_translated"], timeout=5)
    return dict(re.findall(r"^([\w.]+): (.*)$", done.out, re.MULTILINE)) if done else {}


def adapters(host: Host) -> List[gpus.Adapter]:
    """Return the GPUs that system_profiler lists.

    Raises:
        Unreadable: it does not answer.
    """
    done = host.run([PROFILER, "-json", "SPDisplaysDataType"], timeout=15)
    try:
        listed = json.loads(done.out)["SPDisplaysDataType"] if done else None
        rows = [row for row in listed if isinstance(row, dict)] if listed is not None else None
    except (ValueError, KeyError, TypeError, RecursionError):
        rows = None
    if rows is None:
        raise Unreadable(
            f"{PROFILER} " + ("did not answer in time" if done and done.timed_out else "gives no list")
        )
    return [_adapter(row) for row in rows]


def _adapter(row: Dict[str, Any]) -> gpus.Adapter:
    vendor = _hex(row.get("spdisplays_vendor-id"))
    name = row.get("sppci_model") or row.get("_name")
    said = f"{row.get('spdisplays_vendor', '')} {name}".lower()
    if vendor is None:
        known = (("apple", "106b"), ("amd", "1002"), ("ati", "1002"), ("intel", "8086"), ("nvidia", "10de"))
        vendor = next((pci for word, pci in known if word in said), None)
    device = _hex(row.get("spdisplays_device-id"))
    memory = re.match(r"(\d+)\s*(MB|GB)", str(row.get("spdisplays_vram") or ""))
    bus = row.get("sppci_bus")
    return gpus.Adapter(
        vendor_id=vendor,
        device_id=device,
        name=str(name) if name else None,
        memory=int(memory.group(1)) << (20 if memory.group(2) == "MB" else 30) if memory else None,
        integrated=True if bus == "spdisplays_builtin" else None,
        source="system_profiler",
    )


def _hex(value: Any) -> str | None:
    match = re.search(r"0x([0-9a-fA-F]{1,4})\b", str(value or ""))
    return match.group(1).lower().zfill(4) if match else None
