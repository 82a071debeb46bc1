"""Pulsus: a tool router and code-generation workbench for infrastructure teams."""

__version__ = "0.1.0"
