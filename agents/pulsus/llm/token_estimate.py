"""Estimate how many tokens a text has, for budgets and context windows. Pure.

Four bytes count as a token. A server that counts itself is believed (`budgeted_model.py`); this is
for the time before it answers. The room in the context is divided in
`agent/model/context_limits.py`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pulsus.core.compose.model_protocol import Message, Schema
from pulsus.core.compose.tool_calling_protocol import ChatMessage, OfferedTool

BYTES_PER_TOKEN = 4
"""English and code have about four bytes to a token in the vocabularies of today's models."""
OVERHEAD_TOKENS = 8
"""Tokens around one message: its role and its ends, and some to spare."""


def estimate_tokens(messages: Sequence[Message], schema: Schema | None = None) -> int:
    """Return about how many tokens a question has, never 0."""
    size = sum(len(m.content.encode("utf-8", "replace")) for m in messages)
    if schema is not None:
        size += len(json.dumps(schema))
    return size // BYTES_PER_TOKEN + OVERHEAD_TOKENS * (len(messages) + 1)


def estimate_chat_tokens(messages: Sequence[ChatMessage], tools: Sequence[OfferedTool]) -> int:
    """Return about how many tokens a question with tools has, never 0."""
    texts = [Message("user", m.content) for m in messages]
    calls = [Message("user", f"{c.name}{c.arguments}") for m in messages for c in m.calls]
    offers = [
        Message("system", f"{t.name}{t.description}{json.dumps(t.parameters)}") for t in tools
    ]
    return estimate_tokens([*texts, *calls, *offers])
