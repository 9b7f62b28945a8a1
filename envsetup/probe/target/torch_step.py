"""One training step with PyTorch, the same on every device and from release 1.0 to the current one."""

import importlib

from .interface import Probe, Step


class TorchProbe(Probe):
    """What the PyTorch backends share; a subclass says how a device is named and found."""

    def __init__(self, backend):
        self.backend = backend
        self.torch = None

    def load(self):
        """Import torch."""
        self.torch = importlib.import_module("torch")
        version = getattr(self.torch, "version", None)
        return {
            "name": "torch",
            "version": str(getattr(self.torch, "__version__", "unknown")),
            "cuda": getattr(version, "cuda", None),
            "hip": getattr(version, "hip", None),
        }

    def place(self, device):
        """Return what ``tensor.to`` takes for a device id."""
        return device

    def train(self, device, network):
        """Do one step of SGD; the devices are those of every output and every gradient."""
        torch = self.torch
        functional = torch.nn.functional
        place = self.place(device)
        names, parameters = [], []
        for name, shape, values in network.weights():
            tensor = to_torch_layout(torch.tensor(values).reshape(shape), network)
            names.append(name)
            parameters.append(tensor.to(place).requires_grad_())
        pixels, labels = network.batch()
        images = torch.tensor(pixels).reshape(network.BATCH, 1, network.SIDE, network.SIDE).to(place)
        labels = torch.tensor(labels).to(place)
        ops = []

        def seen(op, tensor):
            ops.append((op, str(tensor.device)))
            return tensor

        def forward():
            conv1, bias1, conv2, bias2, dense1, bias3, dense2, bias4 = parameters
            x = functional.relu(seen("conv2d", functional.conv2d(images, conv1, bias1)))
            x = functional.relu(seen("conv2d", functional.conv2d(x, conv2, bias2)))
            x = seen("max_pool2d", functional.max_pool2d(x, 2)).flatten(1)
            x = functional.relu(seen("linear", functional.linear(x, dense1, bias3)))
            x = seen("linear", functional.linear(x, dense2, bias4))
            return seen("cross_entropy", functional.cross_entropy(x, labels))

        optimizer = torch.optim.SGD(parameters, lr=network.LEARNING_RATE)
        before = forward()
        before.backward()
        for name, parameter in zip(names, parameters):
            kind = "conv2d" if name.startswith("conv") else "linear"
            seen("%s backward (%s)" % (kind, name), parameter.grad)
        optimizer.step()
        with torch.no_grad():
            after = forward()
        weights = {}
        for name, parameter in zip(names, parameters):
            seen("SGD (%s)" % name, parameter)
            tensor = from_torch_layout(parameter.detach().cpu(), network)
            weights[name] = tensor.reshape(-1).tolist()
        losses = (before.item(), after.item())
        return Step(losses, weights, ops, "the device of every output and gradient tensor")


def to_torch_layout(tensor, network):
    """Turn a kernel into PyTorch's layout: (out, in, row, column), and (out, in) for dense layers.

    The first dense layer's inputs follow the image: (row, column, channel) becomes (channel, row, column).
    """
    if tensor.dim() == 4:
        return tensor.permute(3, 2, 0, 1).contiguous()
    if tensor.dim() == 2 and tensor.shape[0] == network.POOLED * network.POOLED * 64:
        side = network.POOLED
        tensor = tensor.reshape(side, side, 64, -1).permute(2, 0, 1, 3).reshape(side * side * 64, -1)
    return tensor.t().contiguous() if tensor.dim() == 2 else tensor


def from_torch_layout(tensor, network):
    """Undo to_torch_layout."""
    if tensor.dim() == 4:
        return tensor.permute(2, 3, 1, 0)
    if tensor.dim() != 2:
        return tensor
    tensor = tensor.t()
    side = network.POOLED
    if tensor.shape[0] == side * side * 64:
        tensor = tensor.reshape(64, side, side, -1).permute(1, 2, 0, 3)
    return tensor
