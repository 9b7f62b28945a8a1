"""Start of the probe inside the target interpreter: ``python -I main.py JSON`` (see ``stages.py``)."""

import sys

if sys.version_info < (3, 6):  # above all other imports, in syntax that every Python reads
    sys.exit("envsetup's probe needs Python 3.6 or newer; this is %s" % sys.version.split()[0])

import importlib.util
import json
import os


def load_package(name):
    """Import this directory as package ``name``, leaving no byte code beside envsetup's own files."""
    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)


def die_with_parent():
    """Ask the kernel to end this process when its parent does (Linux); Windows does it through the job."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes
        import signal

        pr_set_pdeathsig = 1  # linux/prctl.h
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass  # the limit of each stage still ends it


def no_core_dump():
    """Keep a crash from writing gigabytes of core file."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main():
    """Run the stages that the JSON argument asks for."""
    die_with_parent()
    no_core_dump()
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    load_package("_envsetup_probe")
    stages = importlib.import_module("_envsetup_probe.stages")
    sys.dont_write_bytecode = kept
    stages.run(json.loads(sys.argv[1]))


main()
