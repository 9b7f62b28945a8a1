"""What the probe tells its parent: JSON lines, flushed one by one, so that a crash leaves all before it."""

import contextlib
import faulthandler
import json
import sys
import time


class Events:
    """Writes events to a file that the parent follows.

    Args:
        path: the file, which need not exist.
        limits: seconds allowed for each stage. A stage that runs longer prints where every thread
            stands and ends the process (from C, so a call that never returns is no obstacle).
    """

    def __init__(self, path, limits):
        # Appended to, so that whatever else writes there overwrites nothing; open until the process ends.
        self._file = open(path, "a", encoding="utf-8")
        self._limits = limits

    def send(self, event, **fields):
        """Write one event."""
        fields["event"] = event
        self._file.write(json.dumps(fields) + "\n")
        self._file.flush()

    def data(self, key, value):
        """Tell one value."""
        self.send("data", key=key, value=value)

    @contextlib.contextmanager
    def stage(self, name):
        """Mark what happens inside as stage ``name``, in the events and in the log, with its time limit."""
        sys.stdout.flush()
        self.mark("stage " + name)
        self.send("start", stage=name)
        began = time.time()
        limit = self._limits.get(name)
        if limit:
            faulthandler.dump_traceback_later(limit, exit=True)
        try:
            yield
        except BaseException as error:
            self.send("fail", stage=name, reason=describe(error))
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()
        self.send("end", stage=name, seconds=round(time.time() - began, 3))

    def mark(self, text):
        """Write a line into the log, between those of the framework; the parent reads some of them."""
        sys.stderr.write("envsetup-probe: %s\n" % text)
        sys.stderr.flush()


def describe(error):
    """Return an exception as one line of at most 2000 characters: type, text, and its cause's."""
    if isinstance(error, Failure):
        return str(error)
    text = " ".join(str(error).split())
    line = type(error).__name__ + (": " + text if text else "")
    cause = error.__cause__
    if cause is not None and str(cause) not in text:
        line += " (caused by %s)" % describe(cause)
    return line[:2000]


class Failure(Exception):
    """A verdict of the probe itself: its text is said to people as it is."""
