"""Values in a request: addresses, paths, file names, quoted text, numbers (spec §4).

A value says what kind of thing a request is about (`10.0.0.0/22`: a subnet), hardly which tool it
wants: its own words weigh less than the words around it, and plain numbers nothing. Typed values
for inputs are read in `core/arguments/spans/find_spans.py`.
"""

from __future__ import annotations

import re

from pulsus.core.text.tokens import STOP_WORDS, words
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

OWN = 0.75
"""Weight of a word inside a value beside a word outside."""

KIND = 0.4
"""Weight of the kind of a value beside a word that names the kind."""

_ENDINGS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("tar", "tgz", "gz", "zip", "bz2", "xz", "zst", "7z"), ("archive",)),
    **dict.fromkeys(("pem", "crt", "cer"), ("certificate",)),
    **dict.fromkeys(("conf", "cfg", "ini", "cnf"), ("config",)),
    **dict.fromkeys(("yaml", "yml"), ("yaml",)),
    **dict.fromkeys(("log", "json", "csv", "toml", "xml", "html", "sql", "png", "pdf", "env"), ()),
    **dict.fromkeys(("txt", "md", "py", "sh", "js", "jsonl", "tsv", "iso", "img", "prom"), ()),
}
_ENDING = "|".join(sorted(_ENDINGS, key=len, reverse=True))

_PLAIN_FOLDER = r"[\w+@%=~.-]{1,80}"
_FOLDER = r"[\w+@%=~.*-]{1,80}/"
_SITE = r"(?:[a-z0-9-]{1,63}\.){1,4}(?:com|net|org|io|dev)\b"
_PAIR = (
    r"(?:and/or|either/or|read/write|input/output|in/out|on/off|yes/no|true/false|start/stop"
    r"|client/server|user/group|(?:files?|folders?|director(?:y|ies))/\w+|he/she|his/her|tcp/ip|tcp/udp|udp/tcp|km/h)\b"
)
"""Words with a slash between them that are no path."""
_BEHIND_PLACE = "|".join(
    rf"(?<=\b{word} )"
    for word in (
        *("in", "into", "below", "under", "inside", "within", "folder", "directory", "dir"),
        *("put", "archive", "pack", "compress", "zip", "gzip", "up"),
    )
)
_END = r"(?![\w/-])(?!\.\w)"
_RELATIVE = "|".join(
    (
        # With an ending: `play/m.csv`, `a/b/c.tar.gz`, `logs/*.log`.
        rf"(?<![\w/.~$@:-])(?!{_SITE})(?:{_FOLDER}){{1,16}}[\w+@%=~.*-]{{0,80}}"
        rf"\.(?:[a-z]\w{{1,7}}|[chdorsz7]z?){_END}",
        # A folder whose name ends with a slash, or begins with a dot: `play/`, `.config/app`.
        rf"(?<![\w/.~$@:-])(?!{_SITE})(?:{_FOLDER}){{1,16}}(?=[\s,;.:!?)]|$)",
        rf"(?<![\w/.~$@:-])\.[a-z][\w-]{{0,80}}(?:/{_PLAIN_FOLDER}){{1,16}}",
        # Without either only behind a word for a place: `in logs/old`.
        rf"(?:{_BEHIND_PLACE})(?!{_PAIR})"
        r"(?-i:[a-z_.][\w.-]{0,80}(?:/(?!s\b)[a-z_.][\w.-]{0,80}){1,16})",
    )
)
"""A path that begins in the working folder, as `and/or`, `24/7` and `TCP/IP` do not."""

