"""Describe how well a value suits an input, as named features for the weights. Pure.

Names of features are keys of core/arguments/argument_model.json: a changed name needs a new fit.
"""

from __future__ import annotations

from collections.abc import Mapping

from pulsus.core.arguments.candidates.candidate import NO_FIT, Candidate, fit_of_kind
from pulsus.core.arguments.features.context_features import add_context
from pulsus.core.arguments.inputs import NO_DEFAULT, Input
from pulsus.core.arguments.request_words import RequestWords
from pulsus.core.arguments.words.abbreviations import stem_in_full
from pulsus.core.text.tokens import words as split_words
from pulsus.late_pattern import late_pattern

Features = dict[str, float]

_MADE_FROM_WORDS = frozenset(
    ("choice", "example", "listed", "flag", "negated", "choices", "examples")
)
_INTERFACE = late_pattern(
    r"(?:eth|ens|enp|eno|em|bond|br|lo|wlan|wlp|tun|tap|wg|docker|veth|vlan|ppp|team|ib|vmbr|virbr|usb)"
    r"[\w.:-]{0,14}\Z"
)
_MOST_OUTLINED = 24
"""The characters of a text that its outline shows."""


def null_features(one: Input, words: RequestWords, candidates: int) -> Features:
    """Return the features of giving no value: what the input is, and what the request has."""
    named = bool(one.words & words.present)
    need = (
        "required" if one.required else "default" if one.default is not NO_DEFAULT else "optional"
    )
    return {
        f"none|{need}": 1.0,
        f"none|{one.type}|{need}": 1.0,
        f"none|{one.role}|{need}": 1.0,
        f"none|named={named}|{need}": 1.0,
        f"none|candidates={min(candidates, 4)}|{need}": 1.0,
    }


def pair_features(
    one: Input, candidate: Candidate, words: RequestWords, rivals: Mapping[int, int], same: int
) -> Features:
    """Return the features of giving `candidate` to `one`.

    `rivals` counts for each place the inputs that could take it. `same` counts the candidates of
    the input that are of this kind.
    """
    need = "required" if one.required else "optional"
    kind = candidate.kind
    found: Features = {
        f"kind={kind}": 1.0,
        f"{kind}|{one.type}": 1.0,
        f"{kind}|{one.role}": 1.0,
        f"{kind}|{need}": 1.0,
    }
    fit = fit_of_kind(one, kind)
    found[f"fit={fit if fit == NO_FIT else min(fit, 3)}|{need}"] = 1.0
    if fit == 0:
        found[f"own kind|same={min(same, 3)}"] = 1.0
    if one.role == "interface" and isinstance(candidate.value, str):
        found[f"interface like={_INTERFACE.match(candidate.value) is not None}"] = 1.0
    if qualifiers := words.qualifiers.get(one.name):
        found[f"qualified={not qualifiers.isdisjoint(words.present)}|{need}"] = 1.0
    add_context(found, one, candidate, words)
    _add_shape(found, one, candidate, words)
    if candidate.unit:
        _add_unit(found, one, candidate)
    if kind in _MADE_FROM_WORDS:
        found[f"{kind}|alike"] = candidate.alike
        found[f"{kind}|alike={int(candidate.alike * 4)}"] = 1.0
    found[f"{kind}|same={min(same, 4)}"] = 1.0
    found[f"{kind}|same={min(same, 4)}|rivals={min(rivals.get(candidate.start, 1), 4)}"] = 1.0
    for word in sorted(one.words):
        found[f"{kind}|name:{word}"] = 1.0
    return found


def _add_shape(found: Features, one: Input, candidate: Candidate, words: RequestWords) -> None:
    value = candidate.value
    if isinstance(value, str):
        _add_text(found, one, candidate, value, words)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _add_number(found, one, value)
    if one.default is not NO_DEFAULT and value == one.default:
        found["is default"] = 1.0
    if candidate.quoted:
        found[f"quoted|{one.type}"] = 1.0
        found[f"quoted|{one.role}"] = 1.0


