"""The role of an input, and its unit: what kind of thing it wants, by name and description. Pure.

A role says which kinds of value an input may take at all
(`core/arguments/candidates/candidate.py`). A value is converted to the unit of the input in
`core/arguments/candidates/number_candidates.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pulsus.core.text.unit_factors import BYTES, SECONDS
from pulsus.core.types import JsonValue
from pulsus.late_pattern import late_pattern

NUMERIC: Final = ("integer", "number")
NO_UNIT: Final = ("", 1.0)

_SECONDS = {
    **dict.fromkeys(("ms", "milliseconds", "millisecond", "millis"), SECONDS["millisecond"]),
    **dict.fromkeys(("seconds", "second", "secs", "sec"), SECONDS["second"]),
    **dict.fromkeys(("minutes", "minute", "mins"), SECONDS["minute"]),
    **dict.fromkeys(("hours", "hour", "hrs"), SECONDS["hour"]),
    **dict.fromkeys(("days", "day"), SECONDS["day"]),
    **dict.fromkeys(("weeks", "week"), SECONDS["week"]),
    **dict.fromkeys(("months", "month"), SECONDS["month"]),
    **dict.fromkeys(("years", "year"), SECONDS["year"]),
}
_BYTES = {
    **dict.fromkeys(("bytes", "byte"), BYTES["byte"]),
    **dict.fromkeys(("kb", "kib", "kilobytes"), BYTES["kilobyte"]),
    **dict.fromkeys(("mb", "mib", "megabytes"), BYTES["megabyte"]),
    **dict.fromkeys(("gb", "gib", "gigabytes"), BYTES["gigabyte"]),
}
_PERCENT = frozenset(("percent", "percentage", "pct"))
_PARTS_OF_DATES = frozenset(("year", "month", "day", "hour", "minute"))
"""`month` alone is a part of a date. `months` is a duration."""

# The first role whose words hold the last word of a name, or the whole name.
_ROLES: tuple[tuple[str, frozenset[str]], ...] = tuple(
    (role, frozenset(names.split()))
    for role, names in (
        ("folder", "folder folders directory dir root"),
        ("path", "path file files filename filepath paths saved before after first second"),
        ("host", "host hostname server domain hosts"),
        ("address", "address ip addr"),
        ("network", "network subnet cidr"),
        ("port", "port"),
        ("url", "url uri link endpoint website webpage"),
        ("pattern", "pattern glob mask"),
        ("delimiter", "delimiter separator sep"),
        ("text", "limit top count number num n max maximum quantity amount results"),
        ("interface", "interface iface device nic"),
        ("moment", "start end since until after before from to as_of date time when day"),
        ("place", "city location place country state region address destination origin"),
        ("person", "name artist author player actor director person user username"),
        ("id", "id identifier code uuid key token sku isbn"),
    )
)
_SCHEDULES = ("expression", "schedule", "cron", "line")
_FILE_OR_MOMENT = frozenset(
    ("address", "before", "after", "first", "second", "saved", "start", "end")
)
"""Words of a name that only the description tells apart: `before` may be a file or a moment."""

_CRON = late_pattern(r"(?i:\bcron\b)|(?:[\d*/,-]{1,20} ){4}[\w*/,-]+")
_SAYS_FILE = late_pattern(
    r"(?i)\b(?:file|export|saved|document|archive|path|folder|directory|log)\b"
    r"|\bfor example `\.[a-z][\w.-]*`"
)
"""An example such as `.env.example` can only be a file."""
_SAYS_MOMENT = late_pattern(
    r"(?i)\b(?:date|time|moment|timestamp|when|iso|yyyy|hour|earliest|latest)\b"
)
_SAYS_ADDRESS = late_pattern(r"(?i)\bip\b|ipv|host|address to look")
_IS_FILE = late_pattern(
    r"(?i)(?:the |a |an |one |path of (?:the |a )?)?(?:[\w.-]+ ){0,2}"
    r"(?:file|document|export|archive|scrape|snapshot|exposition|dump)\b"
)
"""The beginning of a description that says: a file."""
_SAYS_PEM = late_pattern(r"(?:(?<=in )PEM|^The PEM)\b")
_SAYS_UNIT = late_pattern(r"(?i)\b(?:in|of|number of) (\w+)")


def role_of(parts: Sequence[str], kind: str, said: str, default: JsonValue, closed: bool) -> str:
    """Return the role of an input.

    `parts` are the words of its name, `kind` is its JSON Schema type, `said` its description, and
    `closed` says that its choices are closed.
    """
    if closed:
        return "choice"
    if kind == "boolean":
        return "flag"
    if kind in NUMERIC:
        return _number_role(parts, said)
    if kind not in ("string", "array"):
        return kind
    last = parts[-1] if parts else ""
    if last in _SCHEDULES and _CRON.search(said):
        return "cron"
    if isinstance(default, str) and default.startswith("/") and last != "root":
        return "source"
    return _text_role("_".join(parts), last, said)


def unit_of(parts: Sequence[str], said: str, kind: str) -> tuple[str, float]:
    """Return the unit of a numeric input: (duration, seconds), (size, bytes) or (percent, 1).

    The name decides, or else "in minutes" in the description. NO_UNIT for other inputs.
    """
    if kind not in NUMERIC:
        return NO_UNIT
    for table, name in ((_SECONDS, "duration"), (_BYTES, "size")):
        for word in reversed(parts):
            if word in table and word not in _PARTS_OF_DATES:
                return name, table[word]
    if not _PERCENT.isdisjoint(parts):
        return "percent", 1.0
    found = _SAYS_UNIT.search(said)
    word = found[1].lower() if found else ""
    if word in _SECONDS and word.endswith("s"):
        return "duration", _SECONDS[word]
    return ("size", _BYTES[word]) if word in _BYTES else NO_UNIT


def _text_role(whole: str, last: str, said: str) -> str:
    role = next((role for role, names in _ROLES if whole in names or last in names), "text")
    if role == "text" and _IS_FILE.match(said):
        return "path"
    if role in ("text", "id") and _SAYS_PEM.search(said):
        return "path"  # a key or a certificate in a file, no identifier
    if last in _FILE_OR_MOMENT and role in ("path", "moment"):
        if _SAYS_MOMENT.search(said):
            return "moment"
        return "path" if _SAYS_FILE.search(said) else "text"
    if last in ("to", "from") and role == "moment" and not _SAYS_MOMENT.search(said):
        return "text"
    if role == "address" and not _SAYS_ADDRESS.search(said):
        return "place"
    return role


def _number_role(parts: Sequence[str], said: str) -> str:
    unit, _ = unit_of(parts, said, "integer")
    first, last = (parts[0], parts[-1]) if parts else ("", "")
    if unit:
        return unit
    if "port" in parts:
        return "port"
    if last in ("prefix", "prefixlen"):
        return "prefix"
    if last in ("id", "year", "status"):
        return last
    counts = last in ("limit", "top", "count", "num", "n") or first in ("num", "max", "number")
    return "count" if counts else "number"
