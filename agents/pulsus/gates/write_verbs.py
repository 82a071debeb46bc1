"""Whether an action changes anything, by its verb."""

from __future__ import annotations

from typing import Final

_READS: Final = {
    *("get", "list", "show", "read", "view", "describe", "inspect", "status", "state", "info"),
    *("search", "find", "query", "resolve", "discover", "lookup", "select", "count", "exists"),
    *("logs", "log", "tail", "head", "cat", "ps", "top", "stats", "stat", "metrics", "events"),
    *("history", "version", "help", "health", "check", "ping", "diff", "compare", "verify"),
    *("validate", "plan", "preview", "explain", "summary", "summarize", "overview", "topology"),
}
"""Verbs that change nothing. Every other is a write."""


def is_write(action: str) -> bool:
    """Whether `action`, a verb of a tool, changes something; no verb at all asks for nothing."""
    verb = action.strip().lower()
    return bool(verb) and verb not in _READS
