"""Redaction: remove (mask) secrets in text and JSON before it is written. The only redactor.

It hides three kinds of secrets: values after a name that announces one (`password=`), shapes of
secrets (tokens, PEM blocks, URL passwords), and values known from the environment, which are
registered here (`from_environment`). The rules of the first two are in `secret_rules/`, begun by
`core/telemetry/secret_rules/redaction_rules.py`; they see a text as it is read (`folded_text.py`),
and the bytes of dumps (`dumped_text.py`). A secret that a stream cuts in pieces is masked in
`execution/tool_secrets.py`. Text for a model is redacted in `llm/budgeted_model.py`. In doubt it
hides too much; no entropy is measured. Redacting twice changes nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from pulsus.core.telemetry.dumped_text import redact_dumped
from pulsus.core.telemetry.folded_text import redact_folded
from pulsus.late_pattern import late_pattern

if TYPE_CHECKING:
    from pulsus.core.types import JsonValue

MARK = "[redacted]"
MIN_KNOWN_CHARS = 8
"""Shorter environment values are too likely to be ordinary words."""

MIN_KEY_LINE = 20
"""A shorter line of a known value may be an ordinary one."""

_PLAIN_WORD = late_pattern(r"[A-Za-z0-9_]{0,15}")
"""A word that no rule hides: each needs more characters, or a sign. Most fields have such names."""

_PASSES = 6
_LEAST_LINES = 2

_MAY_BE_SECRET = late_pattern(
    r"(?i:(?:^|[_-])(?:pwd|pass|pin))\Z|[a-z](?:Pwd|Pass|Pin)\Z", words=("pwd", "pass", "pin")
)
"""A folder has such a name too, so the value decides."""

_SECRET_VARIABLE = late_pattern(
    r"(?:^|_)(?:API_KEY|TOKEN|SECRET|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY|PASSPHRASE)\Z"
    r"|PASSWORD\Z|PASSWD\Z|_PWD\Z",
    words=("key", "token", "secret", "passphrase", "password", "passwd", "_pwd"),
)


class Redactor:
    """Hides secrets; `known` are secret values to hide wherever they appear, however quoted.

    Values shorter than 8 characters, or that are part of the mark itself, are left alone.
    """

    def __init__(self, known: tuple[str, ...] = ()) -> None:
        spellings = {s for value in known for s in _list_spellings(value)}
        spellings |= {s for value in known for s in _list_lines(value)}
        usable = sorted((s for s in spellings if s not in MARK), key=lambda s: (-len(s), s))
        self._known = re.compile("|".join(map(re.escape, usable))) if usable else None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], also: Collection[str] = ()) -> Redactor:
        """Return a redactor that knows the variables in `also` and those named like a secret."""
        secret = _SECRET_VARIABLE.search
        return cls(tuple(v for k, v in environ.items() if k in also or secret(k.upper())))

    def redact(self, text: str) -> str:
        """Return `text` with every secret replaced by `[redacted]`."""
        if _PLAIN_WORD.fullmatch(text) and (self._known is None or not self._known.search(text)):
            return text
        from pulsus.core.telemetry.secret_rules.redaction_rules import RULES

        return self._apply_until_stable(text, RULES)

    def redact_derived(self, text: str) -> str:
        """Return text without known secrets and shapes of secrets, for text from redacted text.

        Names hide nothing here: in code that a model wrote, `token = parts[0]` is not a secret.
        """
        from pulsus.core.telemetry.secret_rules.redaction_rules import SHAPES

        return self._apply_until_stable(text, SHAPES)

    def redact_value(self, value: JsonValue) -> JsonValue:
        """Return the JSON value without secrets. A secret's name hides the whole value."""
        match value:
            case str():
                return self.redact(value)
            case list():
                return self._redact_list(value)
            case dict():
                named = _is_secret_row(value)
                return {
                    self.redact(k): MARK
                    if named and _VALUES.search(k)
                    else self._redact_member(k, v)
                    for k, v in value.items()
                }
            case _:
                return value

    def _redact_list(self, items: list[JsonValue]) -> list[JsonValue]:
        """Return the items without secrets. Texts are lines of one text, which has more secrets.

        A key, or a name and its value, may be in several lines. Each is also redacted alone.
        """
        from pulsus.core.telemetry.secret_rules.command_secrets import hide_in_arguments

        texts = hide_in_arguments([item for item in items if isinstance(item, str)])
        if len(texts) < len(items) or len(texts) < _LEAST_LINES:
            rest = iter(texts)
            return [self.redact_value(next(rest) if isinstance(i, str) else i) for i in items]
        for _ in range(_PASSES):
            before = texts
            texts = [self.redact(text) for text in self._redact_lines(texts)]
            if texts == before:
                break
        return list(texts)

    def _redact_lines(self, texts: list[str]) -> list[str]:
        """Return texts as their joined text has them without secrets: a key becomes one line."""
        joined = "\n".join(texts)
        clean = self.redact(joined)
        if clean == joined:
            return texts
        lines = clean.split("\n")
        if len(lines) != joined.count("\n") + 1:
            return lines
        ends = list(accumulate(text.count("\n") + 1 for text in texts))
        return ["\n".join(lines[start:end]) for start, end in pairwise([0, *ends])]

    def _redact_member(self, key: str, value: JsonValue) -> JsonValue:
        hides = is_secret_name(key) and value not in (None, True, False, "")
        if isinstance(value, str) and _MAY_BE_SECRET.search(key):
            hides = hides or value[:1] not in {"", "/", "~", ".", "$"}
        return MARK if hides else self.redact_value(value)

    def _apply_until_stable(self, text: str, rules: Sequence[Callable[[str], str]]) -> str:
        def apply(part: str) -> str:
            return self._apply_rules(part, rules)

        text = redact_dumped(text, apply)
        for _ in range(_PASSES if text else 0):
            before = text
            text = apply(redact_folded(text, apply))
            if text == before:
                break
        return text

    def _apply_rules(self, text: str, rules: Sequence[Callable[[str], str]]) -> str:
        if self._known is not None:
            text = self._known.sub(MARK, text)
        for rule in rules:
            text = rule(text)
        return text


