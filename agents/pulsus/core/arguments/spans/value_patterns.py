"""The patterns of the typed values of a request, joined to one expression that reads it once. Pure.

The first rule that fits takes the text. All repeats are bounded, or end at a character that starts
no other match, so the time for a hostile request grows with its length only. `find_spans.py` uses
it. Patterns of values for ranking are in `core/text/literals.py`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Final

from pulsus.core.arguments.spans.number_words import NUMBER_WORDS, UNITS
from pulsus.core.arguments.spans.span import UNMISTAKABLE
from pulsus.late_pattern import DIGITS, late_pattern, may_match

NUMBER: Final = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"

_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_ENDINGS = (
    "log|txt|md|csv|tsv|json|jsonl|ya?ml|toml|xml|html?|ini|cfg|conf|cnf|env|sql|db|sqlite|py|sh|js"
    "|ts|java|c|h|cpp|go|rs|pem|crt|cer|key|tar|tgz|gz|zip|bz2|xz|zst|7z|iso|img|bak|old|prom|pdf"
    "|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|mp3|mp4|wav|sha256|sha512|md5|parquet|lock|rules|out|err"
)
_TOP_LEVEL = (
    "com|net|org|io|dev|local|internal|lan|example|test|edu|gov|co|uk|de|eu|ai|app|cloud|corp"
    "|intern|home|arpa|invalid"
)
_SYSTEMD_UNIT = r"[A-Za-z0-9][\w.:@-]{0,80}\.(?:service|timer|socket|target|mount)(?![\w-])(?!\.\w)"
"""A unit of systemd is the name of something that runs, and no file in the working folder."""
_PLACES = ("in", "into", "below", "under", "inside", "within", "from")
_BEHIND_PLACE = "|".join(
    rf"(?<=\b{word} )"
    for word in (
        *(*_PLACES, "folder", "directory", "dir", "path", "file"),
        *("put", "archive", "pack", "compress", "zip", "gzip", "up"),
    )
)
_PAIR = (
    "(?:and/or|read/write|input/output|in/out|on/off|yes/no|client/server|true/false|start/stop"
    "|he/she|his/her|tcp/(?:ip|udp)|udp/tcp|km/h|either/or"
    r"|(?:files?|folders?|director(?:y|ies))/\w+)"
)
"""Words with a slash between them that are no path."""
_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_WORDS = "|".join(sorted((*NUMBER_WORDS, "a", "an"), key=len, reverse=True))
_DOTTED = r"\d{1,3}(?:\.\d{1,3}){3}"
_COLONS = r"[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}"


def _any_case(*alternatives: str) -> str:
    return f"(?i:{'|'.join(alternatives)})"


def _one_of(*alternatives: str) -> str:
    return "|".join(alternatives)


_RULES: tuple[tuple[str, str], ...] = (
    (
        "quoted",
        _one_of(
            r"\"[^\"\n]{1,400}\"",
            r"`[^`\n]{1,400}`",
            r"“[^”\n]{1,400}”",
            r"(?<!\w)'[^'\n]{1,400}'(?!\w)",
            r"\"[^\"\n]{2,400}\Z",
        ),
    ),
    ("url", _any_case(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s\"'<>]+")),
    ("email", rf"\b(?!{_SYSTEMD_UNIT})[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}}){{1,5}}"),
    (
        "cron",
        r"(?<!\S)(?:[\d*/,\-]{1,20}[ \t]){4}"
        r"(?:[\d*/,\-]{1,20}|(?i:sun|mon|tue|wed|thu|fri|sat)[\w,\-]{0,20})(?!\S)",
    ),
    ("network", rf"(?<![\w.])(?:{_DOTTED}|{_COLONS})/\d{{1,3}}(?![\w.])"),
    ("address", rf"(?<![\w.:])(?:{_DOTTED}(?::\d{{1,5}})?|{_COLONS})(?![\w:])"),
    (
        "datetime",
        r"\b\d{4}-\d{2}-\d{2}"
        r"(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?(?![\w-])",
    ),
    ("prefix", r"(?<![\w/.])/\d{1,3}s?(?![\w/.])"),
    (
        "path",
        _one_of(
            r"(?<![\w:/~.$])(?:~[\w-]{0,32}|\.{1,2})?/(?:[^\s,;\"'()?]|[,?](?=\S))*",
            r"(?<![\w/.])[\w.-]{1,255}/(?:[\w.*-]{1,255}/){0,64}[\w-]*"
            r"(?:\.[\w-]{1,40}){0,4}\.\w{1,8}(?!\w)",
            # A folder whose name ends with a slash: `play/`.
            r"(?<![\w/.~$@:-])(?:[A-Za-z_.][\w.-]{1,80}/){1,16}(?=[\s,;:!?)]|\.(?:\s|$)|$)",
            r"\b[A-Za-z]:\\[^\s\"']+",
            # Without an ending only behind a word for a place: `in logs/old`, `folder a/b`.
            rf"(?:{_BEHIND_PLACE})(?!{_PAIR}\b)[a-z_.][\w.-]{{0,80}}(?:/[a-z_.][\w.-]{{0,80}}){{1,16}}/?",
        ),
    ),
    (
        "glob",
        _one_of(
            r"(?<![\w*])[\w.\-]{0,40}[*?][\w.*?\-]{0,40}\.[\w.*?]{1,20}",
            r"(?<![\w*])\*\.[\w.*?]{1,20}",
            r"(?<![\w*])[\w.\-]{1,40}\*(?![\w*])",
        ),
    ),
    (
        "file",
        _one_of(
            rf"(?<![\w/@.])(?:[\w+-][\w+.-]{{0,80}})?\.(?i:{_ENDINGS})"
            r"(?:\.(?:example|sample|template|dist))?(?![\w-])(?!\.\w)",
            r"\b(?:[A-Z]{3,10}SUMS|Dockerfile|Makefile|sshd?_config)\b",
        ),
    ),
    (
        "host",
        _any_case(
            rf"(?<![\w.@-])(?!{_SYSTEMD_UNIT})(?:[a-z0-9-]{{1,63}}\.){{1,8}}"
            # A longer name whole: `example.com.au` is another host than `example.com`.
            rf"(?:{_TOP_LEVEL})(?:\.[a-z0-9-]{{1,63}}){{0,4}}(?::\d{{1,5}})?(?![\w-])",
            r"(?<![\w.@/:-])localhost(?::\d{1,5})?(?![\w.-])",
            # Any name with a port: `redis-2.prod:6379`, `bastion:22`.
            r"(?<![\w.@/:-])[a-z][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){0,8}:\d{2,5}(?![\w:-])",
        ),
    ),
    (
        "date",
        _any_case(
            rf"\b{_MONTH}\.?[ ]{_DAY}(?:,?[ ]\d{{4}})?(?!\w)",
            rf"\b{_DAY}(?:[ ]of)?[ ]{_MONTH}(?:,?[ ]\d{{4}})?(?!\w)",
            r"\b\d{1,2}/\d{1,2}/\d{2,4}(?!\w)",
            r"\b\d{1,2}\.\d{1,2}\.\d{4}(?!\w)",
            r"\b\d{4}/\d{1,2}/\d{1,2}(?!\w)",
            rf"\b{_MONTH},?[ ]\d{{4}}(?!\w)",
        ),
    ),
    (
        "clock",
        _any_case(
            r"\b\d{1,2}:\d{2}(?::\d{2})?"
            r"(?:[ ]?[ap]\.?m\b\.?|[ ](?:in the|at)[ ](?:morning|afternoon|evening|night))?",
            r"\b\d{1,2}[ ]?[ap]\.?m\b",
            r"\bnoon\b",
            r"\bmidnight\b",
            r"\b(?:half|quarter) (?:past|to) \w+\b",
        ),
    ),
    ("sysctl", r"\b(?:vm|net|kernel|fs|dev|user)\.[a-z0-9_]+(?:\.[a-z0-9_*]+)*"),
    ("money", rf"[$€£][ ]?{NUMBER}(?:[ ]?(?i:k|thousand|million|billion|m|bn)\b)?"),
    ("age_option", r"(?<!\S)-[acm](?:time|min)[ ]+[-+]?\d{1,6}(?!\S)"),
    ("version", r"(?<![\w.])v?\d+\.\d+(?:\.\d+)+(?![\w.])"),
    (
        "measure",
        _any_case(
            rf"(?<![\w.])(?:{NUMBER}[ -]?|(?:{_WORDS})[ -](?:a[ ]|an[ ]|of[ ])?)(?:{_UNIT})(?!\w)"
        ),
    ),
    ("with_unit", r"(?<![\w.,^/-])\d+(?:\.\d+)?(?:[A-Za-z°²³]{1,5}|°[ ]?[CF])(?![\w-])"),
    (
        "number",
        rf"(?<![\w.^#])(?:{NUMBER})(?:[ ]?(?:(?i:thousand|million|billion|mn|bn)|k)\b)?"
        r"(?:(?i:st|nd|rd|th|s|x)\b)?(?!\w|[.]\d)",
    ),
    ("assign", r"(?<!\w)[A-Za-z_]\w{0,30}[ ]?=[ ]?[-+]?[\w.]{1,40}"),
    (
        "identifier",
        _one_of(
            rf"(?<![\w./@:-]){_SYSTEMD_UNIT}",
            r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*(?![\w-])",
            r"\b[a-z]+(?:_[a-z0-9]+)+\b",
            r"\b[a-z]+(?:[A-Z][a-z0-9]+)+\b",
            r"\b(?:[A-Z][a-z0-9]+){2,}\b",
            r"\b[A-Z]{2,}(?:[-_][A-Z0-9]+)*\b",
        ),
    ),
    ("word", r"[^\W\d_](?:[\w'’&]|-(?=\w)|\.(?=\w)){0,60}\.?(?=\W|$)|\w+"),
)

_SIGNS: Final[Mapping[str, tuple[str, ...]]] = {
    "quoted": ('"', "`", "“", "'"),
    "url": ("://",),
    "email": ("@",),
    "cron": (*DIGITS, "*", "/", ",", "-"),
    "network": ("/",),
    "address": (".", ":"),
    "datetime": DIGITS,
    "prefix": ("/",),
    "path": ("/", "\\"),
    "glob": ("*", "?"),
    "file": (".", "sums", "dockerfile", "makefile", "ssh_config", "sshd_config"),
    "host": (".", ":", "localhost"),
    "date": DIGITS,
    "clock": (*DIGITS, "noon", "midnight", "half", "quarter"),
    "sysctl": (".",),
    "money": ("$", "€", "£"),
    "age_option": ("-atime", "-ctime", "-mtime", "-amin", "-cmin", "-mmin"),
    "version": (".",),
    "measure": (*DIGITS, *NUMBER_WORDS, "a ", "a-", "an ", "an-"),
    "with_unit": DIGITS,
    "number": DIGITS,
    "assign": ("=",),
}
"""Texts in lower case. Each value of a kind has one of its texts; the other kinds have none."""


def value_pattern(request: str) -> re.Pattern[str]:
    """Return the expression with one match for each value or word of a request.

    The name of the group is the kind. It has the rules that may fit this request, in their order:
    to compile all of them takes longer than to read it.
    """
    kinds = [k for k, _ in _RULES if k not in _SIGNS or may_match(request, _SIGNS[k])]
    return _join_rules(tuple(kinds))


@functools.lru_cache(maxsize=64)
def _join_rules(kinds: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{kind}>{rule})" for kind, rule in _RULES if kind in kinds))


SYSTEMD_UNIT: Final = late_pattern(_SYSTEMD_UNIT)
INSIDE_QUOTES: Final = late_pattern(
    "|".join(f"(?P<{k}>{r})" for k, r in _RULES if k in UNMISTAKABLE or k == "datetime")
)
MEASURE: Final = late_pattern(rf"(?i)({NUMBER}|{_WORDS})[ -]?(?:a |an |of )?({_UNIT})\Z")
