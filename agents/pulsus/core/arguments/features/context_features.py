"""Features of the words around a value: prepositions, names of inputs, counted things. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.request_words import RequestWords
from pulsus.core.arguments.words.word_set import word_set
from pulsus.core.text.tokens import STOP_WORDS

_NAMED_WITHIN = 3
"""An input that is named this many words away names the value."""
_START = "^"
_SMALL = word_set("""
    in on at from to for of by with between under over above below within than least most until
    since after before about named called titled is are as per via using into like against through
    till during near around or and not last next past
    """)
_COUNTS = frozenset(("number", "numeral", "counted"))
_NUMBERS = word_set("number numeral counted money percent port prefix ordinal assign")
_TEXTS = word_set("name region phrase part quoted identifier named numbered")


def add_context(
    found: dict[str, float], one: Input, candidate: Candidate, words: RequestWords
) -> None:
    """Add the features of the words around `candidate` to `found`."""
    kind = candidate.kind
    broad = "number" if kind in _NUMBERS else "text" if kind in _TEXTS else kind
    before = words.before(candidate.start, 6)
    after = words.after(candidate.end, 4)
    _add_small_words(found, one, broad, [words.low[place] for place in before[:2]])
    _add_own_name(found, one, broad, words, before, after)
    _add_near(found, one, broad, words, before, after)
    _add_other_names(found, one, broad, words, before, after)
    if after and kind in _COUNTS:
        _add_counted(found, one, words, after)
    own = not words.own.isdisjoint([words.stems[place] for place in before[:3]])
    found[f"own near={own}|{one.role}"] = 1.0
    _add_beside(found, one, broad, words, before, after)
    _add_part(found, one, broad, words.part_of(candidate.start, candidate.end), words)


def _add_small_words(
    found: dict[str, float], one: Input, broad: str, before: Sequence[str]
) -> None:
    first, second = (*before, _START, _START)[:2]
    if first not in _SMALL and first != _START:
        return
    found[f"{broad}|prep:{first}"] = 1.0
    for word in sorted(one.words):
        found[f"prep:{first}|name:{word}"] = 1.0
    found[f"prep:{first}|role:{one.role}"] = 1.0
    if second in _SMALL:
        found[f"prep:{second} {first}|role:{one.role}"] = 1.0


def _add_own_name(
    found: dict[str, float],
    one: Input,
    broad: str,
    words: RequestWords,
    before: Sequence[int],
    after: Sequence[int],
) -> None:
    """Add the distance to the nearest word of the input's own name, on both sides."""
    for distance, place in enumerate(before[: _NAMED_WITHIN + 1]):
        if words.stems[place] in one.words:
            found[f"{broad}|named-{distance}"] = 1.0
            found["named before"] = 1.0
            break
    for distance, place in enumerate(after[:_NAMED_WITHIN]):
        if words.stems[place] in one.words:
            found[f"{broad}|named+{distance}"] = 1.0
            found["named after"] = 1.0
            break


def _add_near(
    found: dict[str, float],
    one: Input,
    broad: str,
    words: RequestWords,
    before: Sequence[int],
    after: Sequence[int],
) -> None:
    places = (*before[:4], *after[:2])
    near = {words.stems[place] for place in places if words.low[place] not in STOP_WORDS}
    said = len(near & one.described)
    if said:
        found["said near"] = min(said, 3)
        found[f"{broad}|said near"] = 1.0
    elif near.isdisjoint(one.words):
        found[f"{broad}|nothing near"] = 1.0


def _add_other_names(
    found: dict[str, float],
    one: Input,
    broad: str,
    words: RequestWords,
    before: Sequence[int],
    after: Sequence[int],
) -> None:
    """Add the nearest word that names another input of the tool."""
    for distance, place in enumerate(before[:_NAMED_WITHIN]):
        if words.stems[place] in words.of_inputs and words.stems[place] not in one.words:
            found[f"{broad}|other named-{min(distance, 2)}"] = 1.0
            break
    for distance, place in enumerate(after[:_NAMED_WITHIN]):
        if words.stems[place] in words.of_inputs and words.stems[place] not in one.words:
            found[f"{broad}|other named+{distance or ''}"] = 1.0
            break


def _add_counted(
    found: dict[str, float], one: Input, words: RequestWords, after: Sequence[int]
) -> None:
    """Add the word behind a number, and the thing that it counts: `5 biggest files`."""
    behind = words.stems[after[0]]
    found[f"counts said={behind in one.described}|{one.role}"] = 1.0
    found[f"counts own={behind in words.own}|{one.role}"] = 1.0
    found[f"counts plural={words.low[after[0]].endswith('s')}|{one.role}"] = 1.0
    thing = next(
        (
            words.stems[place]
            for place in after
            if words.low[place].endswith("s") or words.stems[place] in words.own
        ),
        None,
    )
    if thing is not None:
        own, said = thing in words.own, thing in one.described
        found[f"thing own={own}|{one.role}"] = 1.0
        found[f"thing said={said}|{one.role}"] = 1.0
        found[f"thing said={said}|own={own}"] = 1.0
        found[f"thing named={thing in one.words}"] = 1.0


def _add_beside(
    found: dict[str, float],
    one: Input,
    broad: str,
    words: RequestWords,
    before: Sequence[int],
    after: Sequence[int],
) -> None:
    beside = {words.stems[place] for place in (*before[:1], *after[:1])}
    for label, known in (("name", one.words), ("said", one.described), ("own", words.own)):
        if not beside.isdisjoint(known):
            found[f"beside {label}"] = 1.0
            found[f"beside {label}|{broad}"] = 1.0


def _add_part(
    found: dict[str, float], one: Input, broad: str, part: frozenset[str], words: RequestWords
) -> None:
    """Add which inputs the part of the sentence names: `75% of its memory` or `150% cpu`."""
    own = one.words & words.of_one
    said = one.described & words.described_of_one
    named, other = not part.isdisjoint(own), not part.isdisjoint(words.of_one - own)
    found[f"part names own={named} other={other}"] = 1.0
    found[f"{broad}|part names own={named} other={other}"] = 1.0
    whole = "whole" if one.words <= part else "some" if one.words & part else "none"
    found[f"name in part={whole}|{'required' if one.required else 'optional'}"] = 1.0
    spoken, strange = not part.isdisjoint(said), not part.isdisjoint(words.described_of_one - said)
    found[f"part says own={spoken} other={strange}"] = 1.0
