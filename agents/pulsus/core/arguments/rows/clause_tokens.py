"""The tokens of a clause: words, quoted texts, numbers with their unit, signs and marks. Pure.

`conditions.py` and `row_order.py` read them. Tokens of a language model are counted in
`llm/token_estimate.py`, and access tokens of the web page in `web/accounts/bearer_tokens.py`.
"""

from __future__ import annotations

import re
from typing import Literal

from pulsus.core.arguments.spans.find_spans import find_spans
from pulsus.core.arguments.spans.span import Span
from pulsus.core.text.tokens import stem, words
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

TokenKind = Literal["word", "quoted", "number", "sign", "mark"]

_TOKEN = late_pattern(r"""(?x)
    (?P<quoted> "[^"\n]{1,400}" | `[^`\n]{1,400}` | “[^”\n]{1,400}”
       | (?<!\w)'[^'\n]{1,400}'(?!\w))
    | (?P<mark> -> | => (?=\s+[^\d\s]) | [→,;()|{}\[\]] | :(?=\s|$|,) | [.!?]+(?=\s|$)
       | [-–—&+](?=\s))
    | (?P<sign> [<>]=? | =[<>=]? | != | <> | [≥≤≠])
    | (?P<word> [^\s,;()|{}\[\]"“”`<>=≥≤≠!]+ (?:,\d{3}\b)*)
    | (?P<other> \S)
    """)
_NUMBERS = frozenset(("number", "numeral", "counted"))
_MEASURES = frozenset(("size", "duration", "percent"))
_LETTERS = {"k": 1024.0, "m": 1024.0**2, "g": 1024.0**3, "t": 1024.0**4}


@dataclass(frozen=True, slots=True)
class Token:
    """One token, `request[start:end]`.

    `low` is its text in lower case, `value` that without quotes. A number has `number`, as
    written, and with a unit `measure` (size, duration, percent) and `base` in base units.
    """

    kind: TokenKind
    start: int
    end: int
    low: str
    value: str
    number: float = 0.0
    measure: str = ""
    base: float = 0.0

    @property
    def stems(self) -> tuple[str, ...]:
        """Return the stems of its words: `used_percent` has two."""
        return tuple(stem(word) for word in words(self.value))


def read_tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens in order. A number and its unit ("1 GiB") are one token."""
    numbers = _find_numbers(text)
    found: list[Token] = []
    at = 0
    # A token may end before its match: the colon behind a word is a token of its own.
    while match := _TOKEN.search(text, at):
        number = numbers.get(match.start())
        found.append(number if number and match.lastgroup == "word" else _plain(match))
        at = found[-1].end
    return tuple(found)


def _plain(match: re.Match[str]) -> Token:
    text = match.group()
    match match.lastgroup:
        case "quoted":
            return Token("quoted", match.start(), match.end(), text.lower(), text[1:-1])
        case "sign":
            return Token("sign", match.start(), match.end(), text, text)
        case "word":
            kept = text.rstrip(".:?!") or text
            end = match.start() + len(kept)
            return Token("word", match.start(), end, kept.lower().replace("’", "'"), kept)
        case _:
            return Token("mark", match.start(), match.end(), text, text)


def _find_numbers(text: str) -> dict[int, Token]:
    """Return the numbers by their first character, the longest reading of each."""
    plain: dict[int, Span] = {}
    measured: dict[int, Span] = {}
    for span in find_spans(text).values:
        if span.quoted or isinstance(span.value, str):
            continue
        if span.kind in _NUMBERS:
            plain.setdefault(span.start, span)
        elif span.kind in _MEASURES:
            measured[span.start] = span
    found = {start: _number(span, span, None) for start, span in plain.items()}
    found |= {start: _number(span, plain.get(start), span) for start, span in measured.items()}
    return {start: token for start, token in found.items() if _stands_alone(text, token)}


def _number(span: Span, plain: Span | None, measured: Span | None) -> Token:
    number = float(plain.value) if plain else 1.0
    base = float(measured.value) if measured else number
    measure = measured.kind if measured else ""
    if plain and not measured and plain.unit in _LETTERS:
        measure, base = "size", number * _LETTERS[plain.unit]
    return Token(
        "number", span.start, span.end, span.text.lower(), span.text, number, measure, base
    )


def _stands_alone(text: str, token: Token) -> bool:
    """Return True unless the digits are a part of a longer word, such as `10.0.0.1` or `3-4`."""
    before, behind = text[: token.start], text[token.end :]
    return re.search(r"[\w/.:-]$", before) is None and re.match(r"[\w/-]|[.:]\w", behind) is None
