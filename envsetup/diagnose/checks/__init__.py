"""Doctor's checks: each looks at one side of a machine or an environment, by name, within a time limit.

Example:
    >>> from envsetup.diagnose.checks.catalogue import CHECKS
    >>> [check.name for check in CHECKS][:2]
    ['system', 'stacks']
"""
