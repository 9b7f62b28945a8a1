"""What TensorFlow 1 and 2 share: import, devices, memory growth, and which way the step is done."""

import importlib
import os
import re

from .interface import Device, Probe, split
from .tensorflow_eager import step_eagerly, train_mirrored
from .tensorflow_graph import step_in_session


class TensorFlowProbe(Probe):
    """TensorFlow 1.13 to the current release; ``kind`` is the device type that the backend goes by."""

    kind = "GPU"

    def __init__(self, backend):
        self.backend = backend
        self.tf = None
        self.names = {}
        self.growth = {}

    @property
    def eager(self):
        """Whether this is TensorFlow 2."""
        return int(self.tf.__version__.split(".")[0]) >= 2

    def load(self):
        """Import tensorflow, and Keras, which is a package of its own that may be broken on its own."""
        self.tf = tf = importlib.import_module("tensorflow")
        tf.keras.layers.Dense  # noqa: B018 - loads Keras where that is done lazily
        if self.eager and self.backend != "cpu":
            tf.debugging.set_log_device_placement(True)  # the parent reads that log
        return {"name": "tensorflow", "version": tf.__version__, "build": self._build_info()}

    def _build_info(self):
        # From 2.3 on the wheel itself says which CUDA, cuDNN and compute capabilities it was built for.
        try:
            info = self.tf.sysconfig.get_build_info()
        except (AttributeError, ImportError):
            return {}
        return {str(k): [str(x) for x in v] if isinstance(v, list) else str(v) for k, v in info.items()}

    def enumerate(self):
        """Return the devices of ``kind`` that TensorFlow can really use, with growing memory."""
        devices = self._enumerate_2() if self.eager else self._enumerate_1()
        built_for_gpu = getattr(self.tf.test, "is_built_with_gpu_support", self.tf.test.is_built_with_cuda)
        if not devices and self.backend in ("cuda", "rocm") and not built_for_gpu():
            return [], "this TensorFlow (%s) is built for the CPU only" % self.tf.__version__
        return devices, ""

    def _enumerate_2(self):
        config = self.tf.config
        if not hasattr(config, "list_physical_devices"):  # 2.0
            config = config.experimental
        experimental = self.tf.config.experimental
        physical = config.list_physical_devices(self.kind)
        for device in physical:
            experimental.set_memory_growth(device, True)
        # Only the logical devices have passed TensorFlow's own checks, such as the compute capability.
        logical = config.list_logical_devices(self.kind)
        names = self._names()
        devices = []
        for number, device in enumerate(logical):
            device_id = "%s:%d" % (self.kind, split(device.name)[1])
            devices.append(Device(device_id, names.get(device_id, "")))
            growing = experimental.get_memory_growth(physical[number])
            self.growth[device_id] = bool(growing) and not growth_forbidden()
        return devices

    def _enumerate_1(self):
        names = self._names()
        devices = [Device(device_id, name) for device_id, name in sorted(names.items())]
        devices = [device for device in devices if split(device.id)[0] == self.kind.lower()]
        self.growth = {device.id: not growth_forbidden() for device in devices}
        return devices

    def _names(self):
        """Return ``{"GPU:0": "GeForce GTX 1080"}``; the names are in a text that is meant for logs."""
        client = importlib.import_module("tensorflow.python.client.device_lib")
        devices = client.list_local_devices(session_config=self.session_config())
        found = {}
        for device in devices:
            kind, index = device.device_type, split(device.name)[1]
            # CUDA: "device: 0, name: GeForce GTX 1080, …"; DirectML: {"name": "Radeon …", …}
            name = re.search(r'\bname"?: "?([^,"]*)', device.physical_device_desc)
            found["%s:%d" % (kind, index)] = name.group(1).strip() if name else device.physical_device_desc
        self.names = found
        return found

    def session_config(self):
        """Return a session's configuration with growing memory and the placement in the log."""
        proto = self.tf.compat.v1.ConfigProto(log_device_placement=self.backend != "cpu")
        proto.gpu_options.allow_growth = True
        return proto

    def train(self, device, network):
        """Do one training step, eagerly in TensorFlow 2, in a session in TensorFlow 1."""
        place = "CPU:0" if device == "cpu" else device
        if self.eager:
            return step_eagerly(self.tf, place, network)
        return step_in_session(self.tf, place, network, self.session_config())

    def details(self):
        """Return the visible devices, memory growth, and how much memory was taken."""
        out = {"memory_growth": {"asked": True, "honoured": self.growth}} if self.growth else {}
        if not self.eager:
            out["visible_devices"] = sorted(self.names)
            return out
        visible = getattr(self.tf.config, "get_visible_devices", None)
        if visible:
            out["visible_devices"] = [device.name.replace("/physical_device:", "") for device in visible()]
        usage = getattr(self.tf.config.experimental, "get_memory_info", None)  # 2.5
        if usage:
            out["memory_used"] = {device: int(usage(device)["peak"]) for device in self.growth}
        return out

    def distribute(self, devices):
        """Train with MirroredStrategy over all devices (TensorFlow 2)."""
        return train_mirrored(self.tf, devices) if self.eager else None


def growth_forbidden():
    """Tell whether the environment overrides a program's wish for growing memory, as TensorFlow reads it."""
    return os.environ.get("TF_FORCE_GPU_ALLOW_GROWTH", "").lower() in ("false", "0")
