"""Find the typed values in a request: paths, hosts, numbers, sizes, dates, names (one pass). Pure.

A span is a place in the request with one reading. A place may have several: `404` is a number, and
in `/27` the same digits are a prefix length. Which input takes which is decided later (filler.py).
Addresses and dates are read by the standard library before they count as one.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from pulsus.core.arguments.dates import iso_date, read_clock
from pulsus.fast_dataclass import dataclass

MAX_CHARS = 4000
"""The length of a request that is read for values: in a longer one nothing is filled."""
MAX_SPANS = 120

FIRM = frozenset(
    ("url", "email", "cron", "network", "address", "path", "file", "host", "glob", "sysctl")
)
"""Kinds that are written like nothing else: what lies inside such a span is no span of its own."""

_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("seconds", 1.0)),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), ("seconds", 0.001)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), ("seconds", 60.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("seconds", 3600.0)),
    **dict.fromkeys(("d", "day", "days"), ("seconds", 86400.0)),
    **dict.fromkeys(("w", "week", "weeks"), ("seconds", 604800.0)),
    **dict.fromkeys(("month", "months"), ("seconds", 2629800.0)),
    **dict.fromkeys(("y", "year", "years", "yr", "yrs"), ("seconds", 31557600.0)),
    **dict.fromkeys(("b", "byte", "bytes"), ("bytes", 1.0)),
    **dict.fromkeys(("kb", "kib", "kilobyte", "kilobytes"), ("bytes", 1024.0)),
    **dict.fromkeys(("mb", "mib", "megabyte", "megabytes", "meg"), ("bytes", 1024.0**2)),
    **dict.fromkeys(("gb", "gib", "gigabyte", "gigabytes", "gig", "gigs"), ("bytes", 1024.0**3)),
    **dict.fromkeys(("tb", "tib", "terabyte", "terabytes"), ("bytes", 1024.0**4)),
    **dict.fromkeys(("%", "percent", "per cent", "pct"), ("percent", 1.0)),
}
_SCALES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9}
_SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_TEENS = ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"]
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80}
NUMBER_WORDS: dict[str, float] = {
    **{word: float(n) for n, word in enumerate((*_SMALL, *_TEENS))},
    **{word: float(n) for word, n in _TENS.items()},
    **{"ninety": 90.0, "hundred": 100.0, "dozen": 12.0, "half": 0.5, "once": 1.0, "twice": 2.0},
    **{"couple": 2.0, "single": 1.0},
}
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_ENDINGS = (
    "log|txt|md|csv|tsv|json|jsonl|ya?ml|toml|xml|html?|ini|cfg|conf|cnf|env|sql|db|sqlite|py|sh|js"
    "|ts|java|c|h|cpp|go|rs|pem|crt|cer|key|tar|tgz|gz|zip|bz2|xz|zst|7z|iso|img|bak|old|prom|pdf"
    "|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|mp3|mp4|wav|sha256|sha512|md5|parquet|lock|service|rules"
)
_NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_WORDS = "|".join(sorted((*NUMBER_WORDS, "a", "an"), key=len, reverse=True))

# In this order: the first that fits takes the text. Repeats are bounded: a request may be hostile.
_RULES: tuple[tuple[str, str], ...] = (
    ("quoted", r"\"[^\"\n]{1,400}\"|`[^`\n]{1,400}`|“[^”\n]{1,400}”|(?<!\w)'[^'\n]{1,400}'(?!\w)|\"[^\"\n]{2,400}\Z"),
    ("url", r"(?i:\b[a-z][a-z0-9+.-]{1,15}://[^\s\"'<>]+)"),
    ("email", r"\b[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}"),
    ("cron", r"(?<!\S)(?:[\d*/,\-]{1,20}[ \t]){4}(?:[\d*/,\-]{1,20}|(?i:sun|mon|tue|wed|thu|fri|sat)[\w,\-]{0,20})(?!\S)"),
    ("network", r"(?<![\w.])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})/\d{1,3}(?![\w.])"),
    ("address", r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})(?![\w:])"),
    ("datetime", r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?(?![\w-])"),
    ("prefix", r"(?<![\w/.])/\d{1,3}(?![\w/.])"),
    ("path", r"(?<![\w:/~.$])(?:~|\.{1,2})?/(?:[^\s,;\"'()?]|[,?](?=\S))*|(?<![\w/.])[\w.-]+/(?:[\w.*-]+/)*[\w-]*\.\w{1,8}(?!\w)|\b[A-Za-z]:\\[^\s\"']+"),
    ("glob", r"(?<![\w*])[\w.\-]{0,40}[*?][\w.*?\-]{0,40}\.[\w.*?]{1,20}|(?<![\w*])\*\.[\w.*?]{1,20}|(?<![\w*])[\w.\-]{1,40}\*(?![\w*])"),
    ("file", rf"(?<![\w/@.])(?:[\w+-][\w+.-]{{0,80}})?\.(?i:{_ENDINGS})(?![\w-])(?!\.\w)|\b(?-i:[A-Z]{{3,10}}SUMS|Dockerfile|Makefile)\b"),
    ("host", r"(?i:(?<![\w.@-])(?:[a-z0-9-]{1,63}\.){1,8}(?:com|net|org|io|dev|local|internal|lan|example|test|edu|gov|co|uk|de|eu|ai|app|cloud|corp|intern|home|arpa)(?::\d{1,5})?(?![\w-]))"),
    ("date", rf"(?i:\b{_MONTH}\.?[ ]{_DAY}(?:,?[ ]\d{{4}})?(?!\w)|\b{_DAY}(?:[ ]of)?[ ]{_MONTH}(?:,?[ ]\d{{4}})?(?!\w)|\b\d{{1,2}}/\d{{1,2}}/\d{{2,4}}(?!\w)|\b\d{{1,2}}\.\d{{1,2}}\.\d{{4}}(?!\w)|\b\d{{4}}/\d{{1,2}}/\d{{1,2}}(?!\w)|\b{_MONTH},?[ ]\d{{4}}(?!\w))"),
    ("clock", r"(?i:\b\d{1,2}:\d{2}(?::\d{2})?(?:[ ]?[ap]\.?m\b\.?|[ ](?:in the|at)[ ](?:morning|afternoon|evening|night))?|\b\d{1,2}[ ]?[ap]\.?m\b|\bnoon\b|\bmidnight\b|\b(?:half|quarter) (?:past|to) \w+\b)"),
    ("sysctl", r"\b(?:vm|net|kernel|fs|dev|user)\.[a-z0-9_]+(?:\.[a-z0-9_*]+)*"),
    ("money", rf"[$€£][ ]?{_NUMBER}(?:[ ]?(?i:k|thousand|million|billion|m|bn)\b)?"),
    ("version", r"(?<![\w.])v?\d+\.\d+(?:\.\d+)+(?![\w.])"),
    ("measure", rf"(?i:(?<![\w.])(?:{_NUMBER}[ -]?|(?:{_WORDS})[ -](?:a[ ]|an[ ]|of[ ])?)(?:{_UNIT})(?![\w]))"),
    ("with_unit", r"(?<![\w.,^/-])\d+(?:\.\d+)?(?:[A-Za-z°²³]{1,5}|°[ ]?[CF])(?![\w-])"),
    ("number", rf"(?<![\w.^#])(?:{_NUMBER})(?:[ ]?(?:(?i:thousand|million|billion|mn|bn)|k)\b)?(?:(?i:st|nd|rd|th|s|x)\b)?(?![\w]|[.]\d)"),
    ("assign", r"(?<![\w])[A-Za-z_]\w{0,30}[ ]?=[ ]?[-+]?[\w.]{1,40}"),
    ("identifier", r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*(?![\w-])|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b|\b[A-Z]{2,}(?:[-_][A-Z0-9]+)*\b"),
    ("word", r"[^\W\d_](?:[\w'’&]|-(?=\w)|\.(?=\w)){0,60}\.?(?=\W|$)|\w+"),
)  # fmt: skip
_PATTERN = re.compile("|".join(f"(?P<{kind}>{rule})" for kind, rule in _RULES))
_INNER = re.compile("|".join(f"(?P<{k}>{r})" for k, r in _RULES if k in FIRM | {"datetime"}))
_MEASURE = re.compile(rf"(?i)({_NUMBER}|{_WORDS})[ -]?(?:a |an |of )?({_UNIT})\Z")
_TODAY = re.compile(
    r"(?i)\btoday(?:'s)?(?: date)?(?: is)?[ ,]*(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,?)?[ ]*(?:the )?\Z"
)
_OTHER = re.compile(r" (?:other|more|another|of the|by one)\b")
_TRAILING = ".,;:!?)]}»”’'\""


@dataclass(frozen=True, slots=True)
class Span:
    """One reading of `request[start:end]`.

    `kind` is a kind of _RULES or a part of one (`port`, `name`, `phrase`). `value` is its value as
    it stands, `unit` the unit of a measure with the amount in base units as `value` (seconds,
    bytes, percent). `quoted` says that it stood in quotes.
    """

    kind: str
    start: int
    end: int
    text: str
    value: str | float
    unit: str = ""
    quoted: bool = False
    glued: bool = False
    """True for a word with a sign behind it that belongs to it (`C#`, `C++`)."""


def find_spans(request: str) -> tuple[list[Span], list[Span]]:
    """Return the values of a request, and its plain words in order."""
    spans: list[Span] = []
    words: list[Span] = []
    for match in _PATTERN.finditer(request[:MAX_CHARS]):
        kind = match.lastgroup or ""
        if kind == "word":
            words.append(_word(match))
            word = match.group().lower().rstrip(".")
            if (word in NUMBER_WORDS or word in _ORDINALS) and not _OTHER.match(
                request, match.end()
            ):
                cardinal = word in NUMBER_WORDS
                number = NUMBER_WORDS[word] if cardinal else _ORDINALS.index(word) + 1.0
                reading = "numeral" if cardinal else "ordinal"
                spans.append(Span(reading, match.start(), match.end(), match.group(), number))
            continue
        if kind in ("date", "datetime") and _TODAY.search(request[: match.start()][-40:]):
            continue  # it says when the request was made
        if kind == "number" and request[match.end() :][:4].lower().strip(" ") in ("pi", "π"):
            continue
        spans.extend(_READERS.get(kind, _plain_reading)(kind, match.group(), match.start()))
        if kind == "identifier":
            words.append(_word(match))
        elif kind == "measure":
            words.extend(_words_of_measure(match))
    return spans[:MAX_SPANS], words


def _word(match: re.Match[str]) -> Span:
    text = match.group().rstrip(".")
    glued = match.string[match.end() : match.end() + 1] in ("#", "+")
    return Span("word", match.start(), match.start() + len(text), text, text, glued=glued)


def _words_of_measure(match: re.Match[str]) -> Iterator[Span]:
    for word in re.finditer(r"[^\W\d_]+", match.group()):
        start = match.start() + word.start()
        yield Span("word", start, start + len(word.group()), word.group(), word.group())


def _plain_reading(kind: str, text: str, start: int) -> Iterator[Span]:
    kept = text.rstrip(_TRAILING) if kind in ("url", "path", "file") else text
    if kept and not (kind == "url" and "{" in kept):  # a template is no address
        yield Span(kind, start, start + len(kept), kept, kept)


def _quoted(_: str, text: str, start: int) -> Iterator[Span]:
    closed = text[-1] in "\"'`”" and len(text) > 1
    inner = text[1:-1] if closed else text[1:].rstrip(".?! ")
    if not inner.strip():
        return
    found = _INNER.fullmatch(inner)
    if found and found.lastgroup:
        reader = _READERS.get(found.lastgroup, _plain_reading)
        for span in reader(found.lastgroup, inner, start + 1):
            yield Span(span.kind, span.start, span.end, span.text, span.value, span.unit, True)
    elif re.fullmatch(_NUMBER, inner):
        for span in _number("number", inner, start + 1):
            yield Span("number", span.start, span.end, span.text, span.value, quoted=True)
    yield Span("quoted", start + 1, start + 1 + len(inner), inner, inner, quoted=True)


def _address(_: str, text: str, start: int) -> Iterator[Span]:
    host, port, at = text, "", 0
    if text.count(":") == 1:
        host, _, port = text.partition(":")
        at = start + len(host) + 1
    try:
        value = str(ipaddress.ip_address(host))
    except ValueError:
        return
    yield Span("address", start, start + len(host), host, value)
    if port.isdecimal() and 0 < int(port) < 65536:
        yield Span("port", at, at + len(port), port, float(port))


def _network(_: str, text: str, start: int) -> Iterator[Span]:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return
    yield Span("network", start, start + len(text), text, text)


def _host(_: str, text: str, start: int) -> Iterator[Span]:
    host, _, port = text.partition(":")
    yield Span("host", start, start + len(host), host, host)
    if port and 0 < int(port) < 65536:
        at = start + len(host) + 1
        yield Span("port", at, at + len(port), port, float(port))


def _prefix(_: str, text: str, start: int) -> Iterator[Span]:
    if int(text[1:]) <= 128:
        yield Span("prefix", start + 1, start + len(text), text[1:], float(text[1:]))


def _measure(_: str, text: str, start: int) -> Iterator[Span]:
    parts = _MEASURE.match(text)
    if not parts:
        return
    amount, unit = parts[1].lower(), parts[2].lower()
    number = 1.0 if amount in ("a", "an") else NUMBER_WORDS.get(amount)
    number = float(amount.replace(",", "")) if number is None else number
    base, factor = _UNITS[unit]
    name = "size" if base == "bytes" else "percent" if base == "percent" else "duration"
    if amount not in ("a", "an"):  # the bare number comes first: `20 days` for an input `days`
        end = start + len(parts[1])
        if parts[1][-1:].isdigit() or len(parts[1]) > 1:
            yield Span("counted", start, end, parts[1], number, unit)
    yield Span(name, start, start + len(text), text, number * factor, unit)


def _number(_: str, text: str, start: int) -> Iterator[Span]:
    found = re.match(rf"({_NUMBER})[ ]?([A-Za-z]*)", text)
    if not found:
        return
    tail = found[2].lower()
    number = float(found[1].replace(",", "")) * _SCALES.get(tail, 1.0)
    kind = "ordinal" if tail in ("st", "nd", "rd", "th") else "number"
    yield Span(kind, start, start + len(text), text, number, tail if tail in ("s", "x") else "")


def _with_unit(_: str, text: str, start: int) -> Iterator[Span]:
    """`440Hz`, `10kg` and `4th`: a number with letters, and a word."""
    found = re.match(r"([\d.]+)(.*)", text)
    if not found:
        return
    tail = found[2].strip().lower()
    kind = "ordinal" if tail in ("st", "nd", "rd", "th") else "counted"
    scaled = tail in _SCALES and found[2].strip() != "K"  # `298K` is a temperature
    number = float(found[1].rstrip(".")) * (_SCALES[tail] if scaled else 1.0)
    unit = "" if scaled else tail
    yield Span("number" if not unit else kind, start, start + len(text), text, number, unit)
    if kind != "ordinal":
        yield Span("identifier", start, start + len(text), text, text)


def _money(_: str, text: str, start: int) -> Iterator[Span]:
    found = re.search(rf"({_NUMBER})[ ]?([A-Za-z]*)", text)
    if found:
        scale = {"m": 1e6, **_SCALES}.get(found[2].lower(), 1.0)
        yield Span(
            "money", start, start + len(text), text, float(found[1].replace(",", "")) * scale
        )


def _assign(_: str, text: str, start: int) -> Iterator[Span]:
    name, _, value = text.partition("=")
    shown = value.strip()
    at = start + len(text) - len(shown)
    number = re.fullmatch(_NUMBER, shown)
    read = float(shown.replace(",", "")) if number else shown
    yield Span("assign", at, at + len(shown), shown, read, name.strip().lower())


def _date(kind: str, text: str, start: int) -> Iterator[Span]:
    value = text if kind == "datetime" and ":" in text else iso_date(text) or text
    yield Span("date", start, start + len(text), text, value, kind)


def _clock(_: str, text: str, start: int) -> Iterator[Span]:
    shown = text.strip()
    time = read_clock(shown)
    if time:
        yield Span("clock", start, start + len(shown), shown, time)


_FIELD = r"(?:\*|\d{1,2}(?:-\d{1,2})?)(?:/\d{1,2})?"
_CRON = re.compile(
    rf"{_FIELD}(?:,{_FIELD})*(?:[ \t]{_FIELD}(?:,{_FIELD})*){{3}}[ \t](?:{_FIELD}(?:,{_FIELD})*|[A-Za-z,-]+)\Z"
)
_MOST = (59, 23, 31, 12, 7)


def _cron(kind: str, text: str, start: int) -> Iterator[Span]:
    """A schedule; what only looks like one is read again as numbers."""
    numbers = [map(int, re.findall(r"\d+", field)) for field in text.split()]
    fits = all(n <= most for field, most in zip(numbers, _MOST, strict=True) for n in field)
    if _CRON.match(text) and fits:
        yield Span(kind, start, start + len(text), text, text)
        return
    for number in re.finditer(_NUMBER, text):
        yield from _number("number", number.group(), start + number.start())


_READERS = {
    "cron": _cron,
    "quoted": _quoted, "address": _address, "network": _network, "host": _host, "prefix": _prefix,
    "measure": _measure, "with_unit": _with_unit, "number": _number, "money": _money, "assign": _assign, "date": _date,
    "datetime": _date, "clock": _clock,
}  # fmt: skip
