"""Frameworks that only infer: the network's output takes the place of its trained weights."""

import math

from .interface import Probe, Step


class InferenceProbe(Probe):
    """A subclass has ``infer`` instead of ``train``."""

    trains = False
    # The largest difference of a logit from the CPU's, as a share of the largest. Measured with this
    # network: 2e-6 at most with ONNX Runtime, OpenVINO and TVM in float32, DirectML (in software) 1.2e-6.
    # float16 rounds each number by up to 5e-4, bfloat16 by up to 4e-3.
    tolerance = 1e-4

    def infer(self, device, network):
        """Compute the network's output on ``device``; return ``(flat list of logits, ops, how)``."""
        raise NotImplementedError

    def train(self, device, network):
        """Compute the output and its loss; nothing is trained."""
        output, ops, how = self.infer(device, network)
        return Step((loss(output, network),), {"output": output}, ops, how)


def loss(output, network):
    """Return the mean cross entropy of the batch's logits with its labels."""
    total = 0.0
    for number, label in enumerate(network.batch()[1]):
        row = output[number * network.CLASSES : (number + 1) * network.CLASSES]
        top = max(row)
        total += top + math.log(sum(math.exp(logit - top) for logit in row)) - row[label]
    return total / network.BATCH
