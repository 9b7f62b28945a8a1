"""Which CUDA a case's build needs: from its label, its release, or the libraries that it looks for."""

from __future__ import annotations

import re
from typing import Tuple

from packaging.version import Version

from envsetup.diagnose.case import Case
from envsetup.diagnose.releases import cuda_of, minor
from envsetup.diagnose.rules.library_names import soname

_ROW = Tuple[str, str]


def cuda_needed(case: Case) -> _ROW:
    """Return the CUDA version that the installed build needs and what says so; empty when unknown."""
    for seen in case.seen("said-built-cuda"):
        if re.match(r"\d", seen.get("cuda")):
            return seen.get("cuda"), seen.shown
    torch = case.torch
    if torch and cuda_of(torch.local):
        return cuda_of(torch.local), case.shown(torch)
    tf_build = case.tensorflow
    if tf_build:
        local = re.search(r"cuda\s?(\d{2,3})", tf_build.text)
        if local:
            return cuda_of(f"cu{local.group(1)}"), case.shown(tf_build)
    for label in case.index_labels:
        if cuda_of(label):
            return cuda_of(label), f"index {label}"
    for seen in case.seen("missing-library"):
        name, version = soname(seen.get("file"))
        if name == "cudart" and version and "." in version:
            return version, seen.shown
    if tf_build and tf_build.version and tf_build.exact:
        row = case.tables.tensorflow_release(tf_build.version)
        if row and tf_build.local != "cpu" and not _cpu_name(tf_build.name):
            return row.cuda, case.shown(tf_build)
    if torch and torch.version and torch.exact and torch.local == "" and case.system in ("linux", "wsl"):
        torch_row = case.tables.torch_release(torch.version)
        if torch_row and case.package("pytorch") is None:
            return cuda_of(torch_row.default), case.shown(torch)
    return "", ""


def _cpu_name(name: str) -> bool:
    return name in ("tensorflow-cpu", "tensorflow-intel")


def tensorflow_cuda(case: Case) -> Tuple[str, Version | None]:
    """Return the CUDA that the TensorFlow in question wants by the table, and its release."""
    found = case.tensorflow
    if not found or not found.version:
        return "", None
    row = case.tables.tensorflow_release(found.version)
    return (row.cuda if row else ""), Version(minor(found.version))


def capabilities(case: Case) -> Tuple[Tuple[str, ...], str]:
    """Return the compute capabilities that the torch build has code for, and what says so."""
    for seen in case.seen("torch-arch-list"):
        found = tuple(f"{sm[:-1]}.{sm[-1]}" for sm in re.findall(r"sm_(\d{2,3})", seen.get("list")))
        if found:
            return found, seen.shown
    torch = case.torch
    row = case.tables.torch_release(torch.version) if torch and torch.version and torch.exact else None
    if torch is None or row is None:
        label = next((lb for lb in case.index_labels if cuda_of(lb)), "")
        for release in case.tables.torch:
            if label in release.capability:
                return release.capability[label], f"index {label}"
        return (), ""
    label = torch.local or (row.default if case.system in ("linux", "wsl", "") else "")
    return row.capability.get(label, ()), case.shown(torch)
