"""Find the words that a request excludes: "except *.gz", "but not redis", "other than 22". Pure.

A value in such a clause is the opposite of what an input of a tool asks for. "Delete everything
except *.gz" with `pattern=*.gz` would delete exactly the files that were to stay.
`core/arguments/candidates/excluded_values.py` keeps the value from an input, and
`routing/inputs/unfollowed_exclusions.py` reports a clause that nothing follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.core.text.comparison_words import COMPARED_THAN, LARGER, SMALLER
from pulsus.core.text.tokens import words
from pulsus.core.text.verb_tables import READING, VERBS
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

_SURE: Final = (
    r"except(?:ing)?(?:\s+for)?|exclud(?:e|es|ing)|other\s+than|(?:apart|aside)\s+from|besides?"
    r"|but\s+not|(?:but\s+|(?<=,\s))keep(?:ing)?(?=\s+(?:the\s+)?[^\s,]{0,80}[*./]\w)|(?:all|everything|anything|any|every\s+\w{1,20})\s+but"
    r"|ignor(?:e|es|ing)|skip(?:ping|s)?|leav(?:e|ing)\s+out|omit(?:ting|s)?|without|rather\s+than"
    r"|instead\s+of"
)
_NEGATION: Final = r"not|never|cannot|can't|n't|(?:do|does|did|is|are|was|were|has|have)n'?t"
_MARK: Final = late_pattern(
    rf"(?i)(?<![\w./-])(?:(?P<sure>{_SURE})|{_NEGATION})(?=\s)",
    words=(
        "except",
        "exclud",
        "than",
        "apart",
        "aside",
        "beside",
        "but",
        "keep",
        "ignor",
        "skip",
        "leav",
        "omit",
        "without",
        "instead",
        "not",
        "never",
        "n't",
        "nt",
    ),
)
_NUMBER_NEXT: Final = (
    r"(?=\s+(?:than|about|around|roughly|an?|half|one|two|three|four|five|six|seven|eight|nine|ten)\b"
    r"|\s+\W{0,2}\d)"
)
"""Otherwise the word may be a name or a place: "not lower.log", "not under /var"."""
_NO_EXCLUSION: Final = late_pattern(
    r"(?i)\s+(?:(?:only|just|yet|to|be|sure|necessarily|more|less|fewer|at\s+(?:all|least|most))(?![\w./-])"
    rf"|(?:{SMALLER}|{LARGER}|later|earlier|over|above|below|under|exceeding){_NUMBER_NEXT}"
    rf"|(?:\w{{1,20}}\s+){{0,2}}(?:{COMPARED_THAN}|(?:later|earlier)\s+than)\b)"
)
"""Words behind a negation that make a bound of it, or that exclude nothing."""
_REVERSED: Final = late_pattern(
    r"(?i)(?:\b(?:drop|discard|throw\s+(?:out|away)|weed\s+out)\b[^,;.]{0,80}"
    r"|\b(?:I|we|you|they)(?:\s+\w{1,10})?\s+)\Z"
)
"""Wording before a negation that reverses it ("drop what isn't failed"), or that is talk."""
_LONGEST_BEFORE: Final = 120
_TOKEN: Final = late_pattern(r"\"[^\"]{0,400}\"|'[^']{0,400}'|\S{1,400}")
_MOST_TOKENS: Final = 14
_MOST_PLAIN: Final = 3
"""Plain words of one member: "the nginx access logs"."""
_LEAD: Final = frozenset(
    words("""
        for the a an any all my our your those these that ones this if it its is are be being of
        anything everything file files folder folders directory port ports service services user
        users process processes host hosts row rows line lines entry entries what whatever
        """)
)
"""Words that a member may begin with. A place behind one of them still belongs to it."""
_ENDS: Final = frozenset(
    words("""
        in on at to into onto from as of under below inside within for since before after during
        are is was were has have had do does did that which who whose where when if then so but by
        with via using per until till please older newer larger bigger smaller more less greater
        longer shorter than over above sorted ordered while because unless
        """)
)
_JOINS: Final = frozenset(("and", "or", "nor", "&"))
_ENDS_PART: Final = late_pattern(r"[;:?!)]$|\.$")
_GOVERNS: Final = late_pattern(
    r"(?i)(?:owned|used|run|started|made|written|held|set|blocked|sent|belong(?:s|ing)?"
    r"|start(?:s|ing)?|end(?:s|ing)?|begin(?:s|ning)?|come|comes|coming|match(?:es|ing)?|located"
    r"|installed|stored|lying|created|signed|issued|listening|running|logged|log)"
)
"""Words that say with the next preposition what is excluded: "not owned by root"."""
_UNIT: Final = late_pattern(
    r"[kmgt]i?b|%|bytes?|percent|(?:second|minute|hour|day|week|month|year)s?|[kmgt]ega?bytes?"
)
_PLAIN: Final = late_pattern(r"[A-Za-z][A-Za-z'-]*")


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A clause of a request from `start` to `end`; what it excludes begins at `inner`.

    `sure` is False for a bare negation: "services that are not running" asks for the others.
    """

    start: int
    inner: int
    end: int
    sure: bool


