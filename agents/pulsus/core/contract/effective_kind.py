"""Decides the kind that a tool counts as (docs/tool-contract.md). Pure.

An undeclared or unreadable kind is a write (`docstring.py`). A read that had effects in its dry run
counts as a write here. Runs then need consent by `approvals/run_consent.py`.
"""

from __future__ import annotations

from dataclasses import replace

from pulsus.core.types import Kind, ObservedEffects, ToolSpec


def get_effective_kind(tool: ToolSpec, observed: ObservedEffects | None) -> Kind:
    """Return its own kind, or write if it declares no effects and its dry run had some."""
    if (
        tool.effects is None
        and observed is not None
        and replace(observed, reads=()) != ObservedEffects()
    ):
        return "write"
    return tool.kind


def get_stricter_kind(kind: Kind, recorded: str | None) -> Kind:
    """Return the stricter of a tool's own kind and the one on its record."""
    return "write" if recorded == "write" else kind
