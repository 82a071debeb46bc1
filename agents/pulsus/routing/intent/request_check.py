"""What counts as a request. Pure."""

from __future__ import annotations

import re

from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.errors import RequestInvalid

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]|\x9b[0-?]*[ -/]*[@-~]")
"""What a terminal takes for a command, with the letters that belong to it (ECMA-48)."""

HINT = 'say what you need in plain words, for example: pulsus "which disks are nearly full"'


def validate_request(request: str, max_chars: int) -> str:
    """The request as printable text on one line. Raises RequestInvalid for what is none."""
    if len(request) > max_chars:
        raise RequestInvalid(
            f"the request has {len(request)} characters, at most {max_chars} are read", hint=HINT
        )
    try:
        request.encode("utf-8")
    except UnicodeEncodeError:
        raise RequestInvalid("the request is not UTF-8 text", hint=HINT) from None
    text = " ".join(strip_controls(_ESCAPES.sub(" ", request)).split())
    if "\x00" in request or len(text) < len("".join(request.split())) // 2:
        raise RequestInvalid("the request holds control characters, not text", hint=HINT)
    if not any(char.isalnum() for char in text):
        raise RequestInvalid(f"the request {text!r} has no words", hint=HINT)
    return text
