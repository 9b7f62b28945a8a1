"""PlaidML 0.7 as the backend of Keras 2.2: its CPU device and OpenCL's devices."""

import importlib
import logging
import os
import re

from .interface import Device, Probe, Step
from .reference import Reference


class PROBE(Probe):
    """Devices have PlaidML's names, such as ``llvm_cpu.0``; a process computes on the one that it opens."""

    def __init__(self, backend):
        self.backend = backend
        self.log = Log()
        self.plaidml = self.keras = None

    def load(self):
        """Import PlaidML and Keras with it, with settings of their own instead of the user's files."""
        os.environ["KERAS_BACKEND"] = "plaidml.keras.backend"
        os.environ["KERAS_HOME"] = (
            os.getcwd()
        )  # Keras writes a file there; the probe's own directory is removed
        self.plaidml = plaidml = importlib.import_module("plaidml")
        logger = logging.getLogger("plaidml")
        logger.addHandler(self.log)
        logger.setLevel(logging.DEBUG)
        settings = importlib.import_module("plaidml.settings")
        settings.experimental = True  # most GPUs, and every CPU, are listed as experimental only
        self.keras = importlib.import_module("keras")
        return {"name": "plaidml", "version": plaidml.__version__, "keras": self.keras.__version__}

    def enumerate(self):
        """Return PlaidML's devices of the backend, or why there is none."""
        context = self.plaidml.Context()
        self.plaidml._internal_set_vlog(1)  # so that it says why it has no OpenCL; it then times each kernel
        wanted = "llvm_cpu" if self.backend == "cpu" else self.backend
        usable, others = [
            [
                d
                for d in (Device(decoded(c.id), decoded(c.description)) for c in kind)
                if d.id.startswith(wanted)
            ]
            for kind in self.plaidml.devices(context, limit=64, return_all=True)
        ]
        self.plaidml._internal_set_vlog(0)
        reasons = [line for line in self.log.lines if "Failed to initialize HAL" in line]
        reasons += ["PlaidML has no settings for %s (%s)" % device for device in others]
        return usable, "" if usable else "; ".join(reasons)

    def train(self, device, network):
        """Do one step of SGD in Keras; "cpu" is NumPy, as a process of PlaidML's has one device."""
        if device == "cpu":
            return Reference(network).step()
        importlib.import_module("plaidml.settings").device_ids = [device]
        numpy, keras = importlib.import_module("numpy"), self.keras
        keras.backend.set_image_data_format("channels_last")
        side, layers = network.SIDE, keras.layers
        model = keras.models.Sequential(
            [
                layers.Conv2D(32, 3, activation="relu", input_shape=(side, side, 1)),
                layers.Conv2D(64, 3, activation="relu"),
                layers.MaxPooling2D(2),
                layers.Flatten(),
                layers.Dense(128, activation="relu"),
                layers.Dense(network.CLASSES, activation="softmax"),
            ]
        )
        model.compile(keras.optimizers.SGD(lr=network.LEARNING_RATE), "sparse_categorical_crossentropy")
        model.set_weights([numpy.array(v, "float32").reshape(shape) for _, shape, v in network.weights()])
        pixels, labels = network.batch()
        images = numpy.array(pixels, "float32").reshape((network.BATCH, side, side, 1))
        labels = numpy.array(labels).reshape((network.BATCH, 1))
        losses = float(model.train_on_batch(images, labels)), float(model.test_on_batch(images, labels))
        names = [name for name, _, _ in network.weights()]
        weights = {name: values.ravel().tolist() for name, values in zip(names, model.get_weights())}
        ops = [(op, place) for op in ("conv", "matmul") for place in self.log.opened()]
        return Step(losses, weights, ops, "the devices that PlaidML opened; it runs nothing elsewhere")

    def same_device(self, device, ran_on):
        """Compare PlaidML's names as they are."""
        return device == ran_on


class Log(logging.Handler):
    """Keeps PlaidML's lines."""

    def __init__(self):
        logging.Handler.__init__(self)
        self.lines = []

    def emit(self, record):
        """Keep a line and pass it on."""
        self.lines.append(record.getMessage())

    def opened(self):
        """Return the devices of the lines ``Opening device "llvm_cpu.0"``."""
        return sorted({name for line in self.lines for name in re.findall('Opening device "([^"]*)"', line)})


def decoded(value):
    """Return text that a C library gave as bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
