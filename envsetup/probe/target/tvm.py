"""Apache TVM (Relax, 0.26 and later): the CPU, and the GPUs that its build has a runtime for."""

import importlib

from .cuda_driver import names
from .hardware import cpu_name
from .inference import InferenceProbe
from .interface import Device, split

_MOST = 64


class PROBE(InferenceProbe):
    """Devices are ``cuda:N``, ``vulkan:N`` and ``opencl:N``, as ``tvm.device`` takes them."""

    def __init__(self, backend):
        self.backend = backend
        self.tvm = self.relax = None

    def load(self):
        """Import TVM; tell what it was built with."""
        self.tvm = tvm = importlib.import_module("tvm")
        self.relax = importlib.import_module("tvm.relax")
        return {"name": "tvm", "version": tvm.__version__, "built_with": self._built_with()}

    def _built_with(self):
        info = dict(self.tvm.support.libinfo())
        return sorted(
            str(key)[len("USE_") :].lower()
            for key, value in info.items()
            if str(key).startswith("USE_") and str(value).upper() not in ("OFF", "NOT-FOUND", "0", "")
        )

    def enumerate(self):
        """Return the devices that exist to TVM's runtime."""
        if self.backend == "cpu":
            return [Device("cpu", cpu_name())], ""
        found = []
        for index in range(_MOST):
            device = self.tvm.device(self.backend, index)
            if not device.exist:
                break
            found.append(Device("%s:%d" % (self.backend, index), str(device.device_name or "")))
        if self.backend not in self._built_with():
            text = "this TVM (%s) is built with %s"
            return [], text % (self.tvm.__version__, ", ".join(self._built_with()))
        return found, "the CUDA driver lists none" if self.backend == "cuda" and not names() else ""

    def infer(self, device, network):
        """Compile the network for the device's target; the virtual machine's calls say where tensors lie."""
        tvm = self.tvm
        kind, index = split(device)
        place = tvm.device(kind, index)
        target = tvm.target.Target("llvm") if kind == "cpu" else tvm.target.Target.from_device(place)
        machine = self.relax.VirtualMachine(tvm.compile(self._module(network), target), place)
        ops = set()

        def seen(_function, name, before, _result, *arguments):
            if before and not str(name).startswith("vm."):
                ops.update((str(name), str(a.device)) for a in arguments if hasattr(a, "device"))

        machine.set_instrument(seen)
        numpy = importlib.import_module("numpy")

        def there(values, shape):
            return tvm.runtime.tensor(numpy.array(values, "float32").reshape(shape), place)

        images = there(network.batch()[0], (network.BATCH, network.SIDE, network.SIDE, 1))
        weights = [there(values, shape) for _, shape, values in network.weights()]
        output = machine["main"](images, *weights)
        how = "where the tensors of each call of TVM's virtual machine lie"
        return output.numpy().ravel().tolist(), sorted(ops), how

    def _module(self, network):
        relax = self.relax
        tensor_type = getattr(relax, "TensorType", None) or relax.TensorStructInfo  # before 0.27
        images = (network.BATCH, network.SIDE, network.SIDE, 1)
        variables = [relax.Var("images", tensor_type(images, "float32"))]
        for name, shape, _ in network.weights():
            variables.append(relax.Var(name.replace("/", "_"), tensor_type(shape, "float32")))
        builder = relax.BlockBuilder()
        with builder.function("main", variables):
            with builder.dataflow():
                output = builder.emit_output(self._output(builder.emit, network.BATCH, *variables))
            builder.emit_func_output(output)
        return builder.get()

    def _output(self, emit, batch, x, conv1, bias1, conv2, bias2, dense1, bias3, dense2, bias4):
        op = self.relax.op
        for kernel, bias in ((conv1, bias1), (conv2, bias2)):
            x = emit(op.nn.conv2d(x, kernel, data_layout="NHWC", kernel_layout="HWIO"))
            x = emit(op.nn.relu(op.add(x, bias)))
        x = emit(op.nn.max_pool2d(x, (2, 2), (2, 2), layout="NHWC"))
        x = emit(op.reshape(x, (batch, -1)))
        x = emit(op.nn.relu(op.add(op.matmul(x, dense1), bias3)))
        return op.add(op.matmul(x, dense2), bias4)
