"""The probe proper: what the environment's own interpreter runs. Standard library only, Python 3.6 syntax.

``main.py`` loads this directory as a package under a private name, without touching ``sys.path``, so that
nothing here can be mistaken for a module of the environment, nor the other way round.

A framework is one small file with a ``PROBE`` class (see ``interface.py``), named in ``registry.py``.
"""
