"""The network as an ONNX model, written byte by byte: the ``onnx`` package has no wheels for many Pythons.

A message of protocol buffers is a row of fields: a number with a wire type, then a varint or a length and
bytes. Field numbers are those of onnx.proto. Opset 9 and IR version 4 are read by every runtime since 2019.
"""

import array
from typing import Any, Dict, Sequence, Tuple

INPUT, OUTPUT = "images", "logits"
OPSET, IR_VERSION = 9, 4
_FLOAT = 1  # TensorProto.DataType
_INTS = 7  # AttributeProto.AttributeType

_NETWORK: Sequence[Tuple[str, Sequence[str], str, Dict[str, Any]]] = (
    ("Conv", ("images", "conv1/kernel", "conv1/bias"), "conv1", {"kernel_shape": (3, 3)}),
    ("Relu", ("conv1",), "relu1", {}),
    ("Conv", ("relu1", "conv2/kernel", "conv2/bias"), "conv2", {"kernel_shape": (3, 3)}),
    ("Relu", ("conv2",), "relu2", {}),
    ("MaxPool", ("relu2",), "pool", {"kernel_shape": (2, 2), "strides": (2, 2)}),
    ("Transpose", ("pool",), "rows", {"perm": (0, 2, 3, 1)}),  # dense1 counts channels last
    ("Flatten", ("rows",), "flat", {}),
    ("Gemm", ("flat", "dense1/kernel", "dense1/bias"), "dense1", {}),
    ("Relu", ("dense1",), "relu3", {}),
    ("Gemm", ("relu3", "dense2/kernel", "dense2/bias"), OUTPUT, {}),
)
NODES = {output: operator for operator, _, output, _ in _NETWORK}


def network_model(network):
    """Return the network with its weights: images (batch, 1, row, column) to logits (batch, classes)."""
    tensors = {name: (shape, values) for name, shape, values in network.weights()}
    for name in ("conv1/kernel", "conv2/kernel"):
        tensors[name] = to_onnx_kernel(*tensors[name])
    nodes = [_node(operator, inputs, output, **lists) for operator, inputs, output, lists in _NETWORK]
    images = _value(INPUT, (network.BATCH, 1, network.SIDE, network.SIDE))
    return _model(nodes, tensors, images, _value(OUTPUT, (network.BATCH, network.CLASSES)))


def tiny_model():
    """Return a model of one Relu, to try whether a device is there."""
    return _model([_node("Relu", (INPUT,), OUTPUT)], {}, _value(INPUT, (1, 4)), _value(OUTPUT, (1, 4)))


def to_onnx_kernel(shape, values):
    """Turn a kernel (row, column, in, out) into ONNX's layout (out, in, row, column)."""
    rows, columns, inputs, outputs = shape
    turned = [
        values[((row * columns + column) * inputs + i) * outputs + o]
        for o in range(outputs)
        for i in range(inputs)
        for row in range(rows)
        for column in range(columns)
    ]
    return (outputs, inputs, rows, columns), turned


def _varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number, value):
    """Return one field: an int as a varint, text and bytes with their length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _fields(number, values):
    return b"".join(_field(number, value) for value in values)


def _node(operator, inputs, output, **lists):
    attributes = [_field(1, k) + _fields(8, v) + _field(20, _INTS) for k, v in sorted(lists.items())]
    name = _field(3, output) + _field(4, operator)
    return _fields(1, inputs) + _field(2, output) + name + _fields(5, attributes)


def _tensor(name, shape, values):
    raw = array.array("f", values)  # little-endian, as all machines are that these frameworks run on
    return _fields(1, shape) + _field(2, _FLOAT) + _field(8, name) + _field(9, raw.tobytes())


def _value(name, shape):
    dimensions = _fields(1, [_field(1, side) for side in shape])
    return _field(1, name) + _field(2, _field(1, _field(1, _FLOAT) + _field(2, dimensions)))


def _model(nodes, tensors, source, result):
    initial = [_tensor(name, *tensor) for name, tensor in tensors.items()]
    graph = _fields(1, nodes) + _field(2, "network") + _fields(5, initial)
    graph += _field(11, source) + _field(12, result)
    return _field(1, IR_VERSION) + _field(7, graph) + _field(8, _field(1, "") + _field(2, OPSET))
