"""Read values that stand beside the name of an input: "owner jan", "chown it to web:web". Pure.

For tools that write; modes of files (chmod) are read here too. Such a value is only ever proposed.
`write_choices.py` calls it; bare names such as "is nginx up" are read in `subject_names.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.core.arguments.filler import FilledValue
from pulsus.core.arguments.inputs import Input
from pulsus.core.text.access_wishes import find_private
from pulsus.core.text.tokens import STOP_WORDS
from pulsus.core.text.verb_tables import VERBS
from pulsus.late_pattern import late_pattern

_P: Final = 0.9

_PERSON_WORDS: Final = ("login", "account", "username")
"""Other words for an input that names a user."""
_NO_VALUES: Final = frozenset(("called", "named", "new", "same", "back", "again", "too", "only"))
_LINK = r"(?:\s+(?:is|to|as|be|should\s+be|called|named))?\s*[:=]?\s+|\s*[:=]\s*"
_VALUE = r"\"([^\"]{1,200})\"|'([^']{1,200})'|([^\s;\"'()]{1,200})"
_NAME = r"[A-Za-z_][\w.-]*"
_IS_PATH = late_pattern(r"[~\w.-]*/\S*|[\w.-]+\.\w{1,6}")
_COMMAS = late_pattern(r"(?i)separated by commas|comma-separated")
_NEXT_MEMBER = late_pattern(rf"\s*(?:,\s*and\b|,|\band\b|&)\s*({_NAME})(?![\w/=])")
_OPEN_NAMES: Final = frozenset(("name", "path", "value", "file", "folder", "command", "schedule"))
"""Names that are said of other things too: other rules read these inputs."""

_OWNER_AND_GROUP = late_pattern(rf"(?<![\w/.:-])({_NAME}):({_NAME})(?![\w/:])")
_OWNER = late_pattern(
    rf"(?i)\b(?:(?:is\s+)?owned\s+by|belongs?\s+to|ownership\s+(?:\S+\s+){{0,3}}?to"
    rf"|chown\s+(?:-R\s+)?(?:\S+\s+)?to|chown\s+(?:-R\s+)?(?=\S+\s+(?:\S*/|it\b|them\b)))"
    rf"\s*(?:(?:the\s+)?user\s+)?({_NAME})(?![\w/:])"
)
_GROUP = late_pattern(
    rf"(?i)\b(?:chgrp\s+(?:-R\s+)?(?:\S+\s+)?to|chgrp\s+(?:-R\s+)?(?=\S+\s+(?:\S*/|it\b|them\b)))"
    rf"\s*(?:(?:the\s+)?group\s+)?({_NAME})(?![\w/:])"
)
_MODE = late_pattern(
    r"(?i)\b(?:chmod(?:\s+(?:-R|it|them|to|[^\s,;]*[./][^\s,;]*))*|chmod(?:\s+[^\s,;]+){1,4}?\s+to"
    r"|(?:mode|permissions?|access\s+rights)(?:\s+bits)?(?:\s+(?:is|to|of|be|should\s+be)"
    r"|\s+(?:of|on|for)(?:\s+[^\s,;]+){1,4}?\s+(?:to|as))?)\s+"
    r"([0-7]{3,4}(?![\w/])|(?=[ugoa]*[=+-])(?:[ugoa]*[=+-][rwxXstugo]*,?)+)"
)
_PRIVATE_MODE: Final = "go-rwx"
"""The mode that takes all rights of others away and leaves those of the owner."""
_THE_GROUP = late_pattern(rf"(?i)\b(?:the|to|in)\s+({_NAME})\s+groups?\b(?!\s+[\w-]+[:=])")
_PROCESS = late_pattern(
    rf"(?i)\b(?:pid|process(?:\s+id)?)\W{{0,3}}(\d+)[\s,]*(?:\(\s*|named\s+|called\s+|which\s+is\s+)"
    rf"(?:an?\s+|the\s+)?({_NAME})"
)
_PROCESS_BEHIND = late_pattern(
    rf"(?i)({_NAME})(?:\s+process)?[\s,]*\(?\s*(?:with\s+)?(?:the\s+)?pid\W{{0,3}}(\d+)"
)


def propose_named_values(text: str, inputs: Sequence[Input]) -> Iterator[FilledValue]:
    """Yield a proposal for each input whose name stands before its value in `text`."""
    found: dict[str, FilledValue] = {}
    for name, value, words in (
        *_access(text, inputs),
        *_process(text, inputs),
        *_named(text, inputs),
    ):
        found.setdefault(name, FilledValue(name, value, words, _P, "propose"))
    yield from found.values()


def _named(text: str, inputs: Sequence[Input]) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and words of "shell /bin/zsh" and "authority key /etc/ca.key"."""
    names = {word for one in inputs for word in _spellings(one)}
    free = text
    # A longer name first: "authority key" is no `key`.
    for one in sorted(inputs, key=lambda i: -len(i.name)):
        if one.type != "string" or one.name in _OPEN_NAMES or not one.fillable:
            continue
        spelled = "|".join(
            re.escape(word).replace(r"\ ", r"[\s_-]") for word in sorted(_spellings(one), key=len)
        )
        rule = re.compile(rf"(?i)(?<![\w/.-])(?:{spelled})(?:{_LINK})(?:{_VALUE})")
        for match in rule.finditer(free):
            value = next(filter(None, match.groups())).rstrip(".,;:!?")
            if match[3] is not None and not _is_value(one, value, names):
                continue
            if _COMMAS.search(one.description):
                value = _whole_list(
                    value, free, match.start(match.lastindex or 0) + len(value), names
                )
            yield one.name, value, value if value in text else match[0]
            free = free[: match.start()] + " " * len(match[0]) + free[match.end() :]
            break


