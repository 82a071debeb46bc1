"""Text that is safe to show: a tool's words must not drive a terminal or forge log lines.

Control, zero-width and bidi characters, and so escape sequences (ANSI colours), are stripped or
escaped here, and a long line is truncated with an ellipsis. `visible_text.py` shows hidden
characters on approval cards; secrets are masked in `redaction.py`.
"""

from __future__ import annotations

from pulsus.late_pattern import late_pattern

# C0 but tab and newline, DEL, C1, and the characters that reorder or hide text on a terminal.
_HIDDEN = late_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)

_CONTROLS = late_pattern("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
"""Control characters that are no white space."""

_UNSAFE_IN_JSON = late_pattern(f"{_HIDDEN.pattern}|[\ud800-\udfff]")

_PRINTABLE_ASCII = bytes(range(0x20, 0x7F))


def is_plain(text: str) -> bool:
    """Return True if all characters are printable ASCII.

    Long outputs are asked this: `str.isprintable` takes four times as long, a pattern eight times.
    """
    return text.isascii() and not text.encode().translate(None, _PRINTABLE_ASCII)


def strip_controls(text: str) -> str:
    """Return `text` without control, zero-width and direction characters; newlines and tabs
    stay.
    """
    return _HIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def find_control(text: str) -> str | None:
    """Return the first control character that is no white space, or None."""
    found = _CONTROLS.search(text)
    return found[0] if found else None


def escape_controls(json_text: str) -> str:
    """JSON text of the same value with those characters, and lone surrogates, as `\\uXXXX`."""
    if is_plain(json_text):
        return json_text
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)


def one_line(text: str, limit: int = 200) -> str:
    """Return the printable text on one line, at most `limit` characters, cut with an ellipsis."""
    line = " ".join(strip_controls(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
