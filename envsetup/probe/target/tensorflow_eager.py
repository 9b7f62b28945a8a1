"""One training step of TensorFlow 2, operation by operation, and one of MirroredStrategy."""

import os

from .interface import Step


def step_eagerly(tf, device, network):
    """Do one step of SGD on ``device``; every tensor is asked where it really lies."""
    ops = []

    def seen(op, tensor):
        ops.append((op, tensor.backing_device))
        return tensor

    with tf.device("/" + device):
        variables = []
        for name, shape, values in network.weights():
            variables.append((name, tf.Variable(tf.reshape(tf.constant(values, tf.float32), shape))))
        pixels, labels = network.batch()
        images = tf.reshape(tf.constant(pixels, tf.float32), (network.BATCH, network.SIDE, network.SIDE, 1))
        labels = tf.constant(labels, tf.int32)

        def forward():
            conv1, bias1, conv2, bias2, dense1, bias3, dense2, bias4 = [v for _, v in variables]
            x = tf.nn.conv2d(images, conv1, strides=1, padding="VALID")
            x = tf.nn.relu(tf.nn.bias_add(seen("Conv2D", x), bias1))
            x = tf.nn.conv2d(x, conv2, strides=1, padding="VALID")
            x = tf.nn.relu(tf.nn.bias_add(seen("Conv2D", x), bias2))
            x = seen("MaxPool", tf.nn.max_pool2d(x, ksize=2, strides=2, padding="VALID"))
            x = tf.reshape(x, (network.BATCH, -1))
            x = tf.nn.relu(tf.nn.bias_add(seen("MatMul", tf.matmul(x, dense1)), bias3))
            x = tf.nn.bias_add(seen("MatMul", tf.matmul(x, dense2)), bias4)
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)
            return tf.reduce_mean(seen("SparseSoftmaxCrossEntropyWithLogits", loss))

        with tf.GradientTape() as tape:
            before = forward()
        gradients = tape.gradient(before, [v for _, v in variables])
        for (name, variable), gradient in zip(variables, gradients):
            kind = "Conv2D" if name.startswith("conv") else "MatMul"
            seen("%s gradient (%s)" % (kind, name), gradient)
            variable.assign_sub(network.LEARNING_RATE * gradient)
        after = forward()
    weights = {name: variable.numpy().ravel().tolist() for name, variable in variables}
    losses = (float(before.numpy()), float(after.numpy()))
    return Step(losses, weights, ops, "the device that holds each tensor, and TensorFlow's placement log")


def train_mirrored(tf, devices):
    """Take one gradient step of a shared variable on all devices at once and check the sum.

    Returns:
        ``{name, devices, replicas, ok}``.
    """
    # TensorFlow for Windows has no NCCL, which MirroredStrategy otherwise uses for GPUs.
    across = tf.distribute.HierarchicalCopyAllReduce() if os.name == "nt" else None
    strategy = tf.distribute.MirroredStrategy(["/" + d for d in devices], cross_device_ops=across)
    with strategy.scope():
        weight = tf.Variable(tf.ones((64, 8)))

    def gradient():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(tf.ones((4, 64)), weight))
        return tape.gradient(loss, weight)

    run = getattr(strategy, "run", None) or strategy.experimental_run_v2  # before 2.2

    @tf.function
    def step():
        return strategy.reduce(tf.distribute.ReduceOp.SUM, run(gradient), axis=None)

    total = step().numpy()
    replicas = strategy.num_replicas_in_sync
    return {
        "name": "MirroredStrategy",
        "devices": list(devices),
        "replicas": replicas,
        "ok": bool((total == 4.0 * replicas).all()),
    }
