"""Read one JSON object a turn from a model's text (tool calling chapter §32.2). Pure.

The object is a `tool_call` or a `final_answer`. Fenced and prefixed objects are accepted, because
models write them; then the object is validated. Malformed or invalid JSON and duplicate keys give a
correction for the model. JSON of a generation is found in `llm/structured_answers.py`. The
confidence of an answer is read here, and low if it has none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pulsus.agent.model.proposal import Confidence, TurnProposal
from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.compose.model_protocol import Usage
from pulsus.core.telemetry.sanitize import one_line

_QUOTED = 120
"""Characters of a malformed answer that the correction quotes (chapter §32.2.2)."""
_OPENING = re.compile(r"[\[{]")
_TWO = 2
_CONFIDENCES: Mapping[Any, Confidence] = {"high": "high", "medium": "medium", "low": "low"}


def read_answer(raw: str, call_id: str, usage: Usage = Usage()) -> TurnProposal:  # noqa: B008 - frozen
    """Return the proposal in `raw`. Its one call gets the id `call_id`."""
    objects = _objects_in(raw)
    if len(objects) > 1 or any(isinstance(each, list) for each in objects):
        return _correction(raw, usage, "the text holds more than one object, or an array of them")
    found = objects[0] if objects else None
    if not isinstance(found, dict):
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


def _objects_in(raw: str) -> list[dict[str, Any] | list[Any]]:
    """Return the JSON objects in the text that parse, and arrays with objects: at most two.

    Prose around an object does not count. Of two objects, it is not known which one is meant.
    """
    found: list[dict[str, Any] | list[Any]] = []
    opening = _OPENING.search(raw)
    while opening is not None and len(found) < _TWO:
        start = opening.start()
        try:
            value, end = _DECODER.raw_decode(raw, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            # An array that was cut off is one too.
            cut = raw[:start].rstrip().endswith("[")
            if isinstance(value, dict):
                found.append([value] if cut else value)
            elif any(isinstance(each, dict | list) for each in value):
                found.append(value)
        opening = _OPENING.search(raw, end)
    return found


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object. Two values of one key are two readings of one call."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeated, parse_constant=_refuse_constant)
