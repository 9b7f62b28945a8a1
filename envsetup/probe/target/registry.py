"""Which file serves which framework and backend. Adding one is one file and one line here."""

import importlib

FILES = {
    ("torch", "cpu"): "torch_cpu",
    ("torch", "cuda"): "torch_cuda",
    ("torch", "rocm"): "torch_cuda",
    ("torch", "dml"): "torch_dml",
    ("torch", "mps"): "torch_mps",
    ("tensorflow", "cpu"): "tensorflow_cpu",
    ("tensorflow", "cuda"): "tensorflow_gpu",
    ("tensorflow", "rocm"): "tensorflow_gpu",
    ("tensorflow", "dml"): "tensorflow_dml",
    ("tensorflow", "mps"): "tensorflow_gpu",
    ("onnxruntime", "cpu"): "onnxruntime_cpu",
    ("onnxruntime", "cuda"): "onnxruntime_cuda",
    ("onnxruntime", "dml"): "onnxruntime_dml",
    ("onnxruntime", "openvino"): "onnxruntime_openvino",
    ("openvino", "openvino"): "openvino",
    ("plaidml", "cpu"): "plaidml",
    ("plaidml", "opencl"): "plaidml",
    ("tvm", "cpu"): "tvm",
    ("tvm", "cuda"): "tvm",
    ("tvm", "opencl"): "tvm",
    ("tvm", "vulkan"): "tvm",
}


def probe(framework, backend):
    """Return the probe object of a framework and a backend."""
    module = importlib.import_module(__package__ + "." + FILES[framework, backend])
    return module.PROBE(backend)
