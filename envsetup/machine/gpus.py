"""The GPUs of a machine: what the sources say, put together and named."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple, Union

from envsetup.machine.fact import Fact, unknown
from envsetup.machine.host import Unreadable
from envsetup.machine.reading import Sight, side_by_side

# PCI vendors of adapters that only exist in software: Microsoft (Basic Render, Hyper-V), virtio, QEMU (two),
# VMware, VirtualBox, Cirrus (as emulated), and 0 (Wine without a GPU).
_SOFTWARE_VENDORS = {"1414", "1af4", "1234", "1b36", "15ad", "80ee", "1013", "0000"}
_SOFTWARE_NAMES = re.compile(
    r"llvmpipe|softpipe|swrast|lavapipe|swiftshader|microsoft (basic|remote|hyper-v)|remote display"
    r"|mirror driver|indirect display|virtual (display|monitor)|displaylink|citrix|parsec|meta virtual",
    re.IGNORECASE,
)


@dataclasses.dataclass(frozen=True)
class Adapter:
    """One adapter as one source describes it; None for what that source does not say.

    Args:
        vendor_id: PCI vendor, four hex digits.
        device_id: PCI device, four hex digits.
        name: as the driver reports it.
        memory: bytes of its own.
        bus: its PCI address, such as 0000:01:00.0.
        software: the source itself says that it is no hardware.
    """

    vendor_id: str | None = None
    device_id: str | None = None
    name: str | None = None
    memory: int | None = None
    integrated: bool | None = None
    driver: str | None = None
    compute_capability: str | None = None
    gfx: str | None = None
    vendor: str | None = None
    bus: str | None = None
    software: bool = False
    source: str = ""

    @property
    def id(self) -> str | None:
        """``10de:1e04``."""
        return f"{self.vendor_id}:{self.device_id}" if self.vendor_id and self.device_id else None

    @property
    def is_software(self) -> bool:
        """Whether it computes on the CPU, or only sends pictures elsewhere."""
        return (
            self.software
            or self.vendor_id in _SOFTWARE_VENDORS
            or bool(self.name and _SOFTWARE_NAMES.search(self.name))
        )

    def filled(self, other: Adapter) -> Adapter:
        """Return this adapter with what only ``other`` says added."""
        gaps = {
            field.name: getattr(other, field.name)
            for field in dataclasses.fields(self)
            if getattr(self, field.name) is None and getattr(other, field.name) is not None
        }
        return dataclasses.replace(self, **gaps, source=f"{self.source}, {other.source}") if gaps else self


def from_native(rows: Any, source: str) -> List[Adapter]:
    """Return the adapters of a native query's answer; rows of another shape are left out."""
    found = []
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and "error" not in row:
            found.append(
                Adapter(
                    vendor_id=hex4(row.get("vendor")),
                    device_id=hex4(row.get("device")),
                    name=_typed(row.get("name"), str),
                    memory=_typed(row.get("memory"), int),
                    integrated=_typed(row.get("integrated"), bool),
                    driver=_typed(row.get("driver"), str),
                    compute_capability=_typed(row.get("compute_capability"), str),
                    bus=_typed(row.get("bus"), str),
                    software=row.get("software") is True,
                    source=source,
                )
            )
    return found


def _typed(value: Any, kind: type) -> Any:
    return value if isinstance(value, kind) else None


def hex4(value: Any) -> str | None:
    """Return a PCI number as four hex digits (Qualcomm's vendor number, "QCOM", has eight)."""
    return f"{value:04x}" if isinstance(value, int) and 0 <= value <= 0xFFFFFFFF else None


def describe(adapter: Adapter) -> Dict[str, Any]:
    """Return the fact's form of an adapter, with what the hardware tables know of it."""
    from envsetup.knowledge import hardware

    known = hardware.find_gpu(adapter.id) if adapter.id else hardware.find_gpu_by_name(adapter.name or "")
    vendor = hardware.vendor_name(adapter.vendor_id) if adapter.vendor_id else adapter.vendor
    vendor = vendor or (known.vendor if known else None) or "other"
    return {
        "vendor": vendor,
        "id": adapter.id,
        "name": adapter.name or (known.name if known else None) or f"{vendor} GPU",
        "architecture": known.architecture if known else None,
        "compute_capability": adapter.compute_capability or (known.compute_capability if known else None),
        "gfx": adapter.gfx or (known.gfx if known else None),
        "memory": adapter.memory or None,
        "integrated": known.integrated if known and known.integrated is not None else adapter.integrated,
        "driver": adapter.driver,
        "source": adapter.source,
    }


# A source: its name, and a function that returns its adapters, None when there is no such source here.
Source = Tuple[str, Callable[[], Union[List[Adapter], None]]]


def settle(sources: Sequence[Source], last_resort: Source | None = None) -> Fact:
    """Return the fact ``gpu``: the first source that answers decides, the others fill gaps and may object.

    Args:
        sources: the most trusted first; they are asked side by side.
        last_resort: asked only when none of them answers.
    """
    answers, failures = ask(sources)
    if not answers and last_resort:
        answers, more_failures = ask([last_resort])
        failures += more_failures
    if not answers:
        return unknown("gpu", "; ".join(failures) or "no source is there")
    (first, found), others = answers[0], answers[1:]
    for _, more in others:
        found = fill(found, more)
    objections = [
        (name, [a.id or a.name for a in more]) for name, more in others if _ids(more) != _ids(found)
    ]
    notes = [(failure, None) for failure in failures]
    return Fact("gpu", [describe(a) for a in found], first, others=(*objections, *notes))


def ask(sources: Sequence[Source]) -> Tuple[List[Tuple[str, List[Adapter]]], List[str]]:
    """Return what the sources answer, without software adapters, and why others could not be read."""
    answers, failures = [], []
    for (name, _), got in zip(sources, side_by_side([read for _, read in sources])):
        if isinstance(got, Exception):
            failures.append(str(got) if isinstance(got, Unreadable) else f"{name}: {got!r}")
        elif got is not None:
            answers.append((name, [adapter for adapter in got if not adapter.is_software]))
    return answers, failures


def _ids(adapters: Sequence[Adapter]) -> List[str]:
    return sorted(adapter.id or adapter.name or "" for adapter in adapters)


def fill(adapters: Sequence[Adapter], more: Sequence[Adapter]) -> List[Adapter]:
    """Return ``adapters`` with what ``more`` adds; the same GPU is known by its address, else by its id."""
    left = list(more)
    out = []
    for adapter in adapters:
        same = [m for m in left if m.bus and m.bus == adapter.bus] or [
            m for m in left if m.id and m.id == adapter.id and not (m.bus and adapter.bus)
        ]
        if same:
            left.remove(same[0])
            adapter = adapter.filled(same[0])
        out.append(adapter)
    return out


def read_gpus(sight: Sight) -> Iterator[Fact]:
    """Read gpu."""
    from envsetup.machine import linux, macos, windows, wsl

    host = sight.host
    if host.system == "windows":
        yield settle(windows.sources(host), ("Win32_VideoController", lambda: windows.wmi(host)))
    elif host.system == "macos":
        yield settle([("system_profiler", lambda: macos.adapters(host))])
    elif host.system == "linux":
        yield wsl.gpus_of(sight) if sight.value("wsl") else linux.read_gpus(host)
    else:
        yield unknown("gpu", "unknown system")
