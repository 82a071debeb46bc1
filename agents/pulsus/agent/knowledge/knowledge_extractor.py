"""Knowledge extractor: facts of a tool result, negative markers included (deep dive §3).

Pure. The data of an answer has passed the redactor before: facts become part of prompts.

Each tool has its extractor in `extractors/`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pulsus.agent.knowledge.extractors.all_extractors import find_extractor
from pulsus.agent.knowledge.extractors.fact_extractor import (
    CallArgs,
    KeyedValue,
    joined,
    named,
    text_of,
)
from pulsus.agent.knowledge.fact_keys import predict_fact_keys
from pulsus.agent.knowledge.session_fact import Fact, one_line, subjects_of
from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue
from pulsus.gates.tool_response import ToolResponse

_SUBJECTS = (
    *("target_resource_id", "target_host", "resource_id", "target_id", "node", "host", "cluster"),
    *("container", "service", "unit"),
)
_QUOTED = 100
"""Characters of a text without structure that a marker quotes."""
_QUOTED_MEMBERS = ("status", "total", "query", "period", "message")


def facts_of_response(
    call: ProposedCall,
    response: ToolResponse,
    *,
    now: float,
    turn: int,
    result_chars: int,
    about: Collection[str] | None = None,
) -> tuple[Fact, ...]:
    """Return the facts of an answer. `now` is in seconds, `result_chars` the answer's length.

    `about` are all names of the resources that the call looked at. If it is empty, its words named
    nothing that is known, so its facts are about no particular resource.

    An answer that was empty, and NOT_FOUND, become markers under the predicted keys, so the same
    question is not asked again. Other errors give no fact: a refused call read nothing, and a
    failed one may work the next time.
    """
    missing = response.error is not None and response.error.code == "NOT_FOUND"
    if not response.ok and not missing:
        return ()
    found = () if missing else extract_facts(call.tool, call.args, response.data)
    if not found:
        text = "not_found" if missing else empty_result_summary(response.data)
        found = tuple((key, text) for key in predict_fact_keys(call.tool, call.args)[-1:])
    subjects = subjects_of(call.args[name] for name in _SUBJECTS if name in call.args)
    if subjects and about is not None:
        subjects = subjects_of((*subjects, *about)) if about else ()
    return tuple(
        Fact(key, value, now, turn, call.digest, call.call_id, subjects, result_chars)
        for key, value in found
    )


def extract_facts(tool: str, args: CallArgs, data: JsonValue) -> tuple[KeyedValue, ...]:
    """Return the keys and values that the data of a successful answer holds."""
    extractor = find_extractor(tool, args)
    return tuple(extractor.facts(args, data)) if extractor else ()


def empty_result_summary(data: JsonValue) -> str:
    """Return one line about a result that gave no fact, for a marker."""
    if not data and data != []:
        return "empty response"
    if isinstance(data, list):
        return f"array with {counted(len(data), 'item')}"
    if not isinstance(data, Mapping):
        return one_line(str(data))[:_QUOTED] or "empty response"
    lists = (
        f"{key}: {counted(len(each), 'item')}"
        for key, each in data.items()
        if isinstance(each, list)
    )
    about = (named(name, text_of(data, name)) for name in _QUOTED_MEMBERS)
    error = named("error", text_of(data, "error"))
    resource = named("resource", text_of(data, "resource_id", "target_resource_id"))
    return joined(*lists, error, resource, *about) or f"object with {counted(len(data), 'member')}"
