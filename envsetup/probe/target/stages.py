"""The stages in their order, the same for every framework."""

import os
import sys
import traceback

from . import judge, network, registry
from .events import Events, Failure


def run(request):
    """Run all stages and end the process.

    Args:
        request: ``{"events": path, "framework": ..., "backend": ..., "device": text or None,
            "limits": {stage: seconds}}``.
    """
    events = Events(request["events"], request["limits"])
    code = 1
    try:
        _run(events, request)
        events.send("done")
        code = 0
    except Failure as failure:
        events.mark(str(failure))
    except BaseException:
        traceback.print_exc()
    # No interpreter shutdown: a driver that crashes or hangs while it is unloaded would hide the result.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _run(events, request):
    with events.stage("import"):
        probe = registry.probe(request["framework"], request["backend"])
        events.data("framework", probe.load())
    with events.stage("enumerate"):
        devices, reason = probe.enumerate()
        events.data("devices", [{"id": d.id, "name": d.name} for d in devices])
        device = judge.choose(devices, request["device"], request["backend"])
        if device == "cpu" and request["backend"] != "cpu":
            events.data("no_device", reason)
    with events.stage("train"):
        events.mark("train on cpu")
        cpu = probe.train("cpu", network)
        there = cpu
        if device != "cpu":
            events.data("device", device)
            events.mark("train on " + device)
            there = probe.train(device, network)
        events.data("device", device)
        events.mark("trained")
        events.data("details", probe.details())
    with events.stage("compare"):
        events.data("losses", list(there.losses))
        events.data("tolerance", probe.tolerance)
        error = judge.check_cpu(cpu)
        if device != "cpu":
            error = judge.compare(probe, there, cpu)
        events.data("max_error", error)
    with events.stage("placement"):
        placement = judge.placement(probe, device, there)
        events.data("placement", placement)
        judge.check_placement(placement)
    events.send("proven")
    if len(devices) > 1 and request["device"] is None:
        with events.stage("distribute"):
            events.data("strategy", probe.distribute([d.id for d in devices]))