_SHAPES_ONLY = Redactor()


def redact(text: str) -> str:
    """Return `text` without secrets, by names and shapes only."""
    return _SHAPES_ONLY.redact(text)


def is_secret_name(name: str) -> bool:
    """Return True if a field, header or variable of that name holds a secret."""
    from pulsus.core.telemetry.secret_rules.redaction_rules import SECRET_KEY

    return bool(SECRET_KEY.search(name))


def redact_value(value: JsonValue) -> JsonValue:
    """Return a JSON value without secrets, by names and shapes only."""
    return _SHAPES_ONLY.redact_value(value)


_NAMES = late_pattern(r"(?i)(?:\A|(?:parameter|variable|setting|secret)_?)(?:name|key)\Z")
_VALUES = late_pattern(r"(?i)(?:\A|(?:parameter|variable|setting|secret)_?)val(?:ue)?\Z")


def _is_secret_row(value: Mapping[str, JsonValue]) -> bool:
    """Return True for a row of a list of variables: `{"name": "TOKEN", "value": …}`."""
    names = (name for key, name in value.items() if _NAMES.search(key))
    return any(isinstance(name, str) and is_secret_name(name) for name in names)


def _list_lines(value: str) -> tuple[str, ...]:
    """Return each line of a known key, forwards and backwards: `tac`, `rev` and `tail` show them.

    Its first and last line are the same for every key, so they are none of them.
    """
    lines = [line.strip() for line in value.strip().splitlines()]
    keys = [s for s in lines if len(s) >= MIN_KEY_LINE and not s.startswith("--")]
    return tuple(s for key in keys for s in (key, key[::-1])) if len(lines) > 1 else ()


def _list_spellings(value: str) -> tuple[str, ...]:
    """Return the spellings of a known value: plain, backwards, percent-encoded, escaped for JSON
    and for HTML, in hexadecimal and in base64, from each of its three places."""
    value = value.strip()
    if len(value) < MIN_KNOWN_CHARS:
        return ()
    import json
    from base64 import b64encode, urlsafe_b64encode
    from html import escape
    from urllib.parse import quote, quote_plus

    data = value.encode("utf-8", "surrogatepass")
    escaped = json.dumps(value)[1:-1]
    encoded = [data.hex(), data.hex().upper()]
    for before in range(3):
        # The characters at both ends depend on what stands beside the value.
        first, last = -(-before * 8 // 6), (before + len(data)) * 8 // 6
        padded = bytes(before) + data
        encoded += [
            encode(padded).decode()[first:last] for encode in (b64encode, urlsafe_b64encode)
        ]
    plain = (
        value,
        value[::-1],
        quote(value, safe=""),
        quote_plus(value),
        escaped,
        json.dumps(escaped)[1:-1],
    )
    return tuple(
        dict.fromkeys(
            (*plain, json.dumps(value, ensure_ascii=False)[1:-1], escape(value), *encoded)
        )
    )
