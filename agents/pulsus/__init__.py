"""Pulsus: a tool router and code-generation workbench for infrastructure teams.

The version stands here. `bootstrap/app.py` connects the parts, and `cli/main.py` is the start of
every command.
"""

__version__ = "0.1.0"
