"""The Python module in what a model says: fenced, as JSON or bare. Pure."""

from __future__ import annotations

import json
import re

_THOUGHT = "</think>"
_FENCE = re.compile(r"^[ \t]*```[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*```|\Z)", re.S | re.M)
_ENTRY = re.compile(r"^def (?:run|main)\b", re.M)
_PYTHON = ("", "python", "py", "python3")
_BARE = re.compile(r"(?:r?\"\"\"|r?'''|import |from |def |#)")


def module_of(text: str) -> str | None:
    """The module, with plain line ends and one at its end; None where there is none.

    Of several blocks the first that defines an entry point counts, else the longest. A block that
    is not closed ends with the text: the answer was cut off, and the gate will say so.
    """
    said = text.rpartition(_THOUGHT)[2].replace("\r\n", "\n")
    found = _in_json(said) or _in_fences(said) or _bare(said)
    return f"{found.strip()}\n" if found and found.strip() else None


def _in_json(said: str) -> str | None:
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        return None
    module = value.get("module") if isinstance(value, dict) else None
    if not isinstance(module, str):
        return None
    return _in_fences(module) or module


def _in_fences(said: str) -> str | None:
    blocks = [body for tag, body in _FENCE.findall(said) if tag.lower() in _PYTHON]
    with_entry = (body for body in blocks if _ENTRY.search(body))
    return next(with_entry, None) or max(blocks, key=len, default=None)


def _bare(said: str) -> str | None:
    return said if _BARE.match(said.lstrip()) and _ENTRY.search(said) else None
