"""Measurements of what the project claims; not part of the installed package."""