# In this order: the first that fits takes the text. Repeats are bounded: a request may be hostile.
_KINDS: tuple[tuple[str, str], ...] = (
    ("quoted", r"\"[^\"]{1,400}\"|`[^`]{1,400}`|(?<!\w)'[^']{1,400}'(?!\w)"),
    (
        "ticket",
        r"(?-i:\b(?!(?:AES|CVE|EC|HTTP|IPV|ISO|MD|PKCS|RAID|RFC|RSA|SHA|SMB|TLS|USB|UTF)-)"
        r"[A-Z]{2,10}-\d{3,7}\b)",
    ),
    ("digest", r"\b(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})\b"),
    ("url", r"\bhttps?://\S+"),
    ("email", r"\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}"),
    ("cron", r"(?<!\S)(?:[\d*/,\-]{1,20}\s+){4}[\w*/,\-]{1,20}(?!\S)"),
    ("subnet", r"\b\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}\b"),
    ("ip", r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"),
    ("path", rf"(?<![^\s(\[=])(?:~[\w-]{{0,32}}|\.{{1,2}})?/[^\s,;]*|{_RELATIVE}"),
    ("file", rf"(?<![\w/])[\w-]{{0,64}}(?:\.[\w-]{{1,64}}){{0,4}}\.(?:{_ENDING})(?!\w)"),
    (
        "host",
        r"\b(?:[a-z0-9-]{1,63}\.){1,8}(?:com|net|org|io|dev|local|internal|lan|example|test"
        r"|corp|prod|stage|staging|cloud|intra|home|svc|de|eu|uk|fr|us)\b(?::\d{1,5}\b)?",
    ),
    ("port", r"(?<=\bon )\d{2,5}\b(?=\s*(?:$|[?,;.!)]|and\b|there\b|from\b|yet\b|tcp\b|udp\b))"),
    ("number", r"(?<![\w.])[-+]?\d+(?:[.,:/-]\d+)*%?(?!\w)"),
)
_VALUE = late_pattern("|".join(f"(?P<{kind}>{rule})" for kind, rule in _KINDS), re.IGNORECASE)

_MARK = late_pattern(r"[\"`/~@*]|(?<!\w)'|\.\w")
_SIGNS = frozenset("\"`/~@*'.")
_DIGIT = late_pattern(r"\d")
"""Every number and every schedule has a digit. It is looked for first: most requests have none."""

_WITHOUT_SIGNS = ("ticket", "digest", "cron", "port", "number")
_PLAIN = late_pattern("|".join(f"(?P<{k}>{r})" for k, r in _KINDS if k in _WITHOUT_SIGNS), re.I)

_SAYS: dict[str, tuple[str, ...]] = {
    "url": ("url", "http", "https"),
    "email": ("email",),
    "cron": ("cron", "schedule"),
    "digest": ("hash", "checksum", "digest"),
    "port": ("port",),
    "subnet": ("subnet", "network"),
    "ip": ("address", "host"),
    "path": ("path",),
    "file": ("file",),
    "host": ("host", "name"),
}


_WORDLESS = frozenset(("number", "cron", "ip", "subnet", "ticket", "digest", "port"))
_WITH_PORT = late_pattern(r":\d+$")


@dataclass(frozen=True, slots=True)
class Value:
    """One value as written, the words in it, and the words for the kind of thing it is."""

    text: str
    own: tuple[str, ...]
    kind: tuple[str, ...]


def cut_out_values(text: str) -> tuple[str, tuple[Value, ...]]:
    """Return the text with each value cut out (a space stays), and the values in order."""
    pattern = _VALUE
    if _SIGNS.isdisjoint(text) or not _MARK.search(text):
        if not _DIGIT.search(text):
            return text, ()
        pattern = _PLAIN
    values: list[Value] = []

    def cut(match: re.Match[str]) -> str:
        values.append(_value(match))
        return " "

    return pattern.sub(cut, text), tuple(values)


def _value(match: re.Match[str]) -> Value:
    kind, written = match.lastgroup or "", match.group()
    inside = [w for w in words(written) if w not in STOP_WORDS and not w.isdecimal()]
    endings = [w for w in inside if w in _ENDINGS] if kind in ("file", "path", "quoted") else []
    says = [*endings, *(word for e in endings for word in _ENDINGS[e]), *_SAYS.get(kind, ())]
    if kind in ("ip", "host") and _WITH_PORT.search(written):
        says.append("port")
    plain = () if kind in _WORDLESS else inside
    own = tuple(w for w in dict.fromkeys(plain) if w not in says)
    return Value(written, own, tuple(dict.fromkeys(says)))
