"""What a shared library's file name says: which library, and which version of CUDA or cuDNN."""

from __future__ import annotations

import re
from typing import Tuple

_NAMES = r"(cudart|cublaslt|cublas|cufft|curand|cusolver|cusparse|cupti|cudnn|nvrtc|nccl)"


def soname(file: str) -> Tuple[str, str]:
    """Return the library and the version in its name; empty when it is none of CUDA's.

    Windows' numbers are the version without the dot (``cudart64_101.dll`` is 10.1); from CUDA 11 on most
    libraries carry only the major version, and cudart of all 11.x is called 110.

    Example:
        >>> soname("cudart64_101.dll"), soname("libcublas.so.10.0"), soname("cudnn64_8.dll")
        (('cudart', '10.1'), ('cublas', '10.0'), ('cudnn', '8'))
    """
    base = re.split(r"[\\/]", file.strip().strip("'\""))[-1].lower()
    windows = re.match(rf"^{_NAMES}(?:_\w{{1,20}}?)?(?:64)?_(\d{{1,3}})\.dll$", base)
    if windows:
        name, digits = windows.groups()
        if len(digits) >= 2 and not (name != "cudart" and len(digits) == 2 and digits.startswith("1")):
            dotted = (
                f"{digits[:-1]}.{digits[-1]}" if not (digits in ("12", "13") and name == "cudart") else digits
            )
            return name, dotted
        return name, digits
    linux = re.match(rf"^lib{_NAMES}(?:_\w{{1,20}})?\.so(?:\.(\d{{1,2}}(?:\.\d{{1,2}})?))?", base)
    if linux:
        return linux.group(1), linux.group(2) or ""
    return "", ""
