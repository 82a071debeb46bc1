"""Context compaction: shorten old tool results in a transcript (deep dive §9). Pure.

How old and how long a result has to be are settings (`config/settings.py`):
`agent.compaction_keep_turns` and `agent.compaction_min_chars`. `agent/loop/transcript.py` calls it,
and leaves out the oldest turns if that is not enough. The length of a result when the tool ends is
cut in `agent/tools/local/tool_report.py`. Tokens are estimated by `llm/token_estimate.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from pulsus.agent.knowledge.knowledge_accumulator import KnowledgeAccumulator
from pulsus.fast_dataclass import dataclass

_KEPT_BEGINNING: Final = 200
"""Characters that stay of a result without facts (deep dive §9)."""


@dataclass(frozen=True, slots=True)
class TranscriptResult:
    """The text of a tool result in the transcript, with the turn and the id of its call."""

    turn: int
    call_id: str
    tool: str
    text: str
    compacted: bool = False


def compact_results(
    results: Iterable[TranscriptResult],
    knowledge: KnowledgeAccumulator,
    *,
    turn: int,
    keep_turns: int,
    min_chars: int,
) -> tuple[TranscriptResult, ...]:
    """Return the results, those older than `keep_turns` turns and longer than `min_chars` short.

    A short form has the facts of the call, or the beginning of the text. No result becomes longer,
    and a second pass changes nothing.
    """
    return tuple(
        _compact(result, knowledge)
        if turn - result.turn > keep_turns and len(result.text) > min_chars
        else result
        for result in results
    )


def _compact(result: TranscriptResult, knowledge: KnowledgeAccumulator) -> TranscriptResult:
    if result.compacted:
        return result
    facts = [fact for fact in knowledge.facts if fact.call_id == result.call_id]
    if facts:
        known = "\n".join(f"{fact.key} = {fact.value}" for fact in facts)
        text = f"[result of {result.tool} in turn {result.turn}, facts only]\n{known}"
    else:
        text = f"{result.text[:_KEPT_BEGINNING]}… [truncated]"
    if len(text) >= len(result.text):
        return result
    return replace(result, text=text, compacted=True)
