"""One training step of TensorFlow 1: a graph, a session, and the session's own record of what ran where."""

import re

from .interface import Step


def step_in_session(tf, device, network, config):
    """Do one step of SGD on ``device``.

    The step is traced by the executor alone (SOFTWARE_TRACE): a full trace needs NVIDIA's CUPTI, which may
    be missing where training works.
    """
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        with tf.device("/device:" + device):
            names, variables, assigned = [], [], []
            feed = {}
            for name, shape, values in network.weights():
                start = v1.placeholder(tf.float32, (network.size(shape),))
                feed[start] = values
                variable = v1.Variable(tf.zeros(shape), name=name)
                names.append(name)
                variables.append(variable)
                assigned.append(variable.assign(tf.reshape(start, shape)))
            pixels, labels = network.batch()
            images = tf.reshape(tf.constant(pixels), (network.BATCH, network.SIDE, network.SIDE, 1))
            labels = tf.constant(labels, tf.int32)
            conv1, bias1, conv2, bias2, dense1, bias3, dense2, bias4 = variables
            one = [1, 1, 1, 1]
            pool = getattr(tf.nn, "max_pool2d", None) or tf.nn.max_pool  # 1.13
            x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, conv1, one, "VALID"), bias1))
            x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, conv2, one, "VALID"), bias2))
            x = pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
            x = tf.reshape(x, (network.BATCH, -1))
            x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, dense1), bias3))
            x = tf.nn.bias_add(tf.matmul(x, dense2), bias4)
            loss = tf.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x))
            gradients = v1.gradients(loss, variables)
            # All gradients first: an earlier layer's gradient still reads a later layer's weights.
            with tf.control_dependencies([loss, *gradients]):
                updates = [v1.assign_sub(v, network.LEARNING_RATE * g) for v, g in zip(variables, gradients)]
            train = tf.group(*updates)
        with v1.Session(graph=graph, config=config) as session:
            session.run(assigned, feed)
            trace = v1.RunMetadata()
            options = v1.RunOptions(trace_level=v1.RunOptions.SOFTWARE_TRACE)
            before, _ = session.run([loss, train], options=options, run_metadata=trace)
            after, values = session.run([loss, variables])
    weights = {name: value.ravel().tolist() for name, value in zip(names, values)}
    return Step((float(before), float(after)), weights, _ran(graph, trace), "the session's run metadata")


def _ran(graph, trace):
    ours = {op.name for op in graph.get_operations()}
    ops = []
    for device in trace.step_stats.dev_stats:
        for node in device.node_stats:
            # Nodes that the runtime added (sends, receives) are no operations of the network. The label says
            # what ran under a name: "[cpu 1.3MB 1.3MB] Relu = _FusedConv2D(...)" where several were made one.
            label = re.search(r"\S+ = (\w+)\(", node.timeline_label)
            if label and node.node_name in ours and label.group(1) not in ("NoOp", "Const"):
                ops.append((label.group(1), device.device))
    return ops
