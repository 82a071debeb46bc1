"""Typed settings: every threshold, weight and limit.

The values are in `settings.py`, their order of precedence in `layers.py`, their errors (with "did
you mean") in `diagnostics.py`, and the approval of values of a project's files in `trust/`. They
are shown by `cli/setup/config_command.py`.
"""
