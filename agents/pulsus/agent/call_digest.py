"""The identity of a tool call: equal calls have equal digests. Pure.

`agent/answers/repeated_calls.py` finds duplicate calls by it. The hash that an approval is bound to
is `agent/control/call_question.py` (`plan_hash`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from pulsus.core.types import JsonValue

_ENCODER: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=True, default=str)


def call_digest(tool: str, args: Mapping[str, JsonValue]) -> str:
    """Return 32 hexadecimal digits that name a tool and its arguments.

    The order of the arguments, and spaces around texts, make no difference.
    """
    plain = _ENCODER.encode([tool, _trim_texts(args)])
    return hashlib.sha256(plain.encode()).hexdigest()[:32]


def _trim_texts(value: object) -> object:
    # In the order of how often they occur: a mapping that is no `dict` is rare and slow to tell.
    if isinstance(value, str):
        return value.strip()
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, dict | Mapping):
        return {str(key): _trim_texts(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_trim_texts(each) for each in value]
    return value
