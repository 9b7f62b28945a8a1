"""From facts and logs to causes: the catalogue of failures, and the rules that recognise them.

Example:
    >>> import io
    >>> log = io.BytesIO(b"TypeError: Descriptors cannot be created directly.")
    >>> explain(log).findings[0].code
    'protobuf-too-new'
"""

from __future__ import annotations

from envsetup.diagnose.explain import diagnose_facts, explain
from envsetup.diagnose.finding import Diagnosis, Finding, Fix

__all__ = ["Diagnosis", "Finding", "Fix", "diagnose_facts", "explain"]
