"""The documents' small MNIST network, its weights and one synthetic batch, from fixed seeds.

Only the standard library is used, so that every framework trains on the very same numbers, and the
losses below hold for all of them: a CPU that computes wrongly is noticed too.

Layouts are those of TensorFlow: images are (batch, row, column, channel), kernels (row, column, in, out).
"""

import functools
import random

BATCH = 16
SIDE = 28
CLASSES = 10
LEARNING_RATE = 0.01

# Two 3x3 convolutions without padding and a 2x2 pooling leave 12x12x64 values of a 28x28 image.
POOLED = (SIDE - 4) // 2
SHAPES = (
    ("conv1/kernel", (3, 3, 1, 32)),
    ("conv1/bias", (32,)),
    ("conv2/kernel", (3, 3, 32, 64)),
    ("conv2/bias", (64,)),
    ("dense1/kernel", (POOLED * POOLED * 64, 128)),
    ("dense1/bias", (128,)),
    ("dense2/kernel", (128, CLASSES)),
    ("dense2/bias", (CLASSES,)),
)

# The loss before and after one step of SGD, computed in float64 (tests/probe/test_real.py does it again).
REFERENCE_LOSSES = (2.6105336650562276, 4.384444272906646)


def size(shape):
    """Return how many numbers a tensor of ``shape`` holds."""
    total = 1
    for side in shape:
        total *= side
    return total


@functools.lru_cache(maxsize=None)
def weights():
    """Return ``((name, shape, flat list of floats), ...)``, drawn as He's initialisation does.

    He's bound sqrt(6 / fan in) keeps activations and gradients of order 1 through the layers, which
    makes relative errors mean the same in each of them. Biases start at zero.
    """
    out = []
    draw = random.Random(20210506).random
    for name, shape in SHAPES:
        if len(shape) == 1:
            out.append((name, shape, [0.0] * shape[0]))
            continue
        bound = (6.0 / size(shape[:-1])) ** 0.5
        width = 2 * bound
        out.append((name, shape, [width * draw() - bound for _ in range(size(shape))]))
    return tuple(out)


def batch():
    """Return one batch: pixels in 0..1 as a flat list of shape (BATCH, SIDE, SIDE, 1), and its labels."""
    draw = random.Random(19981101).random
    pixels = [draw() for _ in range(BATCH * SIDE * SIDE)]
    return pixels, [int(draw() * CLASSES) for _ in range(BATCH)]
