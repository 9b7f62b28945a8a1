"""The network and one step of SGD in NumPy's float64: what a framework is compared with that has no CPU."""

import importlib

from .interface import Step

_OPS, _HOW = (("conv", "cpu"), ("matmul", "cpu")), "computed with NumPy"


class Reference:
    """Computed once; NumPy comes with every framework that asks for it."""

    def __init__(self, network):
        self.numpy = numpy = importlib.import_module("numpy")
        self.network = network
        self.weights = {name: numpy.array(values).reshape(shape) for name, shape, values in network.weights()}
        pixels, labels = network.batch()
        self.images = numpy.array(pixels).reshape((network.BATCH, network.SIDE, network.SIDE, 1))
        self.hits = numpy.eye(network.CLASSES)[labels]  # 1 at each image's label

    def infer(self):
        """Return ``(flat list of logits, ops, how)`` like a framework's ``infer``."""
        return self._forward()[-1].ravel().tolist(), _OPS, _HOW

    def step(self):
        """Do one step of SGD; return a Step like a framework's."""
        before = self._loss(self._forward()[-1])
        for name, gradient in self._gradients().items():
            self.weights[name] = self.weights[name] - self.network.LEARNING_RATE * gradient
        after = self._loss(self._forward()[-1])
        weights = {name: values.ravel().tolist() for name, values in self.weights.items()}
        return Step((before, after), weights, _OPS, _HOW)

    def _forward(self):
        """Return the values after each layer: conv1, conv2, pooling, dense1, logits."""
        weights, relu = self.weights, lambda x: self.numpy.maximum(x, 0)
        conv1 = relu(_convolve(self.images, weights["conv1/kernel"]) + weights["conv1/bias"])
        conv2 = relu(_convolve(conv1, weights["conv2/kernel"]) + weights["conv2/bias"])
        pooled = _windows(conv2).max(axis=(2, 4))
        flat = pooled.reshape((len(pooled), -1))
        dense1 = relu(flat @ weights["dense1/kernel"] + weights["dense1/bias"])
        return conv1, conv2, pooled, flat, dense1, dense1 @ weights["dense2/kernel"] + weights["dense2/bias"]

    def _loss(self, logits):
        numpy = self.numpy
        shifted = logits - logits.max(axis=1, keepdims=True)
        each = numpy.log(numpy.exp(shifted).sum(axis=1)) - (shifted * self.hits).sum(axis=1)
        return float(each.mean())

    def _gradients(self):
        numpy, weights = self.numpy, self.weights
        conv1, conv2, pooled, flat, dense1, logits = self._forward()
        out = {}
        odds = numpy.exp(logits - logits.max(axis=1, keepdims=True))
        slope = (odds / odds.sum(axis=1, keepdims=True) - self.hits) / len(logits)
        out["dense2/kernel"], out["dense2/bias"] = dense1.T @ slope, slope.sum(axis=0)
        slope = (slope @ weights["dense2/kernel"].T) * (dense1 > 0)
        out["dense1/kernel"], out["dense1/bias"] = flat.T @ slope, slope.sum(axis=0)
        slope = (slope @ weights["dense1/kernel"].T).reshape(pooled.shape)
        # Each pooled value's slope goes to the largest of its window.
        largest = _windows(conv2) == pooled[:, :, None, :, None, :]
        slope = (largest * slope[:, :, None, :, None, :]).reshape(conv2.shape) * (conv2 > 0)
        out["conv2/kernel"], out["conv2/bias"] = _kernel_slope(numpy, conv1, slope), slope.sum(axis=(0, 1, 2))
        slope = _input_slope(numpy, slope, weights["conv2/kernel"]) * (conv1 > 0)
        out["conv1/kernel"] = _kernel_slope(numpy, self.images, slope)
        out["conv1/bias"] = slope.sum(axis=(0, 1, 2))
        return out


def _shifts(image):
    """Return ``((row, column), part)`` for the places of a 3x3 kernel."""
    height, width = image.shape[1] - 2, image.shape[2] - 2
    return [((r, c), image[:, r : r + height, c : c + width]) for r in range(3) for c in range(3)]


def _convolve(image, kernel):
    return sum(part @ kernel[place] for place, part in _shifts(image))


def _kernel_slope(numpy, image, slope):
    out = numpy.zeros((3, 3, image.shape[3], slope.shape[3]))
    flat = slope.reshape((-1, slope.shape[3]))
    for place, part in _shifts(image):
        out[place] = part.reshape((-1, image.shape[3])).T @ flat
    return out


def _input_slope(numpy, slope, kernel):
    batch, height, width, _ = slope.shape
    out = numpy.zeros((batch, height + 2, width + 2, kernel.shape[2]))
    for place, part in _shifts(out):
        part += slope @ kernel[place].T
    return out


def _windows(values):
    """Return a view with the 2x2 windows as axes 2 and 4."""
    batch, height, width, channels = values.shape
    return values.reshape((batch, height // 2, 2, width // 2, 2, channels))
