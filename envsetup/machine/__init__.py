"""Facts about a machine, read through a Host.

Example:
    >>> machine = read(only=["os", "arch"])
    >>> machine.value("os") in ("linux", "windows", "macos")
    True
"""

from __future__ import annotations

from typing import Dict, Iterable, Tuple

from envsetup.errors import UsageError
from envsetup.machine import (
    cpu,
    cuda,
    cudnn,
    directx,
    environment,
    gpus,
    interpreters,
    libc,
    nvidia,
    pip_config,
    reading,
    rocm,
    system,
    wsl,
)
from envsetup.machine.fact import Fact, Machine, unknown
from envsetup.machine.host import Host, RecordingHost, ReplayHost
from envsetup.machine.names import NAMES
from envsetup.machine.real import RealHost

READERS: Dict[Tuple[str, ...], reading.Reader] = {
    ("gpu",): gpus.read_gpus,
    ("driver.nvidia", "cuda.driver"): nvidia.read_driver,
    ("python",): interpreters.read_pythons,
    ("cpu",): cpu.read_cpu,
    ("windows-build",): system.read_windows_build,
    ("libc", "glibc", "musl"): libc.read_libc,
    ("cuda",): cuda.read_cuda,
    ("cudnn",): cudnn.read_cudnn,
    ("rocm",): rocm.read_rocm,
    ("os", "os-version", "distro", "kernel"): system.read_system,
    ("arch",): system.read_arch,
    ("wsl", "dxg"): wsl.read_wsl,
    ("directx",): directx.read_directx,
    ("disk",): system.read_disk,
    ("pip",): pip_config.read_pip,
    ("env",): environment.read_env,
}


def read(
    host: Host | None = None, only: Iterable[str] | None = None, limit: float = reading.LIMIT
) -> Machine:
    """Read facts, side by side.

    Args:
        host: whom to ask; this machine by default. A :class:`RecordingHost` keeps what it answers.
        only: names of facts; all by default. Only these, and what they are derived from, are read.
        limit: seconds for everything; a fact that has not been found by then is unknown.

    Raises:
        UsageError: ``only`` has a name that is no fact.
    """
    names = list(NAMES) if only is None else list(dict.fromkeys(only))
    for name in names:
        if name not in NAMES:
            raise UsageError(f"There is no fact {name!r}.", f"The facts: {', '.join(NAMES)}")
    asked = host or RealHost()
    # Recording also sees to it that a question of several readers is asked once.
    asked = asked if isinstance(asked, RecordingHost) else RecordingHost(asked)
    return reading.gather(asked, READERS, names, limit)


__all__ = [
    "Fact",
    "Host",
    "Machine",
    "RealHost",
    "RecordingHost",
    "ReplayHost",
    "read",
    "unknown",
]
