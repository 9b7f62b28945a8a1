"""The lines that a user's own program needs to use the device."""

from __future__ import annotations

from typing import Dict, Tuple

from envsetup.errors import UsageError

_TORCH = """\
import torch

device = torch.device("{device}")
model = model.to(device)
batch = batch.to(device)
"""

_TORCH_DIRECTML = """\
import torch
import torch_directml

device = torch_directml.device()  # torch_directml.device(1) for the second adapter
model = model.to(device)
batch = batch.to(device)
"""

_TENSORFLOW = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)  # take memory as needed, not all of it
with tf.device("/{device}"):
    ...
"""

_TENSORFLOW_1 = """\
import tensorflow as tf

config = tf.compat.v1.ConfigProto()
config.gpu_options.allow_growth = True  # take memory as needed, not all of it
with tf.device("/device:{device}"):
    ...
session = tf.compat.v1.Session(config=config)
"""

# By the distribution that provides the framework where that matters; "" for the ordinary one.
_SNIPPETS: Dict[Tuple[str, str, str], Tuple[str, str]] = {
    ("torch", "cpu", ""): (_TORCH, "cpu"),
    ("torch", "cuda", ""): (_TORCH, "cuda:0"),
    ("torch", "rocm", ""): (_TORCH, "cuda:0"),
    ("torch", "dml", ""): (_TORCH, "dml"),
    ("torch", "dml", "torch-directml"): (_TORCH_DIRECTML, ""),
    ("tensorflow", "cpu", ""): (_TENSORFLOW, "CPU:0"),
    ("tensorflow", "cuda", ""): (_TENSORFLOW, "GPU:0"),
    ("tensorflow", "rocm", ""): (_TENSORFLOW, "GPU:0"),
    ("tensorflow", "dml", ""): (_TENSORFLOW_1, "DML:0"),
    ("tensorflow", "dml", "tensorflow-directml-plugin"): (_TENSORFLOW, "GPU:0"),
    ("tensorflow1", "cpu", ""): (_TENSORFLOW_1, "CPU:0"),
    ("tensorflow1", "cuda", ""): (_TENSORFLOW_1, "GPU:0"),
}


def snippet(framework: str, backend: str, package: str = "", device: str = "") -> str:
    """Return a few lines of Python: the choice of device and, for TensorFlow, memory growth.

    Args:
        framework: "torch", "tensorflow", or "tensorflow1" for releases before 2.
        backend: "cpu", "cuda", "rocm" or "dml".
        package: the distribution that provides the backend, where there are several:
            "torch-directml", "tensorflow-directml-plugin".
        device: a device id from the probe's report; the backend's first one by default.

    Raises:
        UsageError: nothing is known for this pair.
    """
    found = _SNIPPETS.get((framework, backend, package)) or _SNIPPETS.get((framework, backend, ""))
    if not found:
        raise UsageError(f"No lines are known for {framework} with {backend}")
    template, default = found
    return template.format(device=device or default)
