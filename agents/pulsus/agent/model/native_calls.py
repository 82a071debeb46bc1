"""Between the transcript of a run and the messages of native tool calls (chapter §32.1). Pure.

Invalid arguments of a native call, and an empty answer, get a correction here. The confidence of an
answer is medium, or low if it was cut short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from pulsus.agent.answers.tool_markup import find_leak
from pulsus.agent.model.json_protocol import parse_arguments
from pulsus.agent.model.proposal import AgentMessage, TurnProposal, TurnRequest
from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.compose.tool_calling_protocol import ChatMessage, ToolCompletion, ToolUse
from pulsus.core.telemetry.sanitize import one_line

_QUOTED = 120
"""Characters of malformed arguments that a correction quotes (chapter §32.2.2)."""
_CALL_ID = re.compile(r"[\w.:-]{1,100}\Z", re.ASCII)
_NO_TOOL_NAME = re.compile(r"[^A-Za-z0-9_-]")
"""Servers refuse a request with another character in a name, also in an earlier call."""
_LONGEST_NAME = 64
_NOT_RUN = '{"ok":false,"error":{"code":"EXECUTION_FAILED","message":"this call was not run"}}'


def chat_messages(messages: Sequence[AgentMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages of a question.

    Each call is followed by its result, because servers refuse a call without one: a call that
    was not run says so. An empty answer of the model is left out.
    """
    return tuple(_chat_messages(messages))


def _chat_messages(messages: Sequence[AgentMessage]) -> Iterator[ChatMessage]:
    results = {m.call_id: m.content for m in messages if m.role == "tool"}
    called = {call.call_id for message in messages for call in message.calls}
    for message in messages:
        match message.role:
            case "assistant" if message.calls:
                uses = [
                    ToolUse(call.call_id, _sent_name(call.tool), _sent_arguments(call))
                    for call in message.calls
                ]
                yield ChatMessage("assistant", message.content, tuple(uses))
                for use in uses:
                    result = results.get(use.call_id, _NOT_RUN)
                    yield ChatMessage("tool", result, call_id=use.call_id, tool=use.name)
            case "tool":
                if message.call_id not in called:
                    yield ChatMessage("user", f"Tool result: {message.content}")
            case role:
                if message.content:
                    yield ChatMessage(role, message.content)


def _sent_name(name: str) -> str:
    return _NO_TOOL_NAME.sub("_", name)[:_LONGEST_NAME] or "_"


def _sent_arguments(call: ProposedCall) -> str:
    return json.dumps(dict(call.args), ensure_ascii=False)


def read_completion(answer: ToolCompletion, ask: TurnRequest) -> TurnProposal:
    """Return the proposal in an answer: its calls, else its text, else a correction.

    If the arguments of one call are no JSON object, none of the calls runs. Text that holds the
    markup of a call is cut there. Without a native call it is an attempt to call, and not an
    answer, unless only an answer was asked for.
    """
    leak = find_leak(answer.text, (tool.name for tool in ask.tools))
    text = answer.text if leak is None else answer.text[: leak.cut]
    leaked = leak is not None
    calls: list[ProposedCall] = []
    ids = {call.call_id for message in ask.messages for call in message.calls}
    for number, use in enumerate(answer.calls, 1):
        args = parse_arguments(use.arguments.strip() or "{}")
        if args is None:
            correction = (
                f"The arguments of your call of {one_line(use.name, _QUOTED)} are no valid JSON "
                f"object: {one_line(use.arguments, _QUOTED)!r}. Call the tool again, with one "
                "JSON object."
            )
            return TurnProposal(text, correction=correction, usage=answer.usage, leaked=leaked)
        call_id = use.call_id
        if call_id in ids or not _CALL_ID.match(call_id):
            call_id = f"call-{ask.turn}-{number}"
        ids.add(call_id)
        calls.append(ProposedCall(call_id, use.name, args))
    if calls:
        return TurnProposal(text, calls=tuple(calls), usage=answer.usage, leaked=leaked)
    correction = _correct_text(text, leaked=leaked, text_only=ask.text_only)
    if correction:
        return TurnProposal(text, correction=correction, usage=answer.usage, leaked=leaked)
    whole = answer.finish != "length" and not leaked
    return TurnProposal(
        text,
        text=text,
        confidence="medium" if whole else "low",
        usage=answer.usage,
        leaked=leaked,
    )


def _correct_text(text: str, *, leaked: bool, text_only: bool) -> str:
    """Return what to say about an answer without calls, or "" if it is one."""
    if leaked and not text_only:
        return (
            "Your answer held the markup of a tool call as text, so nothing was called. Call the "
            "tool through the tool interface, or answer in plain text."
        )
    return "" if text.strip() else "Your answer was empty. Call a tool, or answer in plain text."
