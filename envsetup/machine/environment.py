"""The environment variables that frameworks, drivers and installers obey."""

from __future__ import annotations

import re
from typing import Iterator

from envsetup.machine.fact import Fact
from envsetup.machine.reading import Sight
from envsetup.machine.secrets import HIDDEN

VARIABLES = tuple(
    """
    CUDA_* CUDNN_* HIP_* ROCM_* ROCR_* HSA_* DML_* NVIDIA_* GPU_DEVICE_ORDINAL
    TF_* XLA_* KERAS_BACKEND PYTORCH_* TORCH_* OPENVINO_* INTEL_OPENVINO_DIR
    PATH LD_LIBRARY_PATH LD_PRELOAD DYLD_* PYTHON* CONDA_* VIRTUAL_ENV PIP_* UV_*
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
    WSL_DISTRO_NAME OMP_NUM_THREADS KMP_DUPLICATE_LIB_OK CC CXX LANG LC_ALL
    """.split()  # noqa: SIM905 (one name a line would fill a page)
)
_SECRET = re.compile(r"TOKEN|PASSWORD|SECRET|_KEY$", re.IGNORECASE)  # in a name: the value is not even read


def read_env(sight: Sight) -> Iterator[Fact]:
    """Read env."""
    found = {}
    for name in sight.host.env_names(*VARIABLES):
        value = HIDDEN if _SECRET.search(name) else sight.host.env(name)
        if value is not None:
            found[name] = value
    yield Fact("env", found, "environment")
