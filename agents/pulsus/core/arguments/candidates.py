"""The values of a request that one input may take, by its type and its role. Pure.

The role decides first (docs/arguments: a folder is never a number, a port has no unit); the weights
choose among what is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from rapidfuzz import fuzz

from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.spans import Span
from pulsus.core.text.tokens import STOP_WORDS, stem
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

_FILES = ("path", "file")
_KINDS_OF_ROLE: dict[str, tuple[str, ...]] = {
    "folder": ("path",),
    "path": ("path", "file"),
    "source": ("path", "file"),
    "host": (
        "host",
        "address",
        "identifier",
        "url",
        "quoted",
        "name",
        "numbered",
        "phrase",
        "part",
    ),
    "interface": ("identifier", "quoted", "name", "phrase", "part"),
    "address": ("address", "host"),
    "network": ("network", "address"),
    "url": ("url", "host"),
    "cron": ("cron",),
    "pattern": ("glob", "quoted", "sysctl", "file"),
    "port": ("port", "number"),
    "status": ("number", "counted"),
    "year": ("number", "counted"),
    "count": ("number", "numeral", "counted", "assign"),
    "prefix": ("prefix", "number"),
    "size": ("size", "counted", "number", "money"),
    "percent": ("percent", "counted", "number"),
    "duration": ("duration", "counted", "number", "numeral", "assign"),
    "moment": ("date", "datetime", "clock", "quoted"),
}
"""The kinds that a role may take at all; other roles take every kind that suits their type."""

_RANGES = {"status": (100, 599), "year": (1000, 2999), "port": (0, 65535), "prefix": (0, 128)}
"""The least and the greatest number of a role."""

_TEXT_KINDS = ["quoted", "name", "numbered", "region", "phrase", "part", "identifier", "url", "email", "path", "file", "host", "address", "network", "glob", "cron", "sysctl", "date", "datetime", "clock", "version", "assign", "number", "counted", "money", "percent"]
_NUMBER_KINDS = ["number", "numeral", "counted", "port", "prefix", "money", "percent", "size", "duration", "ordinal", "assign"]
_SYNONYMS = {
    "ram": "memory", "mem": "memory", "warn": "warning", "err": "error", "errors": "error",
    "yml": "yaml", "celsius": "c", "fahrenheit": "f", "proc": "process", "crit": "critical",
}  # fmt: skip
_TYPE_NAMES = frozenset(("id", "ids", "uuid", "api", "url", "ip"))
"""Words for a kind of value; they are none."""
_OPEN_CHOICES = frozenset(("", "all", "any", "none", "other", "default", "auto", "dontcare"))
_NEGATIONS = frozenset(
    ["no", "not", "without", "don't", "dont", "never", "exclude", "excluding", "except", "avoid", "skip", "isn't"]
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One value for an input. `kind` is that of its span; `spans` are the places it takes up."""

    place: int
    kind: str
    value: JsonValue
    spans: tuple[Span, ...]
    start: int
    end: int
    quoted: bool = False
    unit: str = ""
    alike: float = 1.0
    """For a choice: how well the words of the request match it, 0 to 1."""


def candidates_for(
    one: Input,
    spans: Sequence[Span],
    words: Sequence[Span],
    phrases: Sequence[Span],
    request: str,
    now: datetime | None = None,
) -> list[Candidate]:
    """Return the values that the input may take, at most one a place and value."""
    if not one.fillable or one.type == "object":
        return []
    found = _by_type(one, spans, words, phrases, request, now)
    seen: dict[tuple[int, int, str], Candidate] = {}
    for candidate in found:
        seen.setdefault((candidate.start, candidate.end, repr(candidate.value)), candidate)
    return list(seen.values())


