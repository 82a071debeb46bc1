"""Read the JSON body of a request, with an error that names what is wrong.

It refuses unknown fields, and texts that are missing or too long. The size of a body in bytes is
limited in `web/protection/request_guard.py`.
"""

from __future__ import annotations

import json
from typing import Any, Final

from starlette.requests import Request

from pulsus.web.refusals import Refused

_JSON_HINT: Final = 'send an object, such as {"question": "…"}; /openapi.json has the fields'


async def read_object(request: Request, allowed: frozenset[str]) -> dict[str, Any]:
    """Return the object in the body. Raises Refused for anything else, and for an unknown key."""
    body = await request.body()
    try:
        found = json.loads(body or b"{}")
        # No file, log or answer can hold half of a surrogate pair.
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise Refused(
            400,
            "INVALID_JSON",
            "a text of the body has half of a surrogate pair, such as \\ud800",
            "send both halves, or leave it out",
        ) from None
    except (ValueError, RecursionError) as failure:
        raise Refused(400, "INVALID_JSON", f"the body is no JSON: {failure}", _JSON_HINT) from None
    if not isinstance(found, dict):
        raise Refused(400, "INVALID_JSON", "the body is no JSON object", _JSON_HINT)
    unknown = sorted(found.keys() - allowed)
    if unknown:
        raise Refused(
            400, "UNKNOWN_FIELD", f"unknown field {unknown[0][:80]!r}",
            f"known fields: {', '.join(sorted(allowed))}",
        )  # fmt: skip
    return found


def text_field(body: dict[str, Any], name: str, most: int, *, needed: bool = True) -> str:
    """Return a text of the body. Raises Refused if it is missing, no text, or too long."""
    value = body.get(name, "" if not needed else None)
    if not isinstance(value, str) or (needed and not value.strip()):
        raise Refused(
            400,
            "FIELD_MISSING",
            f"the field {name!r} needs a text",
            f"add {name!r} to the object, with a text",
        )
    if len(value) > most:
        raise Refused(
            400,
            "FIELD_TOO_LONG",
            f"{name!r} has {len(value)} characters, at most {most}",
            "shorten it",
        )
    return value
