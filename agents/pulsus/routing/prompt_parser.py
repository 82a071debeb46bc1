"""Words to intent (spec §3): which domain and action a request is about, and how sure that is.

It also refuses (REQUEST_INVALID) a request that is too long (`parser.max_request_chars`), empty, or
holds control characters. A request that is unclear is decided in `routing/clarify.py`.

The vocabulary is the catalogue's own: folder names, manifest hints, tool names and summaries, plus
synonyms from data. Only places that exist in the catalogue are ever returned. Never raises on text.
What a request means, and what the docs say, only share out what its words leave open
(`routing/intent/folder_priors.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pulsus.core.rankers.lexical.documents import DocIndex
from pulsus.core.rankers.lexical.query_terms import Synonyms, Term, request_terms, synonym_table
from pulsus.core.telemetry.sanitize import find_control, strip_controls
from pulsus.core.text.tokens import STOP_WORDS, clean, stem, words
from pulsus.core.types import ParsedIntent, Passage, ToolSpec
from pulsus.errors import RequestInvalid
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern
from pulsus.routing.intent import folder_priors
from pulsus.routing.intent.folder_priors import FolderSimilarity, Library, Place

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
class FolderGuess:
    """A folder of the catalogue (`domain` None = shared) and its probability in [0, 1]."""

    domain: str | None
    action: str
    share: float


@dataclass(frozen=True, slots=True)
class ParseResult:
    """The result of parsing a request.

    `alternatives` are the supported folders, likeliest first. Their shares and that of "none of
    them" sum to 1. `known` are all folders, for an answer beyond the options. `passages` are the
    docs that gave hints.
    """

    intent: ParsedIntent
    alternatives: tuple[FolderGuess, ...]
    known: tuple[tuple[str | None, str], ...]
    passages: tuple[Passage, ...] = ()

    @property
    def hinted(self) -> frozenset[str]:
        """Ids of the tools those passages speak of."""
        return frozenset(tool for passage in self.passages for tool in passage.tools)


@dataclass(frozen=True, slots=True)
class FolderVocabulary:
    """One folder's stems, each with how much it says about the folder."""

    domain: str | None
    action: str
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PromptParser:
    """The vocabulary of one catalogue.

    `meaning` compares with the folders' phrases, by position in `folders`
    (`routing/search/catalogue_vectors.py`); `library` finds hints.
    """

    folders: tuple[FolderVocabulary, ...]
    index: DocIndex
    synonyms: Mapping[tuple[str, ...], tuple[str, ...]]
    meaning: FolderSimilarity | None = None
    library: Library | None = None

    @classmethod
    def learn(cls, tools: Sequence[ToolSpec], synonyms: Synonyms | None = None) -> PromptParser:
        """Return the parser of these tools, the same for any order of them."""
        grouped: dict[tuple[str | None, str], list[ToolSpec]] = {}
        for tool in sorted(tools, key=lambda t: t.id):
            grouped.setdefault((tool.domain, tool.action), []).append(tool)
        written: dict[str, str] = {}
        folders = tuple(
            FolderVocabulary(domain, action, _folder_vocabulary(domain, action, inside, written))
            for (domain, action), inside in sorted(
                grouped.items(), key=lambda item: (item[0][0] or "", item[0][1])
            )
        )
        return cls(folders, folder_index(folders, written), synonym_table(synonyms or {}))

    def parse(self, text: str) -> ParsedIntent:
        """Return the best guess.

        A part nothing supports is None; `intent` is the text unchanged.
        """
        return self.read(text).intent

    def read(self, text: str) -> ParseResult:
        """Return the best guess and what else it may be, for the one question of spec §3."""
        shares = self._by_words(text)
        if self.meaning:
            shares = folder_priors.apply_embedding_prior(
                shares, self._folder_places, self.meaning.similar(clean(text))
            )
        guesses = _sort_guesses(shares)
        intent = best_intent(text, guesses)
        passages = self.library.passages(clean(text)) if self.library else ()
        if passages:
            guesses = _sort_guesses(
                folder_priors.apply_doc_prior(shares, self._folder_places, passages)
            )
            intent = _apply_hint(best_intent(text, guesses), shares)
        return ParseResult(intent, tuple(guesses), self._folder_places, passages)

    @property
    def _folder_places(self) -> tuple[Place, ...]:
        return tuple((f.domain, f.action) for f in self.folders)

    def _by_words(self, text: str) -> dict[Place, float]:
        """Return the probability of every folder the request's words support."""
        asked = request_terms(clean(text), self.index, self.synonyms)
        evidence = [(folder, self._folder_evidence(folder, asked)) for folder in self.folders]
        odds = {
            (folder.domain, folder.action): math.exp((value - _NOTHING) / _TEMPERATURE)
            for folder, value in evidence
            if value > 0
        }
        total = 1.0 + sum(odds.values())
        return {place: value / total for place, value in odds.items()}

    def _folder_evidence(self, folder: FolderVocabulary, asked: Sequence[Term]) -> float:
        """Sum over the request's words of idf times how much the word says about the folder."""
        return sum(
            max(
                weight * folder.weights.get(key, 0.0) * self.index.idf.get(key, 0.0)
                for key, weight in term.stems.items()
            )
            for term in asked
        )


