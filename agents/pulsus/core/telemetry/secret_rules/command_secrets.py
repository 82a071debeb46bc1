"""Secrets that a command takes as a word, or from its standard input. Pure.

Passwords in command lines (`curl -u`, `mysql -p`) are masked here, by the table of
`argument_forms.py`.

A command stands in a line of a shell, in a list of its words, or within a sentence. Linear in the
text: a command is read up to a bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from pulsus.core.telemetry.secret_rules.argument_forms import (
    FAMILIES,
    TABLE,
    ArgumentForm,
    forms_of,
)
from pulsus.core.telemetry.secret_rules.command_words import (
    Command,
    find_heredoc,
    find_herestrings,
    find_piped,
    read_command,
)
from pulsus.late_pattern import late_pattern

MARK: Final = "[redacted]"
"""The same as in redaction.py."""

_REFERENCE: Final = late_pattern(r"\$\w+|\$\{\w+\}|\$\((?!echo|printf)[^()]*\)|%\w+%|-|…|\.{3}")
"""A variable, or what another command prints, is no secret."""
_NAMED_OPTION: Final = late_pattern(
    r"--?(?:[a-z0-9]{1,20}[_-]){0,4}(?:password|passwd|passphrase|passcode|pass|pwd|pw|secret|token"
    r"|api-?key|(?:access|secret|private)-?key)",
    re.I,
    words=("pass", "pwd", "pw", "secret", "token", "key"),
)
"""An option of any program whose value is a secret."""
_MOST_PROGRAM: Final = 64
_MOST_ARGUMENTS: Final = 40
_NAME_LIKE: Final = late_pattern(r"[a-z0-9_-]+")


def _names_by_word() -> dict[str, tuple[str, ...]]:
    """Return the programs by the first part of their name, as `kadmin` of `kadmin.local`."""
    names: dict[str, tuple[str, ...]] = {}
    for name in TABLE:
        word = name.partition(".")[0]
        names[word] = (*names.get(word, ()), name)
    return names


_NAMES: Final = _names_by_word()


@lru_cache(maxsize=256)
def _compile_programs(names: tuple[str, ...]) -> re.Pattern[str]:
    programs = "|".join(
        re.escape(name) + (r"[\w-]{0,20}" if name in FAMILIES else "")
        for name in sorted(names, reverse=True)
    )
    return re.compile(
        rf"(?:(?<![\w.@=%-])|(?<=\\[ntr]))(?:{programs})(?:\.exe)?(?![\w.=@:/%-])",
        re.I,
    )


def hide_in_commands(text: str) -> str:
    """Return the text without the secrets that its commands take."""
    names = _find_names(text.lower())
    if not names:
        return text
    spans: list[tuple[int, int]] = []
    for found in _compile_programs(names).finditer(text):
        forms = forms_of(found[0])
        if not forms:
            continue
        command = read_command(text, found.start(), found.end())
        for form in forms:
            spans += _find_in_command(text, command, form)
    return _replace(text, spans)


def _find_names(lower: str) -> tuple[str, ...]:
    """Return the programs of the table that are words of a text in lower case, in order."""
    words = set(_NAME_LIKE.findall(lower.replace("\\n", " ").replace("\\t", " ")))
    found = {name for word in _NAMES.keys() & words for name in _NAMES[word]}
    found.update(family for family in FAMILIES if family in lower)
    return tuple(sorted(found))


def _find_in_command(text: str, command: Command, form: ArgumentForm) -> Iterator[tuple[int, int]]:
    words = [text[start:end] for start, end in command.words]
    for number, first, last in form.find(words, certain=command.certain):
        start = command.words[number][0]
        yield start + first, start + last
    if form.from_input and form.fits(words):
        yield from find_herestrings(text, command)
        yield from find_piped(text, command)
        yield from find_heredoc(text, command)


def hide_in_arguments(words: Sequence[str]) -> list[str]:
    """Return the words of a command, as a program gets them, without its secrets."""
    hidden = list(words)
    for number, program in enumerate(words[:-1]):
        if _NAMED_OPTION.fullmatch(program) and not words[number + 1].startswith("-"):
            hidden[number + 1] = MARK
        for form in forms_of(program) if len(program) <= _MOST_PROGRAM else ():
            following = words[number + 1 : number + 1 + _MOST_ARGUMENTS]
            for at, first, last in form.find(following, certain=True):
                if not _REFERENCE.fullmatch(following[at][first:last]):
                    hidden[number + 1 + at] = following[at][:first] + MARK + following[at][last:]
    return hidden


def _replace(text: str, spans: Sequence[tuple[int, int]]) -> str:
    parts, position = [], 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        first, last = _within_quotes(text, max(start, position), end)
        if first >= last or _REFERENCE.fullmatch(text, first, last):
            continue
        parts += [text[position:first], MARK]
        position = last
    return "".join(parts) + text[position:] if parts else text


def _within_quotes(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without the quotes around it."""
    if start < end and text[end - 1] in "\"'":
        quote = text[end - 1]
        if text[start] == quote and end - start > 1 and text.count(quote, start, end) == 2:
            return start + 1, end - 1
        if text.count(quote, start, end) == 1:
            return start, end - 1
    return start, end
