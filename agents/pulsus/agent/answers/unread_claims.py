"""Find state claims of an answer about what no result of the request mentions. Pure.

After an unrelated read a model may still write "nginx is running". A state counts as read if a
result, or a call that worked, has the name that the claim is about. A claim without a name ("the
disk is full") needs a word that such a result has. What is found is told beside the answer, so a
wrong find costs one line.

All modules about what a model made up: `agent/answers/phantom_claims.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from pulsus.agent.answers.phantom_claims import claimed_states
from pulsus.agent.answers.plain_english import english_words
from pulsus.agent.answers.plain_reading import reading_words
from pulsus.commands.shipped_data import rules_of
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

_TOKEN: Final = re.compile(r"\S+")
_EDGES: Final = "\"'`()[]{}<>*,;:.!?|-“”"
_PIECES: Final = re.compile(r"[^\W_]+")
_MARK: Final = re.compile(r"[\d_./@:]")
_ESCAPES: Final = re.compile(r"\\[bfnrtu]")
_NUMBER: Final = re.compile(r"(?=\W*\d)[\d.,:%/+-]+[a-z]{0,3}|\W+")
_YES_OR_NO: Final = re.compile(r"(?i)\s*(?:yes|no|yep|nope|correct|indeed)\b(?=\W|\Z)")
_LEAST: Final = 3
"""Letters of a piece that can tell what a result is about."""
_ABOUT_THE_REQUEST: Final = frozenset(
    {
        "it",
        "they",
        "service",
        "services",
        "daemon",
        "application",
        "app",
        "site",
        "website",
        "server",
    }
)
"""Words that stand for what the request names."""
_MOST_SEEN: Final = 50_000


class SeenWords:
    """The words of the results of one request, and of the calls that gave them."""

    def __init__(self) -> None:
        self._pieces: set[str] = set()

    def add(self, *texts: str) -> None:
        """Add texts. Of very many words the first 50,000 count."""
        for text in texts:
            if len(self._pieces) < _MOST_SEEN:
                self._pieces.update(_PIECES.findall(text.replace("_", " ").casefold()))

    def add_call(
        self, tool: str, args: Mapping[str, JsonValue], envelope: Mapping[str, JsonValue]
    ) -> None:
        """Add a call that told something: it worked, failed with output, or found nothing."""
        error = envelope.get("error")
        missing = isinstance(error, Mapping) and error.get("code") == "NOT_FOUND"
        if envelope.get("ok") or "data" in envelope or missing:
            text = json.dumps([tool, dict(args), dict(envelope)], ensure_ascii=False)
            self.add(_ESCAPES.sub(" ", text))

    def has_name(self, name: str) -> bool:
        """Return True if the name, a piece of it or another name of the same program is there."""
        rules = _rules()
        written = {*_PIECES.findall(name.replace("_", " "))}
        pieces = {p for p in written if p not in rules.common}
        known = pieces.union(*(rules.same.get(piece, ()) for piece in pieces))
        long = [piece for piece in known if len(piece) >= _LEAST]
        if not long and name.startswith("/"):  # a folder such as /var has its own name only
            return written <= self._pieces
        return any(map(self._has_like, long)) or not long

    def has_any(self, beginnings: Iterable[str]) -> bool:
        """Return True if a word begins like one of these."""
        return any(piece.startswith(tuple(beginnings)) for piece in self._pieces)

    def _has_like(self, name: str) -> bool:
        return name in self._pieces or any(
            len(piece) >= _LEAST and (piece.startswith(name) or name.startswith(piece))
            for piece in self._pieces
        )


def find_unread_subjects(answer: str, request: str, seen: SeenWords) -> tuple[str, ...]:
    """Return what the answer claims a state of although no result mentions it, each once."""
    claims = [*claimed_states(answer)]
    if short := _YES_OR_NO.match(answer):
        claims.append(f"it {short[0]}")  # it is about what the request names
    found = (_unread_in(claim, request, seen) for claim in claims)
    return tuple(dict.fromkeys(filter(None, found)))


def _unread_in(claim: str, request: str, seen: SeenWords) -> str:
    """Return the subject of a claim that no result mentions, or an empty text.

    A claim that names nothing ("the service is running") is about what the request names.
    """
    nouns = [*_nouns_in(claim)]
    kinds = {word for _, beginnings in nouns for word in beginnings}
    names = [name for name in _names_in(claim) if name not in kinds]
    if not names and not nouns and not _ABOUT_THE_REQUEST.isdisjoint(_PIECES.findall(claim)):
        names = [*_names_in(request)]
        nouns = [] if names else [*_nouns_in(request)]
    if names:
        return "" if any(map(seen.has_name, names)) else names[0]
    known = any(seen.has_any(beginnings) for _, beginnings in nouns)
    return nouns[0][0] if nouns and not known else ""


def _names_in(text: str) -> Iterator[str]:
    """Yield the words that are names: with a mark in them, or no word of English or the trade."""
    words = _words()
    for token in _TOKEN.findall(text.casefold().replace("’", "'")):
        bare = token.strip(_EDGES).removesuffix("'s")
        if not bare or _NUMBER.fullmatch(bare) or not bare.isascii():
            continue
        parts = _PIECES.findall(bare)
        if _MARK.search(bare) or not all(part in words for part in parts):
            yield bare


def _nouns_in(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    evidence = _rules().evidence
    for word in _PIECES.findall(text.casefold()):
        if word in evidence:
            yield word, evidence[word]


@dataclass(frozen=True, slots=True)
class _StateRules:
    """The tables of unread_claims.yaml."""

    evidence: Mapping[str, tuple[str, ...]]
    same: Mapping[str, Collection[str]]
    common: frozenset[str]


@cache
def _rules() -> _StateRules:
    data: Any = rules_of(Path(__file__).with_suffix(".yaml"))
    groups = [frozenset(words.split()) for words in data["same"]]
    return _StateRules(
        {
            noun: tuple(words.split())
            for nouns, words in data["evidence"].items()
            for noun in nouns.split()
        },
        {name: group for group in groups for name in group},
        frozenset(data["common"].split()),
    )


@cache
def _words() -> frozenset[str]:
    return english_words() | reading_words() | _rules().common