def _by_type(
    one: Input,
    spans: Sequence[Span],
    words: Sequence[Span],
    phrases: Sequence[Span],
    request: str,
    now: datetime | None,
) -> Iterator[Candidate]:
    if one.type == "boolean":
        yield from _flags(one, words)
        return
    if one.choices and one.type != "array":
        yield from _choices(one, one.choices, "choice", spans, words)
        return
    if one.type == "array":
        yield from _lists(one, spans, words, phrases, request)
        return
    allowed = _KINDS_OF_ROLE.get(one.role)
    if one.type in ("integer", "number"):
        yield from _numbers(one, spans, allowed)
        return
    if one.examples:
        yield from _choices(one, one.examples, "listed" if one.listed else "example", spans, words)
    for span in (*spans, *phrases):
        if span.text.lower() in _TYPE_NAMES:
            continue
        if one.region and span.kind in ("name", "numbered", "phrase", "part", "identifier"):
            continue  # the description asks for `City, State`
        if span.kind in (allowed or _TEXT_KINDS):
            yield _text(one, span, now)
        if span.kind in ("phrase", "name") and (allowed is None or span.kind in allowed):
            yield from _behind_its_name(one, span)


def _make(one: Input, span: Span, value: JsonValue, kind: str = "") -> Candidate:
    return Candidate(
        one.place, kind or span.kind, value, (span,), span.start, span.end, span.quoted, span.unit
    )


def _numbers(
    one: Input, spans: Sequence[Span], allowed: Sequence[str] | None
) -> Iterator[Candidate]:
    for span in spans:
        if span.kind not in (allowed or _NUMBER_KINDS) or isinstance(span.value, str):
            continue
        value = _converted(one, span)
        if value is None:
            continue
        if one.type == "integer":
            if value != int(value) or abs(value) >= 1e15:
                continue
            value = int(value)
        kind = "share" if span.kind == "percent" and one.unit[0] != "percent" else ""
        yield _make(one, span, value, kind)


def _converted(one: Input, span: Span) -> float | None:
    """Return the number in the input's own unit; None if the unit does not suit it."""
    number = float(span.value)
    kind, factor = one.unit
    if span.kind == "money" and re.search(r"(?i)\bcents\b|\bsmallest unit\b", one.description):
        return None
    if one.role in _RANGES and not _RANGES[one.role][0] <= number <= _RANGES[one.role][1]:
        return None
    if kind == "percent" and span.kind in ("size", "duration"):
        return None
    if span.kind == "counted":
        measured = span.unit not in ("s", "")
        # `2 hours` for `hours`: the measure says the same with its unit, and is taken from it.
        return None if kind in ("duration", "size") and measured else number
    if span.kind in ("size", "duration"):
        if kind != {"size": "size", "duration": "duration"}[span.kind]:
            return None
        return round(number / factor, 9)
    if span.kind == "percent":
        return number / 100 if one.fraction else number
    return number


def _text(one: Input, span: Span, now: datetime | None = None) -> Candidate:
    if span.kind in ("date", "datetime"):
        with_time = re.search(
            r"(?i)dd[ t]hh:mm|\dT\d\d:\d\d|date and time|iso-?8601", one.description
        )
        no_year = "yyyy" in one.description.lower() and not str(span.value)[:4].isdecimal()
        kind = "part of date" if (with_time and ":" not in span.text) or no_year else span.kind
        return _make(one, span, _dated(one, span), kind)
    if span.kind in ("counted", "number", "money", "percent", "assign"):
        text = re.sub(r"[$€£,%]", "", span.text).strip() if span.kind != "assign" else span.text
        return _make(one, span, text)
    if one.formatted and ":" not in span.text and span.kind not in ("date", "datetime", "clock"):
        return _make(one, span, span.text, "unformatted")
    if span.kind == "clock":
        low = one.description.lower()
        asked = "hh:mm" in low or "24" in low or "iso" in low or re.search(r"\d\d:\d\d", low)
        return _make(one, span, _moment(one, span, now) if asked else span.text)
    if span.kind == "address":
        return _make(one, span, span.value)
    return _make(one, span, span.text)


def _moment(one: Input, span: Span, now: datetime | None) -> str:
    """Return a time of day as the last such moment before now, where a date belongs to it."""
    time = str(span.value)
    low = one.description.lower().replace("yyyy-mm-dd hh:mm:ss", "")
    if now is None or not re.search(r"\bdate|yyyy|moment|t\d\d:\d\d|iso", low):
        long = "hh:mm:ss" in low and not re.search(r"hh:mm(?!:ss)", low)
        return f"{time}:00" if long and time.count(":") == 1 else time
    at = datetime.combine(now.date(), datetime.strptime(time[:5], "%H:%M").time(), now.tzinfo)
    if at > now:
        at -= timedelta(days=1)
    return at.strftime("%Y-%m-%dT%H:%M")


