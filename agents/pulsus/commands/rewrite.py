"""The same command so that it ends by itself (assistant architecture §2.6, rewrites)."""

from __future__ import annotations

from pulsus.commands.context import Context
from pulsus.commands.script import Script


def rewritten(script: Script, context: Context) -> str | None:
    """A command to offer in place of `script`, not yet judged, or None."""
    return None
