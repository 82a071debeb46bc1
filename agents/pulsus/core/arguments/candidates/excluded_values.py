"""Keep values that a request excludes from inputs that ask for what is wanted. Pure.

"except *.gz" is no `pattern`, and "other than 22" no `port`. Only an input that is about excluding
takes such a value. A flag reads its negation itself. `core/text/exclusions.py` finds the clauses,
and `routing/inputs/unfollowed_exclusions.py` reports those that nothing follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.inputs import Input
from pulsus.core.text.exclusions import Exclusion, is_excluded
from pulsus.late_pattern import late_pattern

_NAMED: Final = late_pattern(
    r"(?i)(?:^|_)(?:exclud\w*|except\w*|skip\w*|ignor\w*|omit\w*|without|not|keep|kept|spare|avoid)"
    r"(?:_|$)"
)
_SAYS: Final = late_pattern(
    r"(?i)\b(?:exclud(?:e|es|ed|ing)|skip(?:s|ped|ping)?|ignor(?:e|es|ed|ing)|omit(?:s|ted)?"
    r"|(?:leaves?|left|leaving)\s+out|other\s+than)\b"
)
_FIRST_SENTENCE: Final = late_pattern(r"[^.;:]{0,200}")


def without_excluded(
    one: Input, values: Sequence[Candidate], exclusions: Sequence[Exclusion]
) -> list[Candidate]:
    """Return the values of `one` without those that stand in one of the clauses."""
    if not exclusions or one.type == "boolean" or is_about_excluding(one):
        return list(values)
    return [value for value in values if not _is_excluded(value, exclusions)]


def _is_excluded(value: Candidate, exclusions: Sequence[Exclusion]) -> bool:
    """Return True for a value of a clause. A choice such as "not set" has the negation itself."""
    for one in exclusions:
        places = [s.start for s in value.spans if is_excluded([one], s.start, s.end)]
        marks = [place for place in places if place < one.inner]
        if places and (not marks or len(marks) == len(places)):
            return True
    return False


def is_about_excluding(one: Input) -> bool:
    """Return True for `exclude` and `skip_hosts`: by the name, or the first words said of it."""
    begin = _FIRST_SENTENCE.match(one.description)
    said = begin[0] if begin else ""
    return _NAMED.search(one.name) is not None or _SAYS.search(said) is not None