def find_exclusions(text: str) -> tuple[Exclusion, ...]:
    """Return the clauses of `text` that exclude something, in their order."""
    found: list[Exclusion] = []
    for mark in _MARK.finditer(text):
        if found and mark.start() < found[-1].end:
            continue
        sure = mark["sure"] is not None
        if not sure and _NO_EXCLUSION.match(text, mark.end()):
            continue
        before = text[max(0, mark.start() - _LONGEST_BEFORE) : mark.start()]
        if not sure and _REVERSED.search(before):
            continue
        end = _end_of_clause(text, mark.end())
        if end > mark.end():
            found.append(Exclusion(mark.start(), mark.end(), end, sure))
    return tuple(found)


def _end_of_clause(text: str, start: int) -> int:
    """Return where the excluded members end, or `start` if nothing is excluded."""
    end, plain, said, joined, before = start, 0, False, False, ""
    for token, at, word, closes in _tokens(text, start):
        low = word.lower()
        if low in _JOINS and said:
            joined = True
            continue
        if joined and _is_other_part(low):
            break
        is_lead = low in _LEAD and (not said or joined)
        if low in _ENDS and not is_lead and said and not _GOVERNS.fullmatch(before):
            break
        is_plain = _PLAIN.fullmatch(word) is not None
        if low not in _ENDS and not is_lead:
            goes_on = (
                joined
                or (before[-1:].isdigit() and _UNIT.fullmatch(low) is not None)
                or (is_plain and 0 < plain < _MOST_PLAIN)
            )
            governed = _GOVERNS.fullmatch(before) is not None or before in _ENDS | VERBS
            if said and not goes_on and not governed:
                break
            plain = plain + 1 if is_plain and not joined else int(is_plain)
            said, joined, end = True, False, at + len(token.rstrip(".,;:?!)"))
        before = low
        if closes:
            break
        if token.endswith(",") and said:
            joined = True
    return end if said else start


def _tokens(text: str, start: int) -> Iterator[tuple[str, int, str, bool]]:
    """Yield each token with its place, its word, and True if it ends a part of the sentence."""
    for count, found in enumerate(_TOKEN.finditer(text, start)):
        if count == _MOST_TOKENS:
            return
        token = found[0]
        yield token, found.start(), token.strip(".,;:?!()"), bool(_ENDS_PART.search(token))


def _is_other_part(low: str) -> bool:
    """Return True if the word behind "and" or a comma begins another part of the request."""
    return low in VERBS or low in READING or low in _ENDS


def is_excluded(exclusions: Sequence[Exclusion], start: int, end: int) -> bool:
    """Return True if the words from `start` to `end` stand in one of the clauses."""
    return any(one.start <= start and end <= one.end for one in exclusions)


def says_only_excluded(text: str, said: str) -> bool:
    """Return True if `said` stands in `text`, and each time in a clause that excludes it."""
    exclusions = find_exclusions(text)
    whole = re.compile(rf"(?<!\w){re.escape(said)}(?!\w)")
    places = [found.span() for found in whole.finditer(text)] if said and exclusions else []
    return bool(places) and all(is_excluded(exclusions, *place) for place in places)
