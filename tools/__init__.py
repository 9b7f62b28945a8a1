"""Tools that make the data files of ``constraints/``; not part of the installed package."""