def _behind_its_name(one: Input, span: Span) -> Iterator[Candidate]:
    """`user deploy` for an input `user`: the words behind its name."""
    words = [*re.finditer(r"\S+", span.text)]
    first = next(
        (n for n, word in enumerate(words) if stem(word.group().lower()) not in one.words), 0
    )
    if first:
        text = span.text[words[first].start() :]
        rest = Span("named", span.start + words[first].start(), span.end, text, text)
        yield _make(one, rest, text)


def _dated(one: Input, span: Span) -> str:
    """Return the date in the form that the description asks for, else as it is written."""
    iso = str(span.value)
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}.*", iso):
        return span.text
    low = one.description.lower()
    year, month, day = iso[:10].split("-")
    if "mm/dd/yyyy" in low:
        return f"{month}/{day}/{year}"
    if "dd/mm/yyyy" in low:
        return f"{day}/{month}/{year}"
    if "mm-dd-yyyy" in low:
        return f"{month}-{day}-{year}"
    if "dd-mm-yyyy" in low:
        return f"{day}-{month}-{year}"
    return iso if "yyyy" in low or "iso" in low or span.kind == "datetime" else iso


def _choices(
    one: Input,
    choices: Sequence[JsonValue],
    kind: str,
    spans: Sequence[Span],
    words: Sequence[Span],
) -> Iterator[Candidate]:
    """Choices that the request names: as words in order, by stem, or misspelt."""
    low = [w.text.lower() for w in words]
    stems = [stem(_SYNONYMS.get(w, w)) for w in low]
    for choice in choices:
        if isinstance(choice, bool) or choice is None or str(choice).lower() in _OPEN_CHOICES:
            continue
        text = str(choice)
        if isinstance(choice, int | float) or re.fullmatch(r"\d+(?:\.\d+)?", text):
            for span in spans:
                if not isinstance(span.value, str) and span.value == float(text):
                    yield _make(one, span, choice, kind)
            continue
        parts = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))
        wanted = [stem(_SYNONYMS.get(p.lower(), p.lower())) for p in parts]
        if not wanted or all(part.lower() in STOP_WORDS for part in parts):
            continue
        hit = False
        for n in range(len(stems) - len(wanted) + 1):
            if stems[n : n + len(wanted)] == wanted and not words[n + len(wanted) - 1].glued:
                hit = True
                exact = [w.lower() for w in parts] == low[n : n + len(wanted)]
                loose = "my" in low[max(0, n - 1) : n] or not _NEGATIONS.isdisjoint(
                    low[max(0, n - 4) : n]
                )
                how = f"negated {kind}" if loose else kind
                yield _choice(one, choice, how, words[n : n + len(wanted)], 1.0 if exact else 0.9)
        if not hit and kind == "choice":
            yield from _near(one, choice, kind, wanted, stems, words)
        for span in spans:
            if (
                span.kind in ("identifier", "quoted", "assign", "file", "path")
                and span.text.lower() == text.lower()
            ):
                yield Candidate(
                    one.place, kind, choice, (span,), span.start, span.end, span.quoted, "", 1.0
                )


def _near(
    one: Input,
    choice: JsonValue,
    kind: str,
    wanted: Sequence[str],
    stems: Sequence[str],
    words: Sequence[Span],
) -> Iterator[Candidate]:
    if len(wanted) == 1 and len(wanted[0]) >= 5:
        for n, found in enumerate(stems):
            score = fuzz.ratio(wanted[0], found, score_cutoff=84)
            if score:
                loose = not _NEGATIONS.isdisjoint(
                    [words[k].text.lower() for k in range(max(0, n - 4), n)]
                )
                how = f"negated {kind}" if loose else kind
                yield _choice(one, choice, how, words[n : n + 1], score / 125)
        return
    places = [stems.index(w) for w in wanted if w in stems]
    if len(wanted) > 1 and places and 2 * len(places) >= len(wanted):
        at = sorted(places)
        yield _choice(one, choice, kind, [words[p] for p in at], 0.6 * len(places) / len(wanted))


def _choice(
    one: Input, choice: JsonValue, kind: str, words: Sequence[Span], alike: float
) -> Candidate:
    spans = tuple(words)
    return Candidate(
        one.place, kind, choice, spans, spans[0].start, spans[-1].end, False, "", alike
    )


