"""Inputs of which a call needs exactly one: "host: the site; give this or `file`". Pure.

The weights see each of them as an input that may be left out. But a call without any of them fails,
so the only path or host of a request belongs to one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set

from pulsus.core.arguments.candidates.candidate import NO_FIT, Candidate, fit_of_kind
from pulsus.core.arguments.candidates.fill_limits import FIRM
from pulsus.core.arguments.inputs import Input

_KINDS = FIRM | {"identifier"}
_Options = Sequence[tuple[Input, Sequence[tuple[Candidate, object]]]]


def find_needed_value(
    options: _Options, given: Set[str], used: Collection[str]
) -> tuple[Input, Candidate] | None:
    """Return the value that one of a group of alternatives has to take, and this input.

    None if the request has no such value or more than one. `options` are the inputs of a tool with
    their values, `given` the names of those that have one, and `used` the texts that optional
    inputs take: a text that none of them takes goes first. A text that a required input may take
    belongs to that input.
    """
    names = {one.name for one, _ in options}
    groups = [
        (one, values)
        for one, values in options
        if one.alternatives and one.alternatives <= names
        if not given & {one.name, *one.alternatives}
    ]
    if not groups:
        return None
    required = {
        candidate.spans[0].text
        for one, values in options
        if one.required
        for candidate in _fitting_values(one, values)
    }
    fitting = {
        candidate.spans[0].text: (one, candidate)
        for one, values in groups
        for candidate in _fitting_values(one, values)
        if candidate.spans[0].text not in required
    }
    free = {text: found for text, found in fitting.items() if text not in used}
    found = free or fitting
    return next(iter(found.values())) if len(found) == 1 else None


def _fitting_values(one: Input, values: Sequence[tuple[Candidate, object]]) -> Iterator[Candidate]:
    """Yield the paths, hosts and names among the values that the input wants."""
    for candidate, _ in values:
        if candidate.kind in _KINDS and fit_of_kind(one, candidate.kind) != NO_FIT:
            yield candidate
