"""The keys of facts that a call would give, known before it runs (knowledge gate, §2).

A fact itself is in `session_fact.py`.
"""

from __future__ import annotations

from pulsus.agent.knowledge.extractors.all_extractors import find_extractor
from pulsus.agent.knowledge.extractors.fact_extractor import CallArgs


def predict_fact_keys(tool: str, args: CallArgs) -> tuple[str, ...]:
    """Return the keys, or none for a call whose facts depend on its result."""
    extractor = find_extractor(tool, args)
    return extractor.keys(args) if extractor else ()
