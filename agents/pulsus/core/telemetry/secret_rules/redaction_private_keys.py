"""Private keys (PEM, SSH) in a text: whole blocks, blocks that are cut, lines without their block.

`redaction_rules.py` applies these rules first, and has the names such as
`api_key=`. Every pattern is linear in the text.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from typing import Final

from pulsus.core.telemetry.secret_rules.redaction_forms import replace_with
from pulsus.late_pattern import late_pattern

MARK: Final = "[redacted]"
"""The same as in redaction.py."""

_PEM: Final = late_pattern(
    r"(?:-----BEGIN ([A-Za-z0-9 ]{1,40})-----.*?(?:-----END \1-----|\Z)"
    r"|---- BEGIN (SSH2 [A-Z ]{1,30}) ----.*?(?:---- END \2 ----|\Z))",
    re.S,
    words=("begin",),
)
_PUTTY: Final = late_pattern(
    r"(\bPrivate-Lines: \d{1,4}\r?\n)(?:[A-Za-z0-9+/=]{1,64}(?:\r?\n|\Z))+"
    r"(?:Private-MAC: [0-9a-f]{40,64}(?:\r?\n|\Z))?",
    words=("private-lines",),
)
_BLOCK: Final = late_pattern(
    r"-{4,5}(?: |%20|\+)?BEGIN(?: |%20|\+)[A-Z0-9 %+]{0,60}?KEY[A-Z0-9 %+]{0,20}-{4,5}"
    r".*?(?:-{4,5}(?: |%20|\+)?END[^\n-]{1,80}-{4,5}|\Z)",
    re.I | re.S,
    words=("begin",),
)
# The head of such a block in base64, from each of its three places.
_ENCODED: Final = late_pattern(
    r"(?:LS0tLS1CRUdJTi|0tLS0tQkVHSU4|tLS0tLUJFR0lO)"
    r"(?:[A-Za-z0-9+/=_-]|\\n|\r?\n[ \t]{0,20}(?=[A-Za-z0-9+/=]{20})){16,}",
    words=("ls0tls1crudjti", "0tls0tqkvhsu4", "tls0tlujfr0lo", "tls0tlujfruxp"),
)
_END: Final = late_pattern(
    r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z0-9 ]{0,20}-{4,5}", re.I, words=("private",)
)
_KEY_LINE: Final = late_pattern(r"[ \t>]*[A-Za-z0-9+/=]{1,128}[ \t\r]*")

_LONG: Final = late_pattern(r"[A-Za-z0-9+/]{60}")
_BEFORE: Final = r"(?:^[+-]?|[\"'`]|\\n|[ \t>|:])[ \t]{0,20}"
_AFTER: Final = r"(?=(?:\\r)?\\n|[\"'`]?,?[ \t\r]*$)"
_PIECE: Final = late_pattern(
    rf"(?P<before>{_BEFORE})"
    r"(?=[A-Za-z0-9+/]{0,75}?[a-z])(?=[A-Za-z0-9+/]{0,75}?[A-Z])(?=[A-Za-z0-9+/]{0,75}?\d)"
    rf"(?P<line>[A-Za-z0-9+/]{{76}}|[A-Za-z0-9+/]{{70}}|[A-Za-z0-9+/]{{64}}){_AFTER}"
    r"(?:(?P<gap>(?:\\r)?(?:\\n|\r?\n)[ \t>+|-]{0,20}(?:\d{1,6}[:\t])?)"
    rf"(?=[A-Za-z0-9+/]{{0,63}}?[A-Z0-9+/=])[A-Za-z0-9+/]{{4,63}}={{0,2}}{_AFTER})?",
    re.M,
)
"""A full line of a key in base64, as long as programs cut it, and the shorter line after it."""


def _is_text(line: str) -> bool:
    """Return True if a line in base64 stands for letters. A key is bytes of every kind."""
    data = b64decode(line[: len(line) - len(line) % 4])
    return data.isascii() and all(byte >= 32 or byte in b"\t\r\n" for byte in data)


def _hide_pieces(text: str) -> str:
    """Hide lines of a key whose beginning and end are elsewhere. A hash has one kind of letters."""

    def hide(found: re.Match[str]) -> str:
        if _is_text(found["line"]):
            return found[0]
        last = f"{found['gap']}{MARK}" if found["gap"] else ""
        return f"{found['before']}{MARK}{last}"

    return _PIECE.sub(hide, text) if _LONG.search(text) else text


def _hide_end_of_key(text: str) -> str:
    """Hide the lines before the end of a private key whose beginning is elsewhere."""
    parts, position = [], 0
    for end in _END.finditer(text):
        start = end.start()
        while start > position:
            line = text.rfind("\n", position, start - 1) + 1 or position
            if not _KEY_LINE.fullmatch(text, line, start - 1 if text[start - 1] == "\n" else start):
                break
            start = line
        parts += [text[position:start], MARK]
        position = end.end()
    return "".join(parts) + text[position:] if parts else text


def _hide_blocks(text: str) -> str:
    if "----" not in text:
        return text
    text = _BLOCK.sub(MARK, _PEM.sub(MARK, text))
    return _hide_end_of_key(text) if "---" in text else text


KEYS: Final[tuple[Callable[[str], str], ...]] = (
    _hide_blocks,
    replace_with(_ENCODED, MARK),
    replace_with(_PUTTY, rf"\1{MARK}\n"),
    _hide_pieces,
)
"""The rules of this module."""
