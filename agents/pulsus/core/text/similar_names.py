"""Did you mean: the name or path that an unknown one was probably meant to be.

This serves unknown tools, settings, inputs and paths. Misspelt words (typos) of a request are
corrected in `core/rankers/lexical/query_terms.py`, its verbs in `verbs.py`, its values in
`core/arguments/candidates/choice_candidates.py`. An unknown subcommand gets its suggestion in
`cli/suggested_commands.py`, a resource in `gates/resources/similar_resources.py`.

Effect: `similar_path` lists folders.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from pulsus.late_pattern import late_pattern

_ALIKE = 75
"""Likeness, of 100, from which a name is offered: below it a guess misleads more than it helps."""

_MOST = 3
_MOST_FILES = 10_000
"""Files of one folder that are compared."""
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


def similar_path(text: str) -> str | None:
    """Return a path that exists and differs from this one by typos.

    None if this one exists, or none is similar.
    """
    found = Path(text)
    try:
        found = found.expanduser()
        here = Path(found.anchor)
        for part in found.parts[len(here.parts) :]:
            if not os.path.lexists(here / part):
                with os.scandir(here) as entries:
                    names = [each.name for each in islice(entries, _MOST_FILES)]
                part = _one_typo_away(part, names) or ""
                if not part:
                    return None
            here /= part
    except (OSError, RuntimeError, ValueError):
        return None
    return None if here == found else str(here)


def _one_typo_away(name: str, known: Iterable[str]) -> str | None:
    """Return the one name with a letter more, less, changed or swapped; case does not count."""
    from rapidfuzz.distance import OSA

    near = [each for each in known if OSA.distance(name.lower(), each.lower(), score_cutoff=1) <= 1]
    return near[0] if len(near) == 1 and len(name) > 2 else None


def _last_part(name: str) -> str:
    return _ENDS.split(name.lower().removesuffix(".py"))[-1]
