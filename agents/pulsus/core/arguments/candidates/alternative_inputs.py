"""Inputs of which a call needs exactly one: "host: the site; give this or `file`". Pure.

The weights see each of them as an input that may be left out. But a call without any of them fails,
so the only path or host of a request belongs to one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set

from pulsus.core.arguments.candidates.candidate import NO_FIT, Candidate, fit_of_kind
from pulsus.core.arguments.candidates.fill_limits import FIRM
from pulsus.core.arguments.inputs import Input

_KINDS = FIRM | {"identifier"}
_Options = Sequence[tuple[Input, Sequence[tuple[Candidate, object]]]]


def find_needed_value(
    options: _Options, given: Set[str], used: Collection[str]
) -> tuple[Input, Candidate] | None:
    """Return the only value for a group of alternatives, and its input; None for none or several.

    `options` are the inputs of a tool with their values, `given` the names of those that have one,
    `used` the texts of the request that these take. A text that none of them takes goes first.
    """
    names = {one.name for one, _ in options}
    fitting = {
        candidate.spans[0].text: (one, candidate)
        for one, values in options
        if one.alternatives and one.alternatives <= names
        if not given & {one.name, *one.alternatives}
        for candidate, _ in values
        if candidate.kind in _KINDS and fit_of_kind(one, candidate.kind) != NO_FIT
    }
    free = {text: found for text, found in fitting.items() if text not in used}
    found = free or fitting
    return next(iter(found.values())) if len(found) == 1 else None
