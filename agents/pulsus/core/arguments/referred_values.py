"""Read what "it", "there" and "that file" mean in a part of a request: a value of a part before it.

A pronoun in a plan of several steps is judged in `core/compose/plans/unconnected_steps.py`.

Pure. Only for tools that write, and the value is only ever proposed. Where two things may be meant,
none is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.core.arguments.filler import FilledValue
from pulsus.core.arguments.inputs import Input
from pulsus.late_pattern import late_pattern

_P: Final = 0.8
PLACES: Final = ("path", "folder", "source")
"""Roles of inputs that take a path."""

_NOUNS = (
    r"(?P<noun>file|config(?:uration)?|log|folder|directory|dir|path|mount(?:\s+point)?|archive|backup"
    r"|tarball|copy|cert(?:ificate)?)"
)
_PLACE = late_pattern(
    rf"(?i)\b(?:(?:that|this|the(?:\s+(?:same|new))?|same)\s+{_NOUNS}\b|it\b|them\b|there\b|same\s+place\b)"
)
_PERSON = late_pattern(
    r"(?i)\b(?:(?:that|this|the(?:\s+(?:same|new))?|same|their|his|her|its)\s+(?:user|account|login|crontab)"
    r"|him|her|them|they|it|he|she|the\s+(?:person|new\s+user))\b"
)
_PACKED = late_pattern(r"(?i)\.(?:tar|tgz|tbz2?|txz|zip|tar\.\w{2,4})$")
_FILES = frozenset(("file", "config", "configuration", "log", "cert", "certificate"))
_ARCHIVES = frozenset(("archive", "backup", "tarball", "copy"))


def says_place(clause: str) -> bool:
    """Return True if a part of a request points to a file or folder of another part."""
    return _PLACE.search(clause) is not None


def propose_referred(
    clause: str, inputs: Sequence[Input], earlier: Sequence[Sequence[tuple[Input, FilledValue]]]
) -> Iterator[FilledValue]:
    """Yield a proposal for each of `inputs` that has no value and that `clause` points back for.

    `earlier` are the inputs of the steps before with their values, in order.
    """
    places = [one for one in inputs if one.required and one.role in PLACES]
    found = _PLACE.search(clause)
    if found and len(places) == 1 and (value := _find_place(found["noun"], earlier)):
        yield _again(places[0], value)
    people = [one for one in inputs if one.role == "person" and one.name == "user"]
    if len(people) == 1 and _PERSON.search(clause):
        known = {
            str(value.value): value
            for step in earlier
            for one, value in step
            if one.role == "person" and one.name == "user"
        }
        if len(known) == 1:
            yield _again(people[0], next(iter(known.values())))


def _again(one: Input, value: FilledValue) -> FilledValue:
    return FilledValue(one.name, value.value, value.text, _P, "propose")


def _find_place(
    noun: str | None, earlier: Sequence[Sequence[tuple[Input, FilledValue]]]
) -> FilledValue | None:
    """Return the path that is meant: the only one of the nearest step with a path.

    Of an archive and what was packed or unpacked, "that file" and "the archive" name one. "it" is
    what a step changed: the folder that was unpacked into, but for a new archive either.
    """
    named = (noun or "").lower().split(" ")[0]
    for step in reversed(earlier):
        paths = [(one, v) for one, v in step if _is_place(one)]
        if not paths:
            continue
        packed = [v for one, v in paths if _PACKED.search(v.text) or one.name == "archive"]
        plain = [v for one, v in paths if v not in packed]
        if len({v.text for _, v in paths}) == 1:
            return paths[0][1] if not (named in _ARCHIVES and plain) else None
        if named in _ARCHIVES:
            return _only(packed)
        makes_archive = any(one.name == "archive" for one, _ in paths)
        if named or not makes_archive:
            return _only([v for v in plain if named not in _FILES or "." in v.text] or plain)
        return None
    return None


def _is_place(one: Input) -> bool:
    return one.role in PLACES or one.name in ("mount_point", "archive")


def _only(values: Sequence[FilledValue]) -> FilledValue | None:
    return values[0] if len({value.text for value in values}) == 1 else None
