"""Search a request again without the values that the found tool takes (spec §6). Pure.

A value is the name of a file, host or service, for example. The values that inputs take are found
in `routing/search/ranking/value_evidence.py`.

"restart rsyslog" shares one word of two with `restart_service`, and the other is the name of a
service. No catalogue knows such names, so they say nothing against the tool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from pulsus.core.arguments.candidates.fill_limits import FIRM_LIMIT
from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.filler import fill
from pulsus.core.arguments.inputs import Fillable
from pulsus.core.arguments.subject_names import (
    SUBJECT_P,
    find_subject_name,
    names_coded_setting,
)
from pulsus.core.arguments.write_choices import propose_write_choices
from pulsus.core.compose.selection.choose_policy import CLEAR_MARGIN
from pulsus.core.text.state_questions import UP_BUT_NO_SERVICE
from pulsus.core.text.tokens import content_words
from pulsus.core.types import Ranked, ToolSpec
from pulsus.late_pattern import late_pattern

LEAST_P: Final = 0.04
"""A tool whose words say less is not looked at: a name alone asks for no tool."""

MOST_COMPARED: Final = 3

MOST_NAMED: Final = 10

_KINDS: Final = {"path": "the file", "key": "the setting", "value": "value"}

_MACHINE = late_pattern(r"(?i)[a-z]+(?:-[a-z]+)*-?\d{1,3}")
"""`web01` is a machine: what runs on it is another question."""

_OF_SOMETHING = late_pattern(r"\b(\w+)\s+of\b")
_PATHS = late_pattern(r"(?<![\w.])[~\w.-]*/[\w./*?~+@%-]+")


def search_without_values(
    text: str,
    found: Sequence[Ranked],
    floor: float,
    rank: Callable[[str], Sequence[Ranked]],
    *,
    sure_from: float = 0.0,
) -> tuple[Ranked, ...]:
    """Return the candidates. If none reaches `floor`, one may be raised and put first.

    Its new p is that of the request without the values that it takes. Only a tool that writes, that
    is the first without them, and that reaches `floor` then. The words that are left have to name
    it. If the first candidate is between `floor` and `sure_from`, it becomes surer in the same way,
    and the order stays.
    """
    found = _put_setters_first(text, found)
    if not found or found[0].p >= max(floor, sure_from):
        return tuple(found)
    decided = found[0].p >= floor
    for place, ranked in enumerate(found[: 1 if decided else MOST_COMPARED]):
        if ranked.p < LEAST_P or ranked.tool.kind != "write" or ranked.caution:
            continue
        again = _first_without_values(text, ranked.tool, rank)
        if again is not None and again.p >= max(floor, ranked.p):
            first = replace(ranked, p=again.p, p_before_values=ranked.p, why_not=None)
            return (first, *found[:place], *found[place + 1 :])
    return tuple(found)


def search_by_subject(
    text: str,
    found: Sequence[Ranked],
    floor: float,
    rank: Callable[[str], Sequence[Ranked]],
    *,
    sure_from: float = 0.0,
) -> tuple[Ranked, ...]:
    """Return the candidates; if none reaches `floor`, one with its p for what a name names is
    first.

    A setting written as one word (`PermitRootLogin`) is looked at in any case, because its parts
    are words of other tools.

    "is rsyslog running" asks what "is the service running" asks, for a tool that takes the name of
    a service. Only a tool that reads, and that is the best for these words with p ≥ `floor`. A
    first candidate between `floor` and `sure_from` becomes surer in the same way, and the order
    stays.
    """
    coded = names_coded_setting(text)
    if not found or (found[0].p >= max(floor, sure_from) and not coded):
        return tuple(found)
    decided = found[0].p >= floor and not coded
    raised: list[tuple[float, int]] = []
    asked: dict[str, Sequence[Ranked]] = {}
    for place, ranked in enumerate(found[: 1 if decided else MOST_NAMED]):
        if ranked.tool.kind != "read" or ranked.caution:
            continue
        contract = from_arguments(ranked.tool.args, ranked.tool.id, ranked.tool.summary)
        subject = find_subject_name(text, contract)
        if subject is None or subject.p < SUBJECT_P or _MACHINE.fullmatch(subject.text):
            continue
        if (
            subject.text.lower() in UP_BUT_NO_SERVICE
        ):  # "is vpn up" asks for no container of that name
            continue
        named = f"{text[: subject.start]}{subject.thing}{text[subject.end :]}"
        if named not in asked:
            asked[named] = rank(named)
        # A tool that takes the name is before one that does not and fits the words as well.
        least = max(floor, asked[named][0].p - CLEAR_MARGIN) if asked[named] else floor
        again = next((r for r in asked[named] if r.tool.id == ranked.tool.id), None)
        if again is not None and again.p >= max(least, ranked.p):
            raised.append((again.p, -place))
    if not raised:
        return tuple(found)
    p, place = max(raised)
    best = found[-place]
    first = replace(best, p=p, p_before_values=best.p, why_not=None, tie_break=None)
    others = [r for r in found if r is not best]
    return tuple(replace(r, rank=n) for n, r in enumerate((first, *others), start=1))


def _put_setters_first(text: str, found: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Return the candidates; "the owner of FILE" is no setting in the file if another tool sets it.

    A tool that takes any `key` then stands behind the one that has an input of this name.
    """
    named = {word.lower() for word in _OF_SOMETHING.findall(text)}
    near = found[:MOST_COMPARED] if named else ()
    writes = [one for one in near if one.tool.kind == "write"]
    keyed = [one for one in writes if {"key", "value"} <= {arg.name for arg in one.tool.args}]
    setters = [
        one
        for one in writes
        if one not in keyed and one.p >= LEAST_P and named & {arg.name for arg in one.tool.args}
    ]
    behind = [one for one in keyed if _find_key(text, one.tool) in named] if setters else []
    if not behind:
        return tuple(found)
    best = setters[0]
    caution = f"{best.tool.id} has an input for what the request names"
    kept = [one for one in found if one not in behind]
    at = kept.index(best) + 1
    late = [
        replace(one, p=min(one.p, best.p / 2), caution=caution, why_not=caution) for one in behind
    ]
    ordered = (replace(kept[0], why_not=None), *kept[1:at], *late, *kept[at:])
    return tuple(replace(one, rank=n) for n, one in enumerate(ordered, start=1))


