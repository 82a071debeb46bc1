"""The JSON value in what a model says, fenced or bare, and whether it fits. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NoReturn

from pulsus.core.compose.proposer import Schema
from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import ModelAnswerInvalid
from pulsus.llm.json_schema import misfits

_FENCE = re.compile(r"```[ \t]*(?:json|JSON)?[ \t]*\r?\n(.*?)```", re.S)
_THOUGHT = "</think>"
_STARTS = 32
"""Places in prose at which JSON is looked for: each costs a reading of the rest."""


def json_answer(text: str, schema: Schema) -> str:
    """The first JSON value in `text` that fits `schema`, as it stands there.

    Raises ModelAnswerInvalid saying what is wrong with the first JSON value, or that there is none.
    """
    first = ""
    for found, value in _values(text):
        wrong = list(islice(misfits(value, schema), 3))
        if not wrong:
            return found
        first = first or "; ".join(wrong)
    raise ModelAnswerInvalid(
        f"the answer does not fit: {first}" if first else "the answer holds no JSON",
        hint="ask again, or choose a model that follows JSON schemas (`pulsus doctor --model`)",
        answer=one_line(text, 500),
    )


def _values(text: str) -> Iterator[tuple[str, Any]]:
    """Each JSON value that reads, the likeliest place first."""
    said = text.rpartition(_THOUGHT)[2]
    for part in (said, *_FENCE.findall(said)):
        yield from _value(part.strip())
    starts = islice(re.finditer(r"[{\[]", said), _STARTS)
    for start in starts:
        try:
            value, end = _DECODER.raw_decode(said, start.start())
        except (ValueError, RecursionError):
            continue
        yield said[start.start() : end], value


def _value(part: str) -> Iterator[tuple[str, Any]]:
    try:
        yield part, _DECODER.decode(part)
    except (ValueError, RecursionError):
        return


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)