def _sort_guesses(shares: Mapping[Place, float]) -> list[FolderGuess]:
    guesses = (FolderGuess(domain, action, share) for (domain, action), share in shares.items())
    return sorted(
        guesses, key=lambda g: (-round(g.share, 9), g.domain is None, g.domain or "", g.action)
    )


def _apply_hint(intent: ParsedIntent, shares: Mapping[Place, float]) -> ParsedIntent:
    """Return the intent a hint led to, no surer than without the hint: it picks, it never makes
    sure.
    """
    inside = [
        v for (d, a), v in shares.items() if d == intent.domain and intent.action in (a, None)
    ]
    return replace(intent, confidence=min(intent.confidence, max(inside, default=0.0)))


def best_intent(text: str, guesses: Sequence[FolderGuess]) -> ParsedIntent:
    """Return the intent of the first guess; its action is None if its domain's folders are
    equal.
    """
    if not guesses:
        return ParsedIntent(domain=None, action=None, intent=text, confidence=0.0)
    best = guesses[0]
    equal = [g for g in guesses if g.domain == best.domain and math.isclose(g.share, best.share)]
    action = best.action if len(equal) == 1 else None
    return ParsedIntent(best.domain, action, intent=text, confidence=min(1.0, best.share))


def _folder_vocabulary(
    domain: str | None, action: str, tools: Sequence[ToolSpec], written: dict[str, str]
) -> dict[str, float]:
    """Return each stem of a folder with its highest weight; words as written go to `written`."""
    weights: dict[str, float] = {}
    texts = [(_FOLDER, domain or ""), (_FOLDER, action)]
    for tool in tools:
        texts += [(_NAME, tool.name), (_SUMMARY, tool.summary)]
        if tool.manifest:
            hints = (tool.manifest.domain, tool.manifest.action, *tool.manifest.intents)
            texts += [(_HINT / _phrase_length(hint), hint) for hint in hints if hint]
    for weight, text in texts:
        for word in words(text):
            if word not in STOP_WORDS:
                key = written.setdefault(word, stem(word))
                weights[key] = max(weights.get(key, 0.0), weight)
    return weights


def _phrase_length(hint: str) -> float:
    """Return the square root of the number of telling words: a long phrase says less a word.

    Of the powers 0, 1/4, 1/2 and 1 this one finds the folder of most requests.
    """
    return math.sqrt(max(1, sum(word not in STOP_WORDS for word in words(hint))))


def folder_index(folders: Sequence[FolderVocabulary], written: Mapping[str, str]) -> DocIndex:
    """Return the folders as documents: a word that stands in all of them tells them apart least."""
    counts: dict[str, int] = {}
    for folder in folders:
        for key in folder.weights:
            counts[key] = counts.get(key, 0) + 1
    idf = {key: math.log(1 + len(folders) / count) for key, count in counts.items()}
    return DocIndex(len(folders), idf, dict(sorted(written.items())))


_ESCAPES = late_pattern(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]|\x9b[0-?]*[ -/]*[@-~]")
"""Escape sequences that drive a terminal, with their letters (ECMA-48)."""

HINT = 'say what you need in plain words, for example: pulsus "which disks are nearly full"'


def validate_request(request: str, max_chars: int) -> str:
    """Return the request as printable text on one line. Raises RequestInvalid."""
    if len(request) > max_chars:
        raise RequestInvalid(
            f"the request has {len(request)} characters, at most {max_chars} are read", hint=HINT
        )
    try:
        request.encode("utf-8")
    except UnicodeEncodeError:
        raise RequestInvalid("the request is not UTF-8 text", hint=HINT) from None
    plain = _ESCAPES.sub(" ", request)
    if control := find_control(plain):  # left out, it would change the word that it stands in
        raise RequestInvalid(
            f"the request holds control characters (U+{ord(control):04X})", hint=HINT
        )
    text = " ".join(strip_controls(plain).split())
    if len(text) < len("".join(request.split())) // 2:
        raise RequestInvalid("the request holds control characters, not text", hint=HINT)
    if not any(char.isalnum() for char in text):
        raise RequestInvalid(f"the request {text!r} has no words", hint=HINT)
    return text
