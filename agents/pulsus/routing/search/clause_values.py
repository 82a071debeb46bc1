"""Search a part of a request again without the values that the found tool takes (spec §6). Pure.

"restart rsyslog" shares one word of two with `restart_service`, and the other is the name of a
service. No catalogue knows such names, so they say nothing against the tool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.subject_names import find_subject_name
from pulsus.core.arguments.write_choices import propose_write_choices
from pulsus.core.text.tokens import content_words
from pulsus.core.types import Ranked, ToolSpec

LEAST_P: Final = 0.04
"""A tool whose words say less is not looked at: a name alone asks for no tool."""

MOST_COMPARED: Final = 3

_PATHS = re.compile(r"(?<![\w.])[~\w.-]*/[\w./*?~+@%-]+")


def search_without_values(
    text: str, found: Sequence[Ranked], floor: float, rank: Callable[[str], Sequence[Ranked]]
) -> tuple[Ranked, ...]:
    """Return the candidates; if none reaches `floor`, one with its p without its values is first.

    Only a tool that writes, that is the first without them, and that reaches `floor` then. The
    words that are left have to name it.
    """
    if not found or found[0].p >= floor:
        return tuple(found)
    for place, ranked in enumerate(found[:MOST_COMPARED]):
        if ranked.p < LEAST_P or ranked.tool.kind != "write" or ranked.caution:
            continue
        rest = _without_values(text, ranked.tool)
        again = next(iter(rank(rest)), None) if rest != text and content_words(rest) else None
        if again is not None and again.tool.id == ranked.tool.id and again.p >= floor:
            first = replace(ranked, p=again.p, p_before_values=ranked.p, why_not=None)
            return (first, *found[:place], *found[place + 1 :])
    return tuple(found)


def _without_values(text: str, tool: ToolSpec) -> str:
    """Return the words of a part that no input of the tool takes as a value."""
    contract = from_arguments(tool.args, tool.id, tool.summary)
    values = [one.text for one in propose_write_choices(text, contract.inputs)]
    subject = find_subject_name(text, contract)
    values += [subject.text] if subject else []
    for words in sorted(values, key=len, reverse=True):
        text = re.sub(rf"(?<![\w/.-]){re.escape(words)}(?![\w/-])", " ", text)
    return _PATHS.sub(" ", text) if values else text