def _find_key(text: str, tool: ToolSpec) -> str:
    """Return the setting that a tool with `key` and `value` would change, in lower case."""
    inputs = from_arguments(tool.args, tool.id, tool.summary).inputs
    found = (one.text for one in propose_write_choices(text, inputs) if one.name == "key")
    return next(found, "").lower()


def _first_without_values(
    text: str, tool: ToolSpec, rank: Callable[[str], Sequence[Ranked]]
) -> Ranked | None:
    """Return the best tool for the words that are left, with a setting called a setting."""
    rests = {_without_values(text, tool), _with_kinds(text, tool)} - {text}
    firsts = [next(iter(rank(rest)), None) for rest in sorted(rests) if content_words(rest)]
    same = [first for first in firsts if first is not None and first.tool.id == tool.id]
    return max(same, key=lambda first: first.p, default=None)


def _with_kinds(text: str, tool: ToolSpec) -> str:
    """Return "set the setting to the value in the file" for "set workers to 16 in app.yaml".

    The text stays as it is for a tool that takes no key with a value.
    """
    contract = from_arguments(tool.args, tool.id, tool.summary)
    found = {one.name: one.text for one in propose_write_choices(text, contract.inputs)}
    if not {"key", "value"} <= found.keys():
        return text
    for name in ("path", "value", "key"):
        words = re.escape(found.get(name, ""))
        text = (
            re.sub(rf"(?<![\w/.-]){words}(?![\w/-])", _KINDS[name], text, count=1)
            if words
            else text
        )
    return text


def _list_files(text: str, contract: Fillable) -> list[str]:
    """Return the files that a path input surely takes: in "gzip orders.sql" only the verb says what
    is done.
    """
    places = {one.name for one in contract.inputs if one.role == "path"}
    found = fill(text, contract, only_propose=True).values
    return [one.text for one in found if one.name in places and one.p >= FIRM_LIMIT]


def _without_values(text: str, tool: ToolSpec) -> str:
    """Return the words of a part that no input of the tool takes as a value."""
    contract = from_arguments(tool.args, tool.id, tool.summary)
    values = [one.text for one in propose_write_choices(text, contract.inputs)]
    values += _list_files(text, contract)
    subject = find_subject_name(text, contract)
    values += [subject.text] if subject else []
    for words in sorted(values, key=len, reverse=True):
        text = re.sub(rf"(?<![\w/.-]){re.escape(words)}(?![\w/-])", " ", text)
    return _PATHS.sub(" ", text) if values else text
