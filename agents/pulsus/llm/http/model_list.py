"""The models a server lists under `/v1/models`. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pulsus.core.compose.proposer import ServedModel
from pulsus.core.telemetry.sanitize import one_line

_CONTEXT = ("n_ctx", "max_model_len", "context_length", "context_window", "max_input_tokens")
"""llama.cpp, vLLM, OpenRouter, Groq, Anthropic. (llama.cpp's `n_ctx_train` is not what it runs.)"""


def served(text: str) -> tuple[ServedModel, ...] | None:
    """The models in such a list; None where it is none."""
    try:
        rows = json.loads(text)["data"]
        return tuple(_model(row) for row in rows)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _model(row: Mapping[str, Any]) -> ServedModel:
    stated = {**(row.get("meta") or {}), **row}
    lengths = [stated[name] for name in _CONTEXT if isinstance(stated.get(name), int)]
    return ServedModel(one_line(str(row["id"])), max([0, *lengths]))
