"""Did you mean: the name that an unknown name was probably meant to be. Pure.

This serves unknown tools, settings and inputs. Misspelt words (typos) of a request are corrected in
`core/rankers/lexical/query_terms.py`, its verbs in `verbs.py`, its values in
`core/arguments/candidates/choice_candidates.py`. An unknown subcommand gets its suggestion in
`cli/suggested_commands.py`, a resource in `gates/resources/similar_resources.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from pulsus.late_pattern import late_pattern

_ALIKE = 75
"""Likeness, of 100, from which a name is offered: below it a guess misleads more than it helps."""

_MOST = 3
_ENDS = late_pattern(r"[/.]")


def similar_names(name: str, known: Iterable[str]) -> list[str]:
    """Return up to three names in place of an unknown one: spelt alike, or with it as a word.

    Whole names are compared, and their last parts (`disk_usage` of `storage/usage/disk_usage`).
    """
    from rapidfuzz import fuzz  # slow to load, and needed for a mistake only

    end = _last_part(name)
    found = []
    for each in known:
        last = _last_part(each)
        likeness = max(fuzz.ratio(name, each), fuzz.ratio(end, last))
        if likeness >= _ALIKE:
            found.append((-likeness, each))
        elif end in last.split("_"):
            found.append((-float(_ALIKE), each))
    return [each for _, each in sorted(found)[:_MOST]]


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return the hint with the similar names; `otherwise` if none is similar."""
    near = similar_names(name, known)
    return f"did you mean {' or '.join(near)}?" if near else otherwise


def _last_part(name: str) -> str:
    return _ENDS.split(name.lower().removesuffix(".py"))[-1]
