"""The rules: one idea a file. Each looks at a case and yields candidates; none knows of another."""

from __future__ import annotations

from typing import Callable, Iterator, Tuple

from envsetup.diagnose.case import Case
from envsetup.diagnose.finding import Candidate
from envsetup.diagnose.rules import (
    adapters,
    avx,
    benign,
    c_library,
    capability,
    ceilings,
    clobber,
    conda,
    cuda_toolkit,
    cudnn,
    directml_linux,
    driver,
    hidden_gpu,
    index,
    interpreter,
    memory,
    pins,
    processor_arch,
    python_build,
    python_version,
    retired,
    rocm,
    tf_plugin,
    tf_windows,
    torch_build,
    vision,
    windows_build,
    windows_files,
    words,
    wsl,
)

Rule = Callable[[Case], Iterator[Candidate]]

RULES: Tuple[Rule, ...] = tuple(
    module.evaluate
    for module in (
        python_version,
        python_build,
        interpreter,
        processor_arch,
        avx,
        c_library,
        windows_files,
        windows_build,
        directml_linux,
        adapters,
        wsl,
        driver,
        capability,
        cuda_toolkit,
        cudnn,
        hidden_gpu,
        memory,
        tf_windows,
        tf_plugin,
        clobber,
        torch_build,
        vision,
        pins,
        retired,
        ceilings,
        index,
        conda,
        rocm,
        benign,
        words,
    )
)
