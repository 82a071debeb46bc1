"""The inputs of a tool, as words of a request may fill them: type, role, choices (one per tool).

Made from a JSON Schema (`pulsus fill`) or from a tool's contract; never from running the tool. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pulsus.core.text.tokens import STOP_WORDS, stem, words
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

NO_DEFAULT: Final = "\0none"

_TIME = {
    **dict.fromkeys(("ms", "milliseconds", "millisecond", "millis"), 0.001),
    **dict.fromkeys(("seconds", "second", "secs", "sec"), 1.0),
    **dict.fromkeys(("minutes", "minute", "mins"), 60.0),
    **dict.fromkeys(("hours", "hour", "hrs"), 3600.0),
    **dict.fromkeys(("days", "day"), 86400.0),
    **dict.fromkeys(("weeks", "week"), 604800.0),
    **dict.fromkeys(("months", "month"), 2629800.0),
    **dict.fromkeys(("years", "year"), 31557600.0),
}
_SIZE = {
    **dict.fromkeys(("bytes", "byte"), 1.0),
    **dict.fromkeys(("kb", "kib", "kilobytes"), 1024.0),
    **dict.fromkeys(("mb", "mib", "megabytes"), 1024.0**2),
    **dict.fromkeys(("gb", "gib", "gigabytes"), 1024.0**3),
}
_PERCENT = frozenset(("percent", "percentage", "pct"))

# The first role whose words hold the last word of a name, or the whole name.
_ROLES: tuple[tuple[str, frozenset[str]], ...] = (
    ("folder", frozenset(["folder", "folders", "directory", "dir", "root"])),
    ("path", frozenset(["path", "file", "files", "filename", "filepath", "paths", "saved", "before", "after", "first", "second"])),
    ("host", frozenset(["host", "hostname", "server", "domain", "hosts"])),
    ("address", frozenset(["address", "ip", "addr"])),
    ("network", frozenset(["network", "subnet", "cidr"])),
    ("port", frozenset(["port"])),
    ("url", frozenset(["url", "uri", "link", "endpoint", "website", "webpage"])),
    ("pattern", frozenset(["pattern", "glob", "mask"])),
    ("count", frozenset(["limit", "top", "count", "number", "num", "n", "max", "maximum", "quantity", "amount", "results"])),
    ("interface", frozenset(["interface", "iface", "device", "nic"])),
    ("moment", frozenset(["start", "end", "since", "until", "after", "before", "from", "to", "as_of", "date", "time", "when", "day"])),
    ("place", frozenset(["city", "location", "place", "country", "state", "region", "address", "destination", "origin"])),
    ("person", frozenset(["name", "artist", "author", "player", "actor", "director", "person", "user", "username"])),
    ("id", frozenset(["id", "identifier", "code", "uuid", "key", "token", "sku", "isbn"])),
)  # fmt: skip
_FILE_HINTS = re.compile(r"(?i)\b(file|export|saved|document|archive|path|folder|directory|log)\b")
_PLACE_OF_FILES = frozenset(
    ("address", "before", "after", "first", "second", "saved", "start", "end")
)
_MOMENT_WORDS = re.compile(
    r"(?i)\b(date|time|moment|timestamp|when|iso|yyyy|hour|earliest|latest)\b"
)
_LISTED = re.compile(r"`([^`\n]{1,40})`|'([^'\n]{1,40})'|\"([^\"\n]{1,40})\"")
_AS_EXAMPLE = re.compile(
    r"(?i)(?:e\.?g\.?,?|for example,?|such as|like|examples?:|i\.e\.,?|either|one of:?|options?:?"
    r"|can be|must be|possible values(?: are)?:?|including)\s+([^.()\n]{3,200})"
)
_AFTER_COLON = re.compile(
    r":\s+((?:[\w.+-]{1,20},\s+){1,9}[\w.+-]{1,20}(?:,?\s+or\s+[\w.+-]{1,20}))\b"
)
_CRON_EXAMPLE = re.compile(r"(?:[\d*/,-]+ ){4}[\w*/,-]+")
_NEVER = re.compile(r"\b(dry_run|overwrite|allow_\w+|force|yes|confirm|password|passwd|secret|token|api_key|apikey|credential\w*)\b")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Input:
    """One input. `type` is a JSON Schema type. `unit` is (kind, factor): 3600 seconds for `hours`.

    `words` are the stems of its name, `said` those of its description. `choices` are its closed
    choices, `examples` the values that the description lists. `place` is its number in the tool.
    """

    name: str
    type: str
    role: str
    required: bool
    default: JsonValue
    description: str
    unit: tuple[str, float]
    words: frozenset[str]
    said: frozenset[str]
    choices: tuple[JsonValue, ...]
    examples: tuple[str, ...]
    region: bool
    formatted: bool
    listed: bool
    item: str
    place: int
    fillable: bool = True
    fraction: bool = False


@dataclass(frozen=True, slots=True)
class Fillable:
    """The inputs of one tool, and the stems of the tool's own name and summary."""

    inputs: tuple[Input, ...]
    own: frozenset[str]


