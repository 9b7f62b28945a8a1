"""Carry out a plan: interpreter, virtual environment, packages, records, receipt."""
