"""Which stack an environment is: the receipt says it, or else what is installed."""

from __future__ import annotations

import dataclasses
import re
from typing import Tuple

from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.installed import Distribution
from envsetup.knowledge.stacks import Row, stacks

# The import packages that an environment is about, by distribution.
IMPORTS = {
    "torch": "torch",
    "pytorch-directml": "torch",
    "torchvision": "torchvision",
    "tensorflow": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "tensorflow-intel": "tensorflow",
    "tensorflow-directml": "tensorflow",
    "tensorflow-rocm": "tensorflow",
    "onnxruntime": "onnxruntime",
    "onnxruntime-gpu": "onnxruntime",
    "onnxruntime-directml": "onnxruntime",
    "onnxruntime-openvino": "onnxruntime",
    "openvino": "openvino",
    "apache-tvm": "tvm",
    "plaidml": "plaidml",
    "jax": "jax",
    "jaxlib": "jaxlib",
    "numpy": "numpy",
}
# What each distribution computes on, where its name says so. The first that is installed counts.
_BACKENDS = (
    ("pytorch-directml", "torch", "dml"),
    ("torch-directml", "torch", "dml"),
    ("tensorflow-directml", "tensorflow", "dml"),
    ("tensorflow-directml-plugin", "tensorflow", "dml"),
    ("tensorflow-rocm", "tensorflow", "rocm"),
    ("tensorflow-gpu", "tensorflow", "cuda"),
    ("tensorflow-cpu", "tensorflow", "cpu"),
    ("torch", "torch", ""),
    ("tensorflow", "tensorflow", ""),
    ("tensorflow-intel", "tensorflow", "cpu"),
    ("onnxruntime-directml", "onnxruntime", "dml"),
    ("onnxruntime-gpu", "onnxruntime", "cuda"),
    ("onnxruntime-openvino", "onnxruntime", "openvino"),
    ("onnxruntime", "onnxruntime", "cpu"),
    ("openvino", "openvino", "openvino"),
    ("apache-tvm", "tvm", "cpu"),
    ("plaidml", "plaidml", "opencl"),
)
_BUILD_FILE = {"torch": "torch/version.py", "tensorflow": "tensorflow/python/platform/build_info.py"}
_BUILD_LIMIT = 1 << 16


@dataclasses.dataclass(frozen=True)
class Kind:
    """What an environment is.

    Args:
        name: ``family==version`` of a known stack, or the main distribution with its version.
        framework: ``torch``, ``tensorflow`` …
        backend: what it is meant to compute on.
        how: ``receipt`` or ``distributions``.
        row: the known stack, if it is one.
    """

    name: str
    framework: str
    backend: str
    how: str
    row: Row | None = None


def recognise(context: Context) -> Kind | None:
    """Return what the environment is; None when nothing in it is known."""
    target = context.target
    if target is None:
        return None
    if target.receipt is not None:
        data = target.receipt.data
        name, framework, backend = (str(data.get(key, "")) for key in ("stack", "framework", "backend"))
        return Kind(name, framework, backend, "receipt", _row(context, name))
    packages = context.packages
    for distribution, framework, backend in _BACKENDS:
        found = packages.get(distribution)
        if found is not None:
            row = _row(context, f"{distribution}=={found.version}")
            return Kind(
                f"{found.name}=={found.version}",
                framework,
                row.backend if row else backend or _built_for(context, found),
                "distributions",
                row,
            )
    return None


def imports(context: Context) -> Tuple[str, ...]:
    """Return the import packages that fail to import when a library of theirs can't be loaded.

    torchvision is not among them: it goes on without its own library, which in the wheel that belongs to
    pytorch-directml asks for CUDA's part of torch.
    """
    return tuple(
        sorted({IMPORTS[name] for name in context.packages if name in IMPORTS and name != "torchvision"})
    )


def _row(context: Context, name: str) -> Row | None:
    rows = [row for stack in stacks() for row in stack.rows if row.name == name]
    fitting = [row for row in rows if context.machine.system in row.systems]
    return next(iter(fitting or rows), None)


def _built_for(context: Context, found: Distribution) -> str:
    """Return the backend of a build whose name says nothing: what it can do and the machine has.

    The builds on PyPI have CUDA code; that alone is no sign that anybody wants a GPU.
    """
    try:
        with (found.folder / _BUILD_FILE[found.name]).open("rb") as file:
            text = file.read(_BUILD_LIMIT).decode("utf-8", "replace")
    except (KeyError, OSError):
        return "cpu"
    vendors = {gpu.get("vendor") for gpu in context.machine.value("gpu") or ()}
    if re.search(r"^hip\b[^=]*=\s*['\"]", text, re.MULTILINE) and "amd" in vendors:
        return "rocm"
    cuda = re.search(r"^cuda\b[^=]*=\s*['\"]|['\"]?is_cuda_build['\"]?\s*[:=]\s*True", text, re.MULTILINE)
    return "cuda" if cuda and "nvidia" in vendors else "cpu"