def _spellings(one: Input) -> tuple[str, ...]:
    plain = one.name.replace("_", " ")
    own = (plain, plain.removesuffix("s")) if len(plain) > 4 else (plain,)
    return (*own, *_PERSON_WORDS) if one.role == "person" and one.name == "user" else own


def _is_value(one: Input, value: str, names: set[str]) -> bool:
    """Return True if a word may be the value: a path for a file, and no common word for a name."""
    if one.role in ("path", "folder") or "key" in one.words:
        return bool(_IS_PATH.fullmatch(value))
    if one.role == "moment":
        return value[:1].isdigit()
    low = value.lower()
    if not low or low in STOP_WORDS or low in VERBS or low in _NO_VALUES or low in names:
        return False
    return not (one.role == "person" and re.fullmatch(_NAME, value) is None)


def _whole_list(value: str, text: str, end: int, names: set[str]) -> str:
    """Return the members of "docker, web and ops", joined by commas."""
    members = [part for part in value.split(",") if part]
    while found := _NEXT_MEMBER.match(text, end):
        low = found[1].lower()
        if low in STOP_WORDS or low in VERBS or low in names:
            break
        members.append(found[1].rstrip("."))
        end = found.end()
    return ",".join(members)


def _access(text: str, inputs: Sequence[Input]) -> Iterator[tuple[str, str, str]]:
    """Yield the owner and the group that "chown it to web:www-data" gives a file."""
    names = {one.name for one in inputs if one.type == "string"}
    if not {"owner", "group"} <= names:
        return
    mode = _MODE.search(text)
    if mode and "mode" in names:
        value = mode[1].rstrip(".,;:")
        yield "mode", value, value
    elif "mode" in names and (private := find_private(text)):
        yield "mode", _PRIVATE_MODE, private
    both = _OWNER_AND_GROUP.search(text)
    if both:
        yield "owner", both[1], both[0]
        yield "group", both[2], both[0]
        return
    for name, rule in (("owner", _OWNER), ("group", _GROUP), ("group", _THE_GROUP)):
        found = rule.search(text)
        if found and found[1].lower() not in STOP_WORDS:
            value = found[1].rstrip(".")
            yield name, value, value


def _process(text: str, inputs: Sequence[Input]) -> Iterator[tuple[str, str, str]]:
    """Yield the name beside a process id, for a tool that wants both."""
    if not {"pid", "name"} <= {one.name for one in inputs}:
        return
    found = _PROCESS.search(text)
    name = found[2] if found else ""
    if not found and (behind := _PROCESS_BEHIND.search(text)):
        name = behind[1]
    low = name.lower()
    if name and low not in STOP_WORDS and low not in VERBS and low not in ("process", "with"):
        yield "name", name, name
