"""The words of a session, for grounding: those of the user, and those that results have shown.

`target_grounding.py` and `sent_words.py` decide by them. Suggestions of similar names (did you
mean) for an unknown target are chosen here.

A model may write any name. A write acts only on names that the user or a
result wrote before (grounding).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

from pulsus.core.types import JsonValue

_SPLITS: Final = re.compile(r"[\s\"'`,;()\[\]{}<>|=@]+")
_PIECES: Final = re.compile(r"[^\W_]+")
_ODD_SIGNS: Final = re.compile(r"[^\w\s\x00-\x7f]+|(?:[^\w\s]|_){6,}")
"""Signs beyond ASCII, and six signs in a row: they could carry what letters may not."""
_EDGES: Final = ".,:;!?/…"
_LONGEST: Final = 400
_MOST_SEEN: Final = 50_000
_MOST_COMPARED: Final = 1_000
_SIMILAR: Final = 0.75
_MOST_SIMILAR: Final = 5


class SessionWords:
    """Collects words. `add_said` is for the user, the settings and discovered names, `add_seen` for
    results of tools. At most 50,000 words of results are kept, the latest."""

    def __init__(self, most_seen: int = _MOST_SEEN) -> None:
        self._said: dict[str, None] = {}
        self._pieces: set[str] = set()
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._latest: dict[str, None] = {}
        self._most = most_seen

    def add_said(self, *texts: str) -> None:
        """Add texts of the user, of the settings, or names that discovery found."""
        for text in texts:
            self._said |= dict.fromkeys(_names_in(text))
            self._pieces |= {*_PIECES.findall(text), *_PIECES.findall(text.casefold())}

    def add_seen(self, value: JsonValue | Mapping[str, JsonValue]) -> None:
        """Add the data of a result."""
        for text in texts_in(value):
            for name in _names_in(text):
                self._seen[name] = None
                self._seen.move_to_end(name)
                self._latest.pop(name, None)
                self._latest[name] = None
        while len(self._seen) > self._most:
            self._seen.popitem(last=False)
        if len(self._latest) > 2 * _MOST_COMPARED:
            self._latest = dict.fromkeys(self._latest_seen())

    def was_named_before(self, name: str) -> bool:
        """Return True if the user, the settings or discovery wrote this name."""
        plain = _plain(name)
        return plain in self._said or self._is_spread(plain, self._said)

    def was_said_whole(self, text: str) -> bool:
        """Return True if the user, the settings or discovery wrote exactly this text."""
        return _plain(text) in self._said

    def was_said_as_it_stands(self, text: str) -> bool:
        """Return True if exactly this text was said, in the case that was written or plain."""
        as_written = all(
            piece in self._pieces or piece == piece.casefold() for piece in _PIECES.findall(text)
        )
        return as_written and self.was_said_whole(text)

    def odd_signs(self, text: str) -> str:
        """Return the first signs between the words of `text` that no usual text has, or ""."""
        for signs in _PIECES.split(text):
            shown = "".join(signs.split())
            if shown and shown not in _USUAL_SIGNS:
                return shown
        return ""

    def is_known(self, name: str) -> bool:
        """Return True if this name was said, or a result has shown it."""
        plain = _plain(name)
        return (
            plain in self._said
            or plain in self._seen
            or self._is_spread(plain, {**self._said, **self._seen} if " " in plain else {})
        )

    def unsaid_pieces(self, text: str) -> list[str]:
        """Return the pieces of `text` that were not said, in order.

        A piece is a run of letters and digits, in the case that was said or in plain case, or a
        run of signs that no usual text has. Numbers below 100 are no pieces: `small_numbers`.
        """
        signs = dict.fromkeys(_ODD_SIGNS.findall(text))
        return [piece for piece in self._unsaid(text) if not _is_small(piece)] + [*signs]

    def pieces_of(self, text: str) -> list[str]:
        """Return the runs of letters and digits in `text`, in plain case, each as often as it
        stands."""
        pieces = [piece.casefold() for piece in _PIECES.findall(text)]
        return [piece for piece in pieces if piece not in _SCHEMES]

    def small_numbers(self, text: str) -> list[str]:
        """Return the numbers below 100 in `text` that were not said, each as often as it stands."""
        unsaid = {piece for piece in self._unsaid(text) if _is_small(piece)}
        return [piece for piece in _PIECES.findall(text) if piece in unsaid]

    def _unsaid(self, text: str) -> Iterator[str]:
        for piece in dict.fromkeys(_PIECES.findall(text)):
            plain = piece.casefold()
            if plain in _SCHEMES:
                continue
            usual = piece in {plain, piece.upper(), piece.capitalize()} or piece in self._pieces
            if plain not in self._pieces or not usual:
                yield piece

    def similar(self, name: str) -> list[str]:
        """Return at most five known names that are like `name`, the most similar first.

        Of the names that results have shown, the latest 1,000 are looked at: they are only
        suggestions, and all of 50,000 take 10 ms.
        """
        found = process.extract(
            _plain(name),
            [*self._said, *reversed(self._latest_seen())],
            scorer=JaroWinkler.normalized_similarity,
            limit=2 * _MOST_SIMILAR,  # a name may be among both
            score_cutoff=_SIMILAR,
        )
        return [*dict.fromkeys(each for each, _, _ in found)][:_MOST_SIMILAR]

    def _latest_seen(self) -> list[str]:
        """Return the names that are compared, the latest at the end. To walk through all of the
        seen names from their end takes several times as long."""
        return [*self._latest][-min(_MOST_COMPARED, self._most) :]

    def _is_spread(self, plain: str, names: Iterable[str]) -> bool:
        """Return True if a name of several words was written with all of them."""
        parts = plain.split()
        return len(parts) > 1 and all(part in names for part in parts)


_SCHEMES: Final = frozenset({"http", "https"})
_USUAL_SIGNS: Final = frozenset(
    {*"/.-_:?=&@|,+*'\"", *("://", ":///", "/?", "--", "..", "/.", "./", "../", "|/", "&&", "||")}
)
"""The signs between two words, without blanks, that paths, URLs and commands have."""


def _is_small(piece: str) -> bool:
    return piece.isdigit() and len(piece) <= 2


def _plain(name: str) -> str:
    plain = name.casefold().strip().strip("\"'`")
    return plain.rstrip("/").removesuffix(".service") or plain


def _names_in(text: str) -> Iterator[str]:
    for token in _SPLITS.split(text.casefold()):
        plain = token.strip(_EDGES) if token[:1] not in "/." else token.rstrip(_EDGES)
        if not plain or len(plain) > _LONGEST:
            continue
        yield plain.removesuffix(".service")
        if ":" in plain:
            yield from (part for part in plain.split(":") if part)
        if "/" in plain:
            yield plain.rpartition("/")[2]


def texts_in(value: JsonValue | Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield each text, number and key in a value. True and false are not texts."""
    match value:
        case str():
            yield value
        case bool() | None:
            return
        case int() | float():
            yield str(value)
        case Mapping():
            for name, each in value.items():
                yield name
                yield from texts_in(each)
        case list():
            for each in value:
                yield from texts_in(each)
