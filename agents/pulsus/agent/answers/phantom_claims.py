"""Phantom detection: claims of work or readings that no tool result supports (§8). Pure.

Hallucinated answers are found here. Asked only if no tool succeeded since the user's last message:
then such a claim is invented. The phrases are in `phantom_claims.yaml`.

Seven modules look for what a model made up: `phantom_claims.py` (claims of work in an answer),
`unread_claims.py` (states of what was not read), `ungrounded_numbers.py` (numbers),
`ungrounded_sizes.py` (sizes in another unit),
`agent/control/target_grounding.py` (targets of writes), `agent/control/invented_inputs.py`
(optional inputs of reads) and `agent/control/sent_words.py` (words that a read would send).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, cast

from pulsus.agent.answers.tool_markup import find_leak
from pulsus.commands.shipped_data import rules_of
from pulsus.fast_dataclass import dataclass

ClaimCategory = Literal["call", "action", "state", "output", "figure"]
"""A tool call as text; work that was done; a state; the output of a tool; a number."""

SAFE_MESSAGE: Final = (
    "I could not check this: no tool call succeeded, so I know nothing about the current state and "
    "have changed nothing.\n\nThis happens if the tools are not available here, if a call was "
    "refused or failed, or if the model does not call tools well (`pulsus doctor --model`). Please "
    "try again, or ask something that needs no look at your infrastructure."
)
"""Replaces a reply with an invented claim."""

_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_QUOTED: Final = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|`[^`\n]*`")
_MARKS: Final = re.compile(r"[`*\"“”]")
_NO: Final = re.compile(r"\Ano[,:;] ")
"""It answers the request, and hedges nothing of the state behind it."""
_NEGATED: Final = re.compile(r"(?<!tool )\b(?<!_)(is|are)(?:n't| not| no longer)\b")
_CODE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LONGEST_SENTENCE: Final = 300
"""Longer sentences are looked at in parts: the time of a check is bounded."""


_BARE_FIGURE: Final = re.compile(
    r"(?:[\w ./@-]{1,40}[:=] *)?(?:about |around |approximately |only |~ ?)?\d[\d.,]*"
    r"(?: ?(?:%|[kmgt]i?b|[a-z]{2,12})(?: (?:free|used|left|available|in use))?)?[.!]?"
)
"""A sentence that is a reading and nothing else, such as `4.0 GB` or `memory: 63 % used`."""


@dataclass(frozen=True, slots=True)
class PhantomClaim:
    """A claim that no tool result supports: its category, and the sentence that makes it."""

    category: ClaimCategory
    sentence: str


def find_phantom_claim(
    reply: str, tools: Iterable[str], *, tools_succeeded: int
) -> PhantomClaim | None:
    """Return the first claim, or None. `tools` are the names of the tools.

    `tools_succeeded` counts the calls since the user's last message that succeeded, answers from
    known facts included. With one or more, nothing counts as a phantom.
    """
    if tools_succeeded > 0 or not reply.strip():
        return None
    leak = find_leak(reply, tools)
    if leak is not None:
        return PhantomClaim("call", reply[leak.start :].strip()[:_LONGEST_SENTENCE])
    for sentence in _sentences(reply):
        category = _category_of(sentence)
        if category is not None:
            return PhantomClaim(category, sentence)
    return None


def claimed_states(reply: str) -> Iterator[str]:
    """Yield the words of each claim of a state in English, from its subject on."""
    rules = _claim_rules()
    for sentence in _sentences(reply):
        plain = _NO.sub("", _MARKS.sub("", sentence).lower())
        plain = _NEGATED.sub(r"\1", plain)  # that a service is not running is a state too
        if rules.general.match(plain):
            continue
        for pattern in (*rules.categories["state"], *rules.more_states):
            found = pattern.search(plain)
            if found and not rules.hedge.search(plain, 0, found.end()):
                yield found[0].strip()
                break


def _sentences(reply: str) -> Iterable[str]:
    """Yield the sentences, without code blocks and list marks, and without questions."""
    for line in _SENTENCES.split(_CODE.sub(" ", reply)):
        sentence = line.strip().lstrip("-*•#> ").replace("’", "'").replace("**", "")
        if sentence and not sentence.endswith("?"):
            for at in range(0, len(sentence), _LONGEST_SENTENCE):
                yield sentence[at : at + _LONGEST_SENTENCE]


def _category_of(sentence: str) -> ClaimCategory | None:
    plain = _QUOTED.sub("it", sentence).lower()
    rules = _claim_rules()
    if any(pattern.search(plain) for pattern in rules.certain):
        return "output"
    if _BARE_FIGURE.fullmatch(plain):
        return "figure"
    general = rules.general.match(plain)
    for category, patterns in rules.categories.items():
        if general and category != "action":
            continue
        for pattern in patterns:
            found = pattern.search(plain)
            if found and not rules.hedge.search(plain, 0, found.end()):
                return category
    claims = (_category_in(language, plain) for language in rules.languages)
    return next(filter(None, claims), None)


def _category_in(language: _Language, plain: str) -> ClaimCategory | None:
    for category, patterns in language.categories.items():
        for pattern in patterns:
            found = pattern.search(plain)
            if found and not language.hedge.search(plain, 0, found.end()):
                return category
    return None


@dataclass(frozen=True, slots=True)
class _Language:
    """The compiled phrases of a language other than English."""

    hedge: re.Pattern[str]
    categories: Mapping[ClaimCategory, tuple[re.Pattern[str], ...]]


@dataclass(frozen=True, slots=True)
class _ClaimRules:
    """The compiled phrases."""

    hedge: re.Pattern[str]
    general: re.Pattern[str]
    certain: tuple[re.Pattern[str], ...]
    more_states: tuple[re.Pattern[str], ...]
    categories: Mapping[ClaimCategory, tuple[re.Pattern[str], ...]]
    languages: tuple[_Language, ...]


@cache
def _claim_rules() -> _ClaimRules:
    data: Mapping[str, Any] = rules_of(Path(__file__).with_suffix(".yaml"))
    return _ClaimRules(
        hedge=_hedge(data, r"n't\b"),
        general=re.compile(data["general"]),
        certain=_compile(data["certain"], data["words"]),
        more_states=_compile(data["more_states"], data["words"]),
        categories=_categories(data),
        languages=tuple(
            _Language(_hedge(each, each.get("hedge", "")), _categories(each))
            for each in data["languages"].values()
        ),
    )


def _hedge(data: Mapping[str, Any], other: str) -> re.Pattern[str]:
    words = rf"(?<![\w-]){_one_of(data['hedges'])}(?![\w-])"
    return re.compile(f"{words}|{other}" if other else words)


def _categories(data: Mapping[str, Any]) -> Mapping[ClaimCategory, tuple[re.Pattern[str], ...]]:
    listed = data["categories"].items()
    return {cast(ClaimCategory, name): _compile(each, data["words"]) for name, each in listed}


def _compile(phrases: Iterable[str], words: Mapping[str, str]) -> tuple[re.Pattern[str], ...]:
    lists = {name: _one_of(each) for name, each in words.items()}
    filled = (re.sub(r"<(\w+)>", lambda m: lists[m[1]], phrase) for phrase in phrases)
    return tuple(re.compile(phrase) for phrase in filled)


def _one_of(words: str) -> str:
    """Return an expression of the words. A `_` in a word stands for a blank."""
    return f"(?:{'|'.join(re.escape(word.replace('_', ' ')) for word in words.split())})"
