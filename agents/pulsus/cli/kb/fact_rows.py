"""Facts, answers and proofs of the knowledge base as JSON and as lines (docs/knowledge-base.md).

The age limit of a fact is in `kb/facts.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from pulsus.cli import console
from pulsus.kb.explanation import Explanation, FactNote
from pulsus.kb.facts import ClusterFact
from pulsus.kb.goal_engine import Answer
from pulsus.kb.predicates import AnswerValue
from pulsus.kb.terms import render_value

_FIELDS: Mapping[str, str] = {
    "node": "name rack ram_mib cpu_mc status",
    "health": "node health",
    "link": "a b cost directed",
    "alert": "node condition",
    "vm": "vmid host ram_mib cpu_mc ha_group priority pinned",
    "metric": "node metric value",
}
"""The fields of each kind of fact, as its facts file has them."""


def note_to_dict(note: FactNote) -> dict[str, Any]:
    """Return a fact with its age as JSON."""
    origin = note.fact.provenance
    return {
        "kind": note.fact.kind,
        "text": note.fact.text,
        "values": console.json_fields(note.fact, _FIELDS[note.fact.kind]),
        "source": origin.source,
        "observed_at": _time(origin.observed_at),
        "age_seconds": note.age_seconds,
        "ttl_seconds": origin.ttl_seconds,
        "state": note.state,
    }


def answer_to_dict(answer: Answer) -> dict[str, Any]:
    """Return the values of the variables as JSON."""
    return {name: _json_value(value) for name, value in answer.items()}


def explanation_to_dict(found: Explanation) -> dict[str, Any]:
    """Return a proof as JSON."""
    return {
        "goal": found.goal,
        "answers": [
            {
                "bindings": answer_to_dict(each.bindings),
                "facts": [note_to_dict(note) for note in each.facts],
            }
            for each in found.answers
        ],
        "truncated": found.truncated,
        "reasons": [*found.reasons],
        "considered": [note_to_dict(note) for note in found.considered],
    }


def answer_line(answer: Answer) -> str:
    """Return an answer as one line, or as the lines of its text; `true` without variables."""
    if len(answer) == 1:
        (value,) = answer.values()
        if isinstance(value, str) and "\n" in value:
            return value
    return ", ".join(f"{name} = {_shown(value)}" for name, value in answer.items()) or "true"


def explanation_lines(found: Explanation) -> Iterator[str]:
    """Yield the lines of a proof."""
    for each in found.answers:
        yield answer_line(each.bindings)
        yield from (f"  {note.text}" for note in each.facts)
    if not found.answers:
        yield "false"
        yield from (f"  {reason}" for reason in found.reasons)
        yield from (f"  {note.text}" for note in found.considered)


def fact_nodes(fact: ClusterFact) -> set[str | None]:
    """Return the nodes that a fact is about."""
    names = ("name", "node", "a", "b", "host")
    return {getattr(fact, name) for name in names if hasattr(fact, name)}


def _shown(value: AnswerValue) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(render_value, value))}]"
    return value if isinstance(value, str) and "\n" in value else render_value(value)


def _json_value(value: AnswerValue) -> Any:
    return [*value] if isinstance(value, tuple) else value


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