def _add_text(
    found: Features, one: Input, candidate: Candidate, text: str, words: RequestWords
) -> None:
    kind = candidate.kind
    parts = text.split()
    inside = [stem_in_full(part.lower().strip(".,'\"")) for part in parts]
    found[f"{kind}|words={min(len(parts), 5)}"] = 1.0
    own = sum(word in words.own for word in inside) / max(1, len(inside))
    if own:
        found[f"{kind}|own words"] = own
        found[f"all own words|{one.role}"] = float(own == 1.0)
    if not one.words.isdisjoint(inside):
        found[f"{kind}|names itself"] = 1.0
        found["names itself"] = 1.0
    said = sum(word in one.described for word in inside) / max(1, len(inside))
    if said:
        found[f"{kind}|in description"] = said
    if one.examples:
        _add_examples(found, one, kind, text)
    if kind in ("path", "file"):
        _add_path(found, one, text, words)
    if candidate.end >= len(words.request.rstrip(" .?!")):
        found[f"{kind}|at the end"] = 1.0
    if kind in ("name", "region"):
        found[f"{kind}|wants region={one.region}"] = 1.0


def _add_path(found: Features, one: Input, path: str, words: RequestWords) -> None:
    last = path.rstrip("/").rpartition("/")[2]
    file_like = "." in last[1:] or last.isupper() or last.endswith(("SUMS", "_config"))
    if one.role == "source":
        known = set(split_words(str(one.default).rpartition("/")[2]))
        found[f"like default={not known.isdisjoint(split_words(last))}"] = 1.0
    says_file = not one.described.isdisjoint(("file", "document", "list", "archive"))
    found[f"file like={file_like}|{one.role}"] = 1.0
    found[f"file like={file_like}|says file={says_file}"] = 1.0
    inside = {stem_in_full(word) for word in split_words(path)}
    for label, own, single in (
        ("says", one.described, words.described_of_one),
        ("names", one.words, words.of_one),
    ):
        if not inside.isdisjoint(single & own):
            found[f"path {label} own"] = 1.0
        if not inside.isdisjoint(single - own):
            found[f"path {label} other"] = 1.0


def _add_examples(found: Features, one: Input, kind: str, text: str) -> None:
    low, outline = text.lower(), _outline(text)
    if any(low == example.lower() for example in one.examples):
        found["is example"] = 1.0
    if any(outline == _outline(example) for example in one.examples):
        found["outline of example"] = 1.0
        found[f"{kind}|outline of example"] = 1.0


def _add_number(found: Features, one: Input, value: float) -> None:
    found[f"{one.role}|size={len(str(int(abs(value))))}"] = 1.0
    if 1900 <= value <= 2100:
        found[f"{one.role}|year like"] = 1.0
        found[f"year like|named={'year' in one.name.lower()}"] = 1.0
    found[f"{one.unit[0] or one.role}|whole={value == int(value)}"] = 1.0
    if value != int(value):
        found[f"{one.type}|has point"] = 1.0


def _add_unit(found: Features, one: Input, candidate: Candidate) -> None:
    unit = stem_in_full(candidate.unit)
    if candidate.kind in ("duration", "size"):
        exact = unit in one.words
        waits = "timeout" in one.name or "interval" in one.name
        found[f"exact unit={exact}"] = 1.0
        found[f"exact unit={exact}|timeout={waits}"] = 1.0
    match = unit in one.words or unit in one.described
    found[f"unit={match}|{candidate.kind}"] = 1.0
    found[f"unit={match}|{one.role}"] = 1.0
    if candidate.kind == "assign":
        found[f"assigned={candidate.unit == one.name.lower()}"] = 1.0


def _outline(text: str) -> str:
    """Return the kinds of characters in order, each run once: `Ab-12` gives `Aa-9`."""
    marks: list[str] = []
    for letter in text[:_MOST_OUTLINED]:
        mark = letter
        if letter.isdigit():
            mark = "9"
        elif letter.isupper():
            mark = "A"
        elif letter.islower():
            mark = "a"
        if not marks or marks[-1] != mark:
            marks.append(mark)
    return "".join(marks)
