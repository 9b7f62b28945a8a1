"""The verdicts, in plain Python floats, so that no framework judges itself."""

import math
import operator
import re
from typing import Iterable

from . import network
from .events import Failure
from .interface import short, split

# What has to run on the device for it to be worth having. A fork may leave some small operation to the
# CPU and still be fast; without these it is a CPU environment under another name.
_HEAVY = re.compile(r"conv|matmul|linear|addmm|\bb?mm\b|gemm", re.IGNORECASE)


def strayed(operations: Iterable[str]) -> str:
    """Return those of the operations, which ran elsewhere, that make it a failure, as text; "" if none does.

    What an operation's name has in parentheses is a tensor's name, and tells nothing of its weight.
    """
    heavy = [op for op in operations if _HEAVY.search(op.split(" (")[0])]
    more = " and %d more" % (len(heavy) - 3) if len(heavy) > 3 else ""
    return ", ".join(heavy[:3]) + more


def choose(devices, wanted, backend):
    """Return the id of the device to train on: "cpu" when there is none, to prove that the rest works.

    Raises:
        Failure: the wanted device is not there. The list is in the text, and nothing was tried on it:
            ``to("dml:1")`` with one adapter never returns.
    """
    if not devices:
        return "cpu"
    if wanted is None:
        return devices[0].id
    kind, index = ("gpu", int(wanted)) if wanted.isdigit() else split(wanted)
    kinds = {split(d.id)[0] for d in devices} | {backend, "gpu"}
    for number, device in enumerate(devices):
        if ":" in device.id:
            found = kind in kinds and split(device.id)[1] == index
        else:  # a name of its own, such as OpenVINO's CPU and GPU.1: no other word may stand for it
            found = split(wanted) == split(device.id) or wanted == str(number)
        if found:
            return device.id
    listed = ", ".join("%s (%s)" % device for device in devices)
    raise Failure("There is no device %s here; there is %s" % (wanted, listed))


def check_cpu(cpu):
    """Return the larger relative error of the CPU's losses against those computed in float64.

    Raises:
        Failure: it is over 1e-3 (measured: 1e-6 at most with every framework): the measure itself is wrong.
    """
    worst = 0.0
    for got, right in zip(cpu.losses, network.REFERENCE_LOSSES):
        error = abs(got - right) / right
        if not error <= 1e-3:
            raise Failure(
                "The CPU itself computes wrongly: the loss is %r and should be %.6f; "
                "a library for linear algebra that mistakes this processor does that" % (got, right)
            )
        worst = max(worst, error)
    return worst


def compare(probe, there, cpu):
    """Return the largest relative error of the weights' updates and check it and the losses.

    Raises:
        Failure: beyond the probe's tolerance, or a tensor is missing, or nothing was trained.
    """
    for name, got, right in zip(("before", "after"), there.losses, cpu.losses):
        if not abs(got - right) <= probe.loss_tolerance * abs(right):
            raise Failure("Wrong numbers: the loss %s the step is %r, on the CPU %r" % (name, got, right))
    starts = {"the update of " + name: (name, start) for name, _shape, start in network.weights()}
    if not probe.trains:
        starts = {"the " + name: (name, [0.0] * len(right)) for name, right in cpu.weights.items()}
    worst, where = 0.0, ""
    for what, (name, start) in starts.items():
        error = update_error(name, start, there.weights[name], cpu.weights[name])
        if not error <= worst:
            worst, where = error, what
    if not worst <= probe.tolerance:
        raise Failure(
            "Wrong numbers: %s differs from the CPU's by %.2g of its size (allowed: %.2g)"
            % (where, worst, probe.tolerance)
        )
    return worst


def update_error(name, start, got, right):
    """Return max |got - right| / max |right - start|; infinity for what is not a number.

    Updates are compared, not weights: next to a weight, a whole missing gradient is a small number.
    """
    if not len(start) == len(got) == len(right):
        raise Failure("%s came back with %d numbers; it has %d" % (name, len(got), len(start)))
    size = largest_difference(right, start)
    if size == 0.0:
        raise Failure("The training step did not change %s" % name)
    if not all(map(math.isfinite, got)):
        return math.inf
    return largest_difference(got, right) / size


def largest_difference(one, other):
    """Return max |a - b|, in a way that takes a tenth of a second for a million numbers."""
    return max(map(abs, map(operator.sub, one, other)))


def placement(probe, device, step):
    """Return ``{device, how, ops, fallbacks}``: each operation with where it ran, those elsewhere by name."""
    ops = sorted({(str(op), short(where)) for op, where in step.ops})
    return {
        "device": device,
        "how": step.how,
        "ops": [{"op": op, "device": where} for op, where in ops],
        "fallbacks": [op for op, where in ops if not probe.same_device(device, where)],
    }


def check_placement(placement):
    """Check that the convolutions and matrix products ran on the device.

    Raises:
        Failure: one of them did not, or there is no proof at all.
    """
    names = " ".join(op["op"] for op in placement["ops"])
    for kind, shown in (("convolutions", r"(?i)conv"), ("matrix products", r"(?i)matmul|linear|mm\b|gemm")):
        if not re.search(shown, names):
            raise Failure("Nothing proves where the %s ran" % kind)
    elsewhere = strayed(placement["fallbacks"])
    if elsewhere:
        raise Failure("Silent fallback: %s did not run on %s" % (elsewhere, placement["device"]))
