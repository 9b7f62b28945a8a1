"""The names of facts and what their values mean; the keys of ``--assume`` are among them."""

from __future__ import annotations

from typing import Dict

NAMES: Dict[str, str] = {
    "os": '"linux", "windows" or "macos"; WSL is Linux',
    "os-version": 'text such as "Debian 12", "Windows 10 19045", "macOS 14.5"',
    "distro": "Linux: the distribution's ID, such as debian, ubuntu, fedora, arch",
    "windows-build": "Windows' build number; in WSL, the host's",
    "wsl": "0 (not WSL), 1 or 2",
    "dxg": "WSL: whether /dev/dxg and its libraries are there",
    "kernel": "the kernel's release",
    "arch": "the machine's own architecture: x86_64, aarch64, x86 …; an interpreter may have another",
    "libc": '"glibc" or "musl"; null outside Linux',
    "glibc": "glibc's version; null where there is none",
    "musl": "musl's version; null where there is none",
    "cpu": '{"model": text, "flags": those of avx, avx2 and fma that the processor and the system offer}',
    "gpu": "list, in adapter order: vendor, id (PCI), name, architecture, compute_capability, gfx, memory "
    "(bytes), integrated, driver, source",
    "driver.nvidia": "NVIDIA's number, such as 440.33 (on Windows and in WSL: Windows'); null: no driver",
    "cuda": 'list of toolkits: {"version", "path", "source"}, in the order in which they are found first',
    "cuda.driver": "the newest CUDA that the driver supports",
    "cudnn": 'list: {"version", "path", "source"}, in the order in which they are found first',
    "directx": '{"level": "12" or null, "why": text}: derived from build, GPU and driver',
    "rocm": "ROCm's version, or null",
    "python": 'list of interpreters: {"version", "path", "bits", "arch", "emulated", "implementation", '
    '"store", "source"}',
    "disk": '{"path": text, "free": bytes}',
    "pip": "pip's settings from its files and PIP_* variables: index_url, extra_index_url, find_links, cert, "
    "proxy, constraint, trusted_host, no_index, sources, problems",
    "env": "the environment variables that matter to frameworks, drivers and installers",
}