_FLAG_WORDS = frozenset(
    stem(w)
    for w in ["include", "is", "has", "have", "allow", "allowed", "enable", "enabled", "with", "use", "show", "required", "need", "flag", "only", "should", "accept", "accepts", "available", "for"]
)


def _flags(one: Input, words: Sequence[Span]) -> Iterator[Candidate]:
    """`True` where the request names the flag, `False` where it is negated."""
    low = [w.text.lower() for w in words]
    stems = [stem(w) for w in low]
    wanted = one.words - _FLAG_WORDS or one.words
    at = [n for n, found in enumerate(stems) if found in wanted]
    if not at or "mind" in low[max(0, min(at) - 6) : min(at)]:
        return
    share = len({stems[n] for n in at}) / len(wanted)
    first = min(at)
    negated = any(w in _NEGATIONS for w in low[max(0, first - 5) : max(at)])
    spans = tuple(words[n] for n in at)
    place = Candidate(
        one.place, "negated" if negated else "flag", not negated, spans,
        min(s.start for s in spans), max(s.end for s in spans), False, "", share,
    )  # fmt: skip
    yield place


def _lists(
    one: Input, spans: Sequence[Span], words: Sequence[Span], phrases: Sequence[Span], request: str
) -> Iterator[Candidate]:
    """Enumerations of values of one kind (`133 and 34`; `a, b and c`), and single values as a list."""
    if one.choices:
        members = list(_choices(one, one.choices, "choice", spans, words))
        yield from _joined(one, members, request)
        return
    if one.item in ("integer", "number"):
        numbers = [
            s for s in spans if s.kind in ("number", "numeral", "counted", "assign", "money")
        ]
        integral = one.item == "integer"
        members = [
            _make(one, s, int(s.value) if integral or s.value == int(s.value) else s.value)
            for s in numbers
            if not isinstance(s.value, str) and not (integral and s.value != int(s.value))
        ]
        yield from _joined(one, members, request)
        return
    if one.item != "string":
        return
    for kinds in (
        ("quoted",),
        ("name", "region"),
        ("identifier",),
        ("path", "file"),
        ("host", "address"),
        ("phrase",),
    ):
        members = [_text(one, s) for s in (*spans, *phrases) if s.kind in kinds]
        yield from _joined(one, members, request)
    if one.examples:
        yield from _joined(one, list(_choices(one, one.examples, "example", spans, words)), request)


_JOINS = re.compile(
    r"\s*(?:,|and|or|&|vs\.?|versus|,\s*and|,\s*or|plus|\"|')?\s*(?:\"|')?\s*(?:and|or|the|a|an)?\s*(?:\"|')?\s*\Z",
    re.IGNORECASE,
)


def _joined(one: Input, members: Sequence[Candidate], request: str) -> Iterator[Candidate]:
    ordered = sorted(members, key=lambda c: (c.start, -c.end))
    runs: list[list[Candidate]] = []
    for member in ordered:
        if runs and member.start < runs[-1][-1].end:
            continue
        if runs and _JOINS.match(request[runs[-1][-1].end : member.start].strip("[](){}")):
            runs[-1].append(member)
        else:
            runs.append([member])
    for run in runs:
        kind = f"{run[0].kind}s" if len(run) > 1 else f"single_{run[0].kind}"
        values: list[JsonValue] = [member.value for member in run]
        places = tuple(span for member in run for span in member.spans)
        yield Candidate(one.place, kind, values, places, run[0].start, run[-1].end, run[0].quoted)


def stands_beside(one: Candidate, other: Candidate, request: str) -> bool:
    """Return True if `other` follows `one` behind a comma or "and"."""
    between = request[one.end : other.start]
    return other.start >= one.end and bool(between.strip()) and _JOINS.match(between) is not None


def fit_of_kind(one: Input, kind: str) -> int:
    """Return how well a kind suits the role of an input: 0 is its own kind; 9 if it has none."""
    kinds = _KINDS_OF_ROLE.get(one.role)
    if kinds and one.role in ("moment", "count") and kind in kinds[:3]:
        return 0
    return kinds.index(kind) if kinds and kind in kinds else 9
