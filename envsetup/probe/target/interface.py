"""What a framework's file has to provide."""

import collections
from typing import Tuple

Device = collections.namedtuple("Device", "id name")
Device.__doc__ = (
    """An adapter: the ``id`` that programs use (``dml:0``, ``cuda:0``, ``GPU:0``) and its name."""
)

Step = collections.namedtuple("Step", "losses weights ops how")
Step.__doc__ = """One training step.

``losses``: before and after the step. ``weights``: {name: flat list of floats} after it, in the layouts
of network.py. ``ops``: [(operation, device it ran on)]. ``how``: where ``ops`` was read.
"""


class Probe:
    """One framework with one backend.

    A subclass sets ``tolerance`` when its backend computes in less than float32.
    """

    # The largest difference of a weight's update from the CPU's, as a share of the largest update in
    # that tensor. Measured with this network: float32 is 2e-5 off float64, DirectML (in software) 3e-5
    # off the CPU. Noise of 1e-4 in every layer gives 1.2e-2, since a value near zero or as large as its
    # neighbour in pooling then sends its gradient elsewhere; TensorFloat-32 gives 1.4e-2, bfloat16 1e-1,
    # a wrong or missing gradient about 1.
    tolerance = 2e-2
    # Losses are means over a batch and know no such switches: TensorFloat-32 gives 2e-4, bfloat16 2e-2.
    loss_tolerance = 1e-3
    # What only infers (inference.py) is judged by its output, and has one loss.
    trains = True

    def load(self):
        """Import the framework; return {"name": ..., "version": ...} and whatever else tells builds apart."""
        raise NotImplementedError

    def enumerate(self):
        """Return ``([Device], reason)``; the reason is why there is none, or "" when only the log knows."""
        raise NotImplementedError

    def train(self, device, network):
        """Do one training step on ``device`` (an id from ``enumerate``, or "cpu"); return a Step."""
        raise NotImplementedError

    def same_device(self, device, ran_on):
        """Tell whether the device text ``ran_on`` of an operation is ``device``."""
        kind, index = split(device)
        ran_kind, ran_index = split(ran_on)
        return (kind, index) == (ran_kind, ran_index)

    def details(self):
        """Return a dict of further facts for the report, read after training."""
        return {}

    def distribute(self, devices):
        """Train over several devices at once; return a dict for the report, None if it is not supported."""
        return None


def short(device):
    """Return ``GPU:1`` of ``/job:localhost/replica:0/task:0/device:GPU:1``, and other names as they are."""
    return str(device).rsplit("/device:", 1)[-1]


def split(device: object) -> Tuple[str, int]:
    """Return ``("gpu", 1)`` of ``GPU:1`` or ``/job:localhost/replica:0/task:0/device:GPU:1``.

    A device without an index is the first one.
    """
    text = short(device).lower()
    kind, _, index = text.partition(":")
    return kind, int(index) if index.isdigit() else 0
