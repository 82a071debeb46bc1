"""Words to intent (spec §3): which domain and action a request is about, and how sure that is.

The vocabulary is the catalogue's own: folder names, manifest hints, tool names and summaries, plus
synonyms from data. Only places that exist in the catalogue are ever returned. Never raises on text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pulsus.core.rankers.doc import DocIndex
from pulsus.core.rankers.query import Synonyms, Term, synonym_table, terms
from pulsus.core.rankers.text import STOP_WORDS, clean, stem, words
from pulsus.core.types import ParsedIntent, ToolSpec

# How much a word says about its folder, by where it stands.
_FOLDER = 3.0
_HINT = 2.0
_NAME = 2.0
_SUMMARY = 1.0

_NOTHING = 4.0
"""Evidence at which a folder is as likely as none at all."""
_TEMPERATURE = 2.0
"""Evidence that makes one folder e times as likely as another."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A folder of the catalogue (`domain` None = shared) and its probability in [0, 1]."""

    domain: str | None
    action: str
    share: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What a request was read as.

    `alternatives` are the supported folders, likeliest first; their shares and "none of them" sum
    to 1. `known` are all folders, for an answer beyond the options.
    """

    intent: ParsedIntent
    alternatives: tuple[Guess, ...]
    known: tuple[tuple[str | None, str], ...]


@dataclass(frozen=True, slots=True)
class _Folder:
    domain: str | None
    action: str
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PromptParser:
    """The vocabulary of one catalogue."""

    folders: tuple[_Folder, ...]
    index: DocIndex
    synonyms: Mapping[tuple[str, ...], tuple[str, ...]]

    @classmethod
    def learn(cls, tools: Sequence[ToolSpec], synonyms: Synonyms | None = None) -> PromptParser:
        """The parser of these tools, the same for any order of them."""
        grouped: dict[tuple[str | None, str], list[ToolSpec]] = {}
        for tool in sorted(tools, key=lambda t: t.id):
            grouped.setdefault((tool.domain, tool.action), []).append(tool)
        written: dict[str, str] = {}
        folders = tuple(
            _Folder(domain, action, _vocabulary(domain, action, inside, written))
            for (domain, action), inside in sorted(
                grouped.items(), key=lambda item: (item[0][0] or "", item[0][1])
            )
        )
        return cls(folders, _index(folders, written), synonym_table(synonyms or {}))

    def parse(self, text: str) -> ParsedIntent:
        """The best guess. A part nothing supports is None; `intent` is the text unchanged."""
        return self.read(text).intent

    def read(self, text: str) -> Reading:
        """The best guess and what else it may be, for the one question of spec §3."""
        asked = terms(clean(text), self.index, self.synonyms)
        evidence = [(folder, self._evidence(folder, asked)) for folder in self.folders]
        supported = [(folder, value) for folder, value in evidence if value > 0]
        odds = [math.exp((value - _NOTHING) / _TEMPERATURE) for _, value in supported]
        total = 1.0 + sum(odds)
        guesses = sorted(
            (
                Guess(f.domain, f.action, o / total)
                for (f, _), o in zip(supported, odds, strict=True)
            ),
            key=lambda g: (-round(g.share, 9), g.domain is None, g.domain or "", g.action),
        )
        known = tuple((f.domain, f.action) for f in self.folders)
        return Reading(best_intent(text, guesses), tuple(guesses), known)

    def _evidence(self, folder: _Folder, asked: Sequence[Term]) -> float:
        """Sum over the request's words of idf times how much the word says about the folder."""
        return sum(
            max(
                weight * folder.weights.get(key, 0.0) * self.index.idf.get(key, 0.0)
                for key, weight in term.stems.items()
            )
            for term in asked
        )


def best_intent(text: str, guesses: Sequence[Guess]) -> ParsedIntent:
    """The intent of the first guess; its action is None where its domain's folders are equal."""
    if not guesses:
        return ParsedIntent(domain=None, action=None, intent=text, confidence=0.0)
    best = guesses[0]
    equal = [g for g in guesses if g.domain == best.domain and math.isclose(g.share, best.share)]
    action = best.action if len(equal) == 1 else None
    return ParsedIntent(best.domain, action, intent=text, confidence=min(1.0, best.share))


def _vocabulary(
    domain: str | None, action: str, tools: Sequence[ToolSpec], written: dict[str, str]
) -> dict[str, float]:
    """Each stem of a folder with its highest weight; words as written go to `written`."""
    weights: dict[str, float] = {}
    texts = [(_FOLDER, domain or ""), (_FOLDER, action)]
    for tool in tools:
        texts += [(_NAME, tool.name), (_SUMMARY, tool.summary)]
        if tool.manifest:
            hints = (tool.manifest.domain, tool.manifest.action, *tool.manifest.intents)
            texts += [(_HINT, hint) for hint in hints if hint]
    for weight, text in texts:
        for word in words(text):
            if word not in STOP_WORDS:
                key = written.setdefault(word, stem(word))
                weights[key] = max(weights.get(key, 0.0), weight)
    return weights


def _index(folders: Sequence[_Folder], written: Mapping[str, str]) -> DocIndex:
    """The folders as documents: a word that stands in all of them tells them apart least."""
    counts: dict[str, int] = {}
    for folder in folders:
        for key in folder.weights:
            counts[key] = counts.get(key, 0) + 1
    idf = {key: math.log(1 + len(folders) / count) for key, count in counts.items()}
    return DocIndex(len(folders), idf, {}, (), dict(sorted(written.items())))
