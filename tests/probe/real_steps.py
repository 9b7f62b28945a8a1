"""Run by a real TensorFlow 2 without a GPU: two logical CPUs stand in for two devices. Prints JSON."""

import importlib
import json
import sys

sys.path.insert(0, sys.argv[1])
eager = importlib.import_module("envsetup.probe.target.tensorflow_eager")
network = importlib.import_module("envsetup.probe.target.network")

import tensorflow as tf  # noqa: E402

experimental = tf.config.experimental
cpu = experimental.list_physical_devices("CPU")[0]
logical = [experimental.VirtualDeviceConfiguration() for _ in range(2)]
experimental.set_virtual_device_configuration(cpu, logical)

second = eager.step_eagerly(tf, "CPU:1", network)
absent = eager.step_eagerly(tf, "GPU:0", network)  # TensorFlow moves it to the CPU and says nothing
mirrored = eager.train_mirrored(tf, ["CPU:0", "CPU:1"])
print(json.dumps({"second": second, "absent": absent._replace(weights={}), "mirrored": mirrored}))