def from_schema(tool: Mapping[str, Any]) -> Fillable:
    """Return the inputs of `{name, description, parameters}` (JSON Schema)."""
    parameters = tool.get("parameters") or {}
    properties = parameters.get("properties") or {}
    required = parameters.get("required") or ()
    made = [
        _input(name, spec if isinstance(spec, Mapping) else {}, name in required, place)
        for place, (name, spec) in enumerate(properties.items())
    ]
    text = f"{tool.get('name', '')} {tool.get('description', '')}"
    return Fillable(tuple(made), stems(text))


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that carry meaning."""
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


def _input(name: str, spec: Mapping[str, Any], required: bool, place: int) -> Input:
    kind = str(spec.get("type") or "string")
    description = str(spec.get("description") or "")
    items = spec.get("items") or {}
    choices = spec.get("enum") or items.get("enum") or ()
    listed = len(_LISTED.findall(description)) > 1 or bool(_AFTER_COLON.search(description))
    default = spec.get("default", NO_DEFAULT)
    parts = tuple(words(re.sub(r"(?<=[a-zA-Z])\d+\b|_\d+\b", "", name))) or (name,)
    return Input(
        name=name,
        type=_plain_type(kind),
        role=role_of(parts, kind, description, default, bool(choices)),
        required=required,
        default=default,
        description=description,
        unit=unit_of(parts, description, kind),
        words=frozenset(stem(word) for word in parts),
        said=stems(description),
        choices=tuple(choices),
        examples=(examples := _examples(name, description)),
        region=wants_region(description, examples),
        formatted="format" in description and any(re.match(r"[a-z]+:[A-Z]", e) for e in examples),
        listed=listed,
        item=_plain_type(str(items.get("type") or "string")),
        place=place,
        fillable=_NEVER.search(name) is None,
        fraction=_is_fraction(description),
    )


def _plain_type(kind: str) -> str:
    known = {
        "float": "number",
        "int": "integer",
        "dict": "object",
        "list": "array",
        "str": "string",
    }
    return known.get(kind, kind)


def _is_fraction(description: str) -> bool:
    found = re.search(
        r"(?i)\bdecimal\b|\bas a fraction\b|\bbetween 0(?:\.0)? and 1(?:\.0)?\b|0\.\d", description
    )
    return found is not None


def role_of(parts: Sequence[str], kind: str, said: str, default: JsonValue, closed: bool) -> str:
    """Return the role of an input: what kind of thing it wants, by its name first."""
    if closed:
        return "choice"
    if kind == "boolean":
        return "flag"
    if kind in ("integer", "number", "float"):
        return _number_role(parts, said)
    if kind not in ("string", "array"):
        return kind
    whole, last = "_".join(parts), parts[-1] if parts else ""
    if (re.search(r"(?i)\bcron\b", said) or _CRON_EXAMPLE.search(said)) and last in (
        "expression",
        "schedule",
        "cron",
        "line",
    ):
        return "cron"
    if isinstance(default, str) and default.startswith("/") and last not in ("root",):
        return "source"
    for role, known in _ROLES:
        if whole in known or last in known:
            if last in _PLACE_OF_FILES and role in ("path", "moment"):
                role = (
                    "path"
                    if _FILE_HINTS.search(said) and not _MOMENT_WORDS.search(said)
                    else "moment"
                    if _MOMENT_WORDS.search(said)
                    else "text"
                )
            if role == "count":
                return "text"
            if role == "address" and not re.search(r"(?i)\bip\b|ipv|host|address to look", said):
                role = "place"
            return role
    return "text"


def _number_role(parts: Sequence[str], said: str) -> str:
    unit = unit_of(parts, said, "integer")
    if unit[0]:
        return unit[0]
    last = parts[-1] if parts else ""
    if "port" in parts:
        return "port"
    if last in ("prefix", "prefixlen"):
        return "prefix"
    if last == "id" or last == "year" or last == "status":
        return last
    if last in ("limit", "top", "count", "num", "n") or parts[:1] in (
        ("num",),
        ("max",),
        ("number",),
    ):
        return "count"
    return "number"


def unit_of(parts: Sequence[str], said: str, kind: str) -> tuple[str, float]:
    """Return the unit of a numeric input by its name, else by "in minutes" in its description."""
    if kind not in ("integer", "number", "float"):
        return "", 1.0
    for table, name in ((_TIME, "duration"), (_SIZE, "size")):
        for word in reversed(parts):
            if word in table and not (word == "year" or word in ("day", "month", "hour", "minute")):
                return name, table[word]
    if _PERCENT & set(parts):
        return "percent", 1.0
    found = re.search(r"(?i)\b(?:in|of|number of) (\w+)", said)
    if found:
        word = found[1].lower()
        if word in _TIME and word.endswith("s"):
            return "duration", _TIME[word]
        if word in _SIZE:
            return "size", _SIZE[word]
    return "", 1.0


_REGION = re.compile(r"\b([A-Z][\w.]+(?: [A-Z][\w.]+)*, [A-Z]{2})\b")
_TYPE_WORDS = frozenset(
    ["ip", "address", "url", "domain", "name", "host", "email", "phone", "id", "code", "number", "date", "time", "title", "content", "type", "status", "location", "city", "value", "text"]
)
"""An example of these words alone is a kind of value, not a value."""
_NO_EXAMPLES = frozenset(["etc", "etc.", "all", "any", "none", "other", "others", "default", "dontcare"])


def _examples(name: str, description: str) -> tuple[str, ...]:
    """Return the values that a description lists: in quotes, or behind "e.g." and the like."""
    found = [next(filter(None, match)) for match in _LISTED.findall(description)]
    rest = _LISTED.sub("\0", description)
    found.extend(_REGION.findall(rest))
    rest = _REGION.sub("\0", rest)
    for text in (*_AFTER_COLON.findall(rest), *_AS_EXAMPLE.findall(rest)):
        parts = re.split(r",\s*(?:or |and )?|\s+or\s+|\s+and\s+|/", text)
        found.extend(part.strip(" '\"`") for part in parts if 1 < len(part.strip()) <= 30)
    own = set(words(name))
    return tuple(
        one
        for one in dict.fromkeys(found)
        if "\0" not in one
        and one.lower() not in _NO_EXAMPLES
        and not set(words(one)) <= own | _TYPE_WORDS
    )


def wants_region(description: str, examples: Sequence[str]) -> bool:
    """Return True if the description asks for `City, State`."""
    asked = re.search(r"(?i)city,? (?:and )?(?:state|country)|city, st\b", description)
    return asked is not None or any(re.search(r"\w, [A-Z]", one) for one in examples)
