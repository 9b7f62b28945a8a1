"""Queries of the system's own libraries. Each file but ``local`` is a script of the standard library only.

They run in a child process of this program's interpreter, so that a driver that hangs or crashes harms
nothing. A script prints one JSON value; ``{"error": why}`` when the library is there but does not answer, and
``null`` when it is not there.
"""
