"""A fake torch for tests of the probe: tensors that only remember values and where they are.

Installed as ``torch`` into a real environment by conftest.py, beside a ``behaviour.json`` that says what
it does wrong. It computes nothing: losses are the known ones, a step of SGD lowers every weight by 0.01.
"""

# Read by Python 3.6 too.
# ruff: noqa: PTH100, PTH118, PTH120, PTH123, RUF012, UP031
import faulthandler
import json
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "behaviour.json")) as file:
    BEHAVIOUR = json.load(file)


def hang():
    while True:
        time.sleep(1)


def on_import():
    what = BEHAVIOUR.get("on_import")
    if what == "hang":
        import subprocess

        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with open(BEHAVIOUR["pids"], "w") as pids:
            pids.write("%d %d" % (os.getpid(), child.pid))
        hang()
    elif what == "signal":
        os.kill(os.getpid(), getattr(signal, BEHAVIOUR["signal"]))
        hang()
    elif what == "crash":
        faulthandler._read_null()
    elif what == "exit":
        os._exit(BEHAVIOUR["code"])
    elif what == "raise":
        raise ImportError(BEHAVIOUR["text"])
    elif what == "flood":
        block = bytes(range(256)) * 4096
        for _ in range(BEHAVIOUR["megabytes"]):
            os.write(1, block)
        os.write(2, b"\nCould not load dynamic library 'libfake.so.1'; dlerror: none\n")
        for _ in range(BEHAVIOUR["megabytes"]):
            os.write(1, block)
        os.write(2, b"\nthe last line\n")
    elif what == "garbage":
        events = json.loads(sys.argv[1])["events"]
        with open(events, "ab") as file:
            file.write(
                b"\xff\x00garbage\n[1, 2]\nnull\n" + b'{"event": "data", "key": "devices", "value": 7}\n'
            )
            file.write(
                b'{"event": "start", "stage": ["x"]}\n{"event": "end", "stage": "train", "seconds": NaN}\n'
            )
            file.write(b"[" * 100000 + b"\n" + b'{"event": "data", "key": "strategy", "value": 1e999}\n')


on_import()
print("fake torch says: \u00e9\u4e2d, fallbacks follow if any")

__version__ = "0.0+fake"


class version:
    cuda = None
    hip = None


class Tensor:
    def __init__(self, values, shape, device="cpu"):
        self.values, self.shape, self.device, self.grad = values, shape, device, None

    def _like(self, values=None, shape=None, device=None):
        return Tensor(values or self.values, shape or self.shape, device or self.device)

    def dim(self):
        return len(self.shape)

    def reshape(self, *shape):
        return self._like(shape=shape[0] if isinstance(shape[0], tuple) else shape)

    def permute(self, *order):
        return self._like(shape=tuple(self.shape[i] for i in order))

    def t(self):
        return self.permute(1, 0)

    def contiguous(self):
        return self

    def flatten(self, _start):
        return self

    def detach(self):
        return self

    def requires_grad_(self):
        return self

    def to(self, place):
        if BEHAVIOUR.get("silent") or place == "cpu":
            return self
        _, _, index = place.partition(":")
        if int(index or 0) >= len(BEHAVIOUR.get("devices", [])):
            hang()  # as pytorch-directml does
        for op in BEHAVIOUR.get("fallbacks", []):
            sys.stderr.write(
                "UserWarning: The operator '%s' is not currently supported on the DML backend and will "
                "fall back to run on the CPU. This may have performance implications.\n" % op
            )
        return self._like(device=place)

    def cpu(self):
        return self._like(device="cpu")

    def tolist(self):
        return self.values

    def item(self):
        return self.values[0]

    def backward(self):
        if BEHAVIOUR.get("backward") == "hang" and self.device != "cpu":
            hang()
        for parameter in optim.SGD.parameters:
            parameter.grad = parameter._like()


def tensor(values):
    return Tensor(values, (len(values),))


def zeros(size):
    return tensor([0.0] * size)


class no_grad:
    def __enter__(self):
        functional.losses = functional.losses[1:]

    def __exit__(self, *error):
        functional.losses = BEHAVIOUR["losses"]


class functional:
    losses = BEHAVIOUR["losses"]

    @staticmethod
    def conv2d(x, kernel, bias):
        return Tensor([0.0], x.shape, x.device)

    @staticmethod
    def relu(x):
        return x

    @staticmethod
    def max_pool2d(x, _size):
        return x

    linear = conv2d

    @staticmethod
    def cross_entropy(x, labels):
        return Tensor([functional.losses[0]], (1,), x.device)


class nn:
    functional = functional


class optim:
    class SGD:
        parameters = []

        def __init__(self, parameters, lr):
            optim.SGD.parameters = parameters

        def step(self):
            for number, parameter in enumerate(self.parameters):
                there = parameter.device != "cpu"
                wrong = BEHAVIOUR.get("wrong") if there and number == 4 else None
                step = {"nan": float("nan"), "value": 0.02}.get(wrong, 0.01)
                if BEHAVIOUR.get("untrained"):
                    step = 0.0
                parameter.values = [value - step for value in parameter.values]


if BEHAVIOUR.get("without_dml_functions"):

    class dml:
        """As in dev211021."""

else:

    class dml:
        @staticmethod
        def is_available():
            if BEHAVIOUR.get("enumerate") == "raise":
                raise RuntimeError("CHECK failed: (adapter->CheckInterfaceSupport()) == (true): ")
            return bool(BEHAVIOUR.get("devices"))

        @staticmethod
        def device_count():
            return len(BEHAVIOUR["devices"])

        @staticmethod
        def device_name(index):
            return BEHAVIOUR["devices"][index]
