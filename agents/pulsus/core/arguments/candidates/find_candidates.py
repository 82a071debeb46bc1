"""Find the values of a request that one input may take. Pure.

`core/arguments/spans/find_spans.py` reads the values from the words. Choices, numbers, texts,
lists, flags and mappings have a module each in this folder.

The input's role (`core/arguments/input_roles.py`) decides first: a folder is never a number, and a
port has no unit. The weights of the model choose among the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.candidates.choice_candidates import find_choices
from pulsus.core.arguments.candidates.delimiter_candidates import find_delimiters
from pulsus.core.arguments.candidates.flag_candidates import find_flag
from pulsus.core.arguments.candidates.list_candidates import find_lists
from pulsus.core.arguments.candidates.mapping_candidates import find_mappings
from pulsus.core.arguments.candidates.number_candidates import find_numbers
from pulsus.core.arguments.candidates.text_candidates import find_texts
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.spans.span import RequestSpans

_WITHOUT_EXAMPLES = frozenset(("folder", "path", "source", "url", "network", "cron", "moment"))
"""Roles for which an example of the description is a form, and no value."""


def find_candidates(one: Input, found: RequestSpans) -> list[Candidate]:
    """Return the values that the input may take, each value at a place once."""
    if not one.fillable:
        return []
    seen: dict[tuple[int, int, str], Candidate] = {}
    for candidate in _by_type(one, found):
        seen.setdefault((candidate.start, candidate.end, repr(candidate.value)), candidate)
    return list(seen.values())


def _by_type(one: Input, found: RequestSpans) -> Iterator[Candidate]:
    match one.type:
        case "boolean":
            yield from find_flag(one, found)
        case "array":
            yield from find_lists(one, found)
        case _ if one.choices:
            yield from find_choices(one, one.choices, "choice", found)
        case "integer" | "number":
            yield from find_numbers(one, found)
        case "string" if one.role == "delimiter":
            yield from find_delimiters(one, found)
        case "object" if one.item == "string":
            yield from find_mappings(one, found)
        case "string" if one.role in _WITHOUT_EXAMPLES:
            yield from find_texts(one, found)
        case "string":
            examples = "listed" if one.listed else "example"
            named = list(find_choices(one, one.examples, examples, found))
            yield from named
            if not (one.listed and any(c.kind == "listed" and c.alike == 1 for c in named)):
                yield from find_texts(one, found)
        case _:  # inputs of other types are not fillable
            return
