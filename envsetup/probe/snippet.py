"""The lines that a user's own program needs to use the device."""

from __future__ import annotations

from typing import Dict, Tuple

from envsetup.errors import UsageError
from envsetup.probe.target.interface import split

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

_ONNXRUNTIME = """\
import onnxruntime

providers = [("PROVIDER", {{OPTION}}), "CPUExecutionProvider"]
session = onnxruntime.InferenceSession("model.onnx", providers=providers)
assert session.get_providers()[0] == "PROVIDER"  # otherwise it fell back to the CPU
"""

_ONNXRUNTIME_CPU = """\
import onnxruntime

session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
"""

_PRELOAD = """
if hasattr(onnxruntime, "preload_dlls"):
    onnxruntime.preload_dlls()  # CUDA and cuDNN that were installed as packages
"""

_ADD_OPENVINO = """
if os.name == "nt":  # there the libraries are those of the openvino package
    from onnxruntime.tools.add_openvino_win_libs import add_openvino_libs_to_path

    add_openvino_libs_to_path()
"""

_OPENVINO = """\
import openvino

core = openvino.Core()  # before 2023.1: openvino.runtime.Core()
model = core.compile_model("model.onnx", "{device}")
result = model([batch])
"""

_TVM = """\
import tvm
from tvm import relax

device = tvm.device("{kind}", {index})
target = tvm.target.Target.from_device(device)
machine = relax.VirtualMachine(tvm.compile(module, target), device)
"""

_PLAIDML = """\
import os

os.environ["KERAS_BACKEND"] = "plaidml.keras.backend"  # before keras is imported
import plaidml.settings

plaidml.settings.experimental = True
plaidml.settings.device_ids = ["{device}"]
import keras
"""


def _onnxruntime(provider: str, option: str, before: str = "") -> str:
    text = _ONNXRUNTIME.replace("PROVIDER", provider).replace("OPTION", option)
    return text.replace("import onnxruntime\n", "import onnxruntime\n" + before, 1)


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
    ("torch", "mps", ""): (_TORCH, "mps"),
    ("tensorflow", "mps", ""): (_TENSORFLOW, "GPU:0"),
    ("tensorflow1", "cpu", ""): (_TENSORFLOW_1, "CPU:0"),
    ("tensorflow1", "cuda", ""): (_TENSORFLOW_1, "GPU:0"),
    ("tensorflow1", "dml", ""): (_TENSORFLOW_1, "DML:0"),
    ("onnxruntime", "cpu", ""): (_ONNXRUNTIME_CPU, ""),
    ("onnxruntime", "cuda", ""): (
        _onnxruntime("CUDAExecutionProvider", '"device_id": {index}', _PRELOAD),
        "",
    ),
    ("onnxruntime", "dml", ""): (_onnxruntime("DmlExecutionProvider", '"device_id": {index}'), ""),
    ("onnxruntime", "openvino", ""): (
        "import os\n\n"
        + _onnxruntime("OpenVINOExecutionProvider", '"device_type": "{device}"', _ADD_OPENVINO),
        "CPU",
    ),
    ("openvino", "openvino", ""): (_OPENVINO, "CPU"),
    ("plaidml", "cpu", ""): (_PLAIDML, "llvm_cpu.0"),
    ("plaidml", "opencl", ""): (_PLAIDML, "opencl_…"),
    ("tvm", "cpu", ""): (_TVM, "cpu:0"),
    ("tvm", "cuda", ""): (_TVM, "cuda:0"),
    ("tvm", "opencl", ""): (_TVM, "opencl:0"),
    ("tvm", "vulkan", ""): (_TVM, "vulkan:0"),
}


def snippet(framework: str, backend: str, package: str = "", device: str = "") -> str:
    """Return a few lines of Python: the choice of device and, for TensorFlow, memory growth.

    Args:
        framework: "torch", "tensorflow" …, or "tensorflow1" for TensorFlow's releases before 2.
        backend: "cpu", "cuda", "rocm", "dml" …
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
    device = device or default
    kind, index = split(device)
    return template.format(device=device, kind=kind, index=index)
