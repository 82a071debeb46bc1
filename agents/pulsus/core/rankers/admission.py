"""Which tools may be candidates at all, before anything is ranked. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection

from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.index_builder import KIND_BITS, KINDS
from pulsus.core.rankers.lexical.query_matches import Admit
from pulsus.core.types import Kind

Allowed = Callable[[str], bool] | Collection[str]
"""Decides by id if a tool may be routed to at all."""


def admission_filter(
    documents: Documents,
    hidden: Collection[str],
    kinds: Collection[Kind] | None,
    allowed: Allowed | None,
) -> Admit | None:
    """Return a predicate by tool number, or None if all tools may be candidates."""
    if not hidden and kinds is None and allowed is None:
        return None
    wanted = {n for n, kind in enumerate(KINDS) if kinds is None or kind in kinds}

    def admit(number: int) -> bool:
        if documents.flags(number) & KIND_BITS not in wanted:
            return False
        tool_id = documents.id(number)
        if tool_id in hidden or allowed is None:
            return tool_id not in hidden
        return allowed(tool_id) if callable(allowed) else tool_id in allowed

    return admit
