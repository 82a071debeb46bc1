"""Read one JSON object a turn from a model's text (tool calling chapter §32.2). Pure.

The object is a `tool_call` or a `final_answer`. Fenced and prefixed objects are accepted, because
models write them; then the object is validated. Anything else gives a correction for the model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pulsus.agent.model.proposal import Confidence, TurnProposal
from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.compose.model_protocol import Usage
from pulsus.core.telemetry.sanitize import one_line

_QUOTED = 120
"""Characters of a malformed answer that the correction quotes (chapter §32.2.2)."""
_CONFIDENCES: Mapping[Any, Confidence] = {"high": "high", "medium": "medium", "low": "low"}


def read_answer(raw: str, call_id: str, usage: Usage = Usage()) -> TurnProposal:  # noqa: B008 - frozen
    """Return the proposal in `raw`. Its one call gets the id `call_id`."""
    found = _first_object(raw)
    if found is None:
        return TurnProposal(
            raw,
            usage=usage,
            correction=f"Your answer holds no valid JSON object: {one_line(raw, _QUOTED)!r}. "
            'Answer with exactly one object: {"tool_call": {"name": …, "parameters": {…}}} or '
            '{"final_answer": {"summary": …, "confidence": …}}.',
        )
    match found:
        case {"tool_call": _, "final_answer": _}:
            return _correction(raw, usage, "it has both a tool_call and a final_answer")
        case {"tool_call": {"name": str(name), "parameters": dict(args)}}:
            return TurnProposal(raw, calls=(ProposedCall(call_id, name, args),), usage=usage)
        case {"tool_call": {"name": str(name)}} if "parameters" not in found["tool_call"]:
            return TurnProposal(raw, calls=(ProposedCall(call_id, name, {}),), usage=usage)
        case {"final_answer": {"summary": str(summary)} as answer}:
            confidence = _CONFIDENCES.get(answer.get("confidence"), "low")
            return TurnProposal(raw, text=summary, confidence=confidence, usage=usage)
        case {"tool_call": _}:
            return _correction(raw, usage, "tool_call needs a name and an object of parameters")
        case {"final_answer": _}:
            return _correction(raw, usage, "final_answer needs a summary")
        case _:
            return _correction(raw, usage, "it is neither a tool_call nor a final_answer")


def parse_arguments(text: str) -> dict[str, Any] | None:
    """Return the JSON object that is the whole text, or None.

    A key that occurs twice, a constant such as NaN, and a lone surrogate make it invalid.
    """
    try:
        value = _DECODER.decode(text)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _correction(raw: str, usage: Usage, why: str) -> TurnProposal:
    text = (
        f"Your JSON object is not valid: {why}. Your answer was: {one_line(raw, _QUOTED)!r}. "
        "Answer again with one corrected object."
    )
    return TurnProposal(raw, correction=text, usage=usage)


def _first_object(raw: str) -> dict[str, Any] | None:
    """Return the first JSON object in the text that parses, or None.

    The text behind the object does not count: models go on writing.
    """
    start = raw.find("{")
    while start != -1:
        try:
            value, _ = _DECODER.raw_decode(raw, start)
        except (ValueError, RecursionError):
            start = raw.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object. Two values of one key are two readings of one call."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeated, parse_constant=_refuse_constant)
