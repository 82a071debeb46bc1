"""Read the words of a command in a text, and what comes to its standard input. Pure.

The reader knows quotes, escapes, continued lines and lists of words (`["vault", "login"]`). It is
no shell: it finds the words that a reader would take for those of the command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

_WORD: Final = late_pattern(
    r"(?:\\+[\"'](?:[^\"'\\\r\n]|\\(?![\"']))*\\+[\"']|\\[^\r\n]|\$?\"(?:[^\"\\\r\n]|\\.)*\"?|\$?'[^'\r\n]*'?|[$<]\([^()\r\n]*\)"
    r"|\$\{[^{}\r\n]*\}|[^\s\"'\\|;&<>()`])+"
)
_BLANK: Final = late_pattern(r"(?:[ \t]|\\\r?\n)+")
_HERESTRING: Final = late_pattern(r"<<<[ \t]*")
_HEREDOC: Final = late_pattern(r"<<-?[ \t]*(?:\\|[\"'])?(\w{1,40})[\"']?")
_SKIPPED: Final = late_pattern(
    rf"{_BLANK.pattern}|(?!<<<){_HEREDOC.pattern}"
    r"|(?:\d?>{1,2}|&>{1,2}|\d?<(?!<))(?:&\d|[ \t]*[^\s|;&<>()\"'`]+)?(?![<(])"
)
"""Between words: blanks, and files and texts that the shell connects."""
_ITEM: Final = late_pattern(r"\s{0,80},\s{0,80}(?:\\*([\"']))((?:[^\"'\\\r\n]|\\[^\"'\r\n])*)\\*\1")
_OPENING: Final = late_pattern(r"(\\*[\"'`])[^\"'`\r\n]*\Z")
_LAUNCHED: Final = late_pattern(
    r"(?:\A|[|;&({!`\"'\n=]|(?:^|[\s\"'`])[$#%>+]{1,4}|\\[ntr])[ \t]*"
    r"(?:(?:sudo|doas|env|exec|time|nohup|command|then|do|else|xargs|-\w{1,12}|-\w[ \t]\w{1,20}"
    r"|\w{1,40}=[^\s\"']{0,80})[ \t]{1,8}){0,4}[\w./-]{0,60}\Z"
)
_PRINTED: Final = late_pattern(r"<\((?:echo|printf)\b")
_WRITER: Final = late_pattern(r"\b(?:echo|printf)\b")
_ECHOED: Final = late_pattern(r"(?:-\w{1,3}|--)\Z")
_MOST_WORDS: Final = 40
_MOST_BEFORE: Final = 300
_MOST_CHARS: Final = 2000
_MOST_LINES: Final = 100
"""Lines of a text that a command reads."""

Place = tuple[int, int]
"""The places where a word begins and ends."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command in a text: the words after its program, and the texts of its standard input."""

    start: int
    words: tuple[Place, ...]
    given: tuple[Place, ...]
    """Words behind `<<<`."""
    end: int
    certain: bool
    """True if it begins where a command begins, and not within a sentence."""


def read_command(text: str, start: int, end: int) -> Command:
    """Return the command whose program stands from `start` to `end`."""
    before = text[max(0, start - _MOST_BEFORE) : start]
    before = before[before.rfind("\n") + 1 :]
    listed = tuple(_read_items(text, start, end))
    if listed:
        return Command(start, listed, (), listed[-1][1], certain=True)
    opening = _OPENING.search(before)
    closing = opening[1] if opening and _opens(before, opening.start()) else ""
    stop = _find_end(text, end, closing)
    words: list[Place] = []
    given: list[Place] = []
    position = _skip_quote(text, end, before)
    while position < stop and len(words) < _MOST_WORDS:
        if found := _SKIPPED.match(text, position, stop):
            pass
        elif found := _HERESTRING.match(text, position, stop):
            if word := _WORD.match(text, found.end(), stop):
                given.append(word.span())
                found = word
        elif found := _WORD.match(text, position, stop):
            words.append(found.span())
        else:
            break
        position = found.end()
    certain = bool(_LAUNCHED.search(before))
    return Command(start, tuple(words), tuple(given), position, certain)


def _read_items(text: str, start: int, end: int) -> Iterator[Place]:
    """Yield the words of a list of quoted words that the program begins."""
    quote = text[end : end + 1]
    if quote in {'"', "'"} and re.search(r"[\"'][\w./-]{0,60}\Z", text[max(0, start - 64) : start]):
        position = end + 1
        for _ in range(_MOST_WORDS):
            found = _ITEM.match(text, position)
            if not found:
                return
            yield found.span(2)
            position = found.end()


def _opens(before: str, at: int) -> bool:
    """Return True if the quote at that place opens a text that the command stands in."""
    return at == 0 or not (before[at - 1].isalnum() or before[at - 1] in ".!?,;)")


def _skip_quote(text: str, end: int, before: str) -> int:
    """Return where the words begin: behind the quote of a quoted program."""
    return end + 1 if before[-1:] in {'"', "'"} and text[end : end + 1] == before[-1:] else end


def _find_end(text: str, end: int, closing: str) -> int:
    """Return where the quote around the command closes, or the most that is read of it."""
    stop = min(len(text), end + _MOST_CHARS)
    found = closing and re.compile(rf"(?<!\\){re.escape(closing)}|\n").search(text, end, stop)
    return found.start() if found and (found[0] != "\n" or closing == "`") else stop


def find_herestrings(text: str, command: Command) -> Iterator[Place]:
    """Yield the words that a command reads behind `<<<`, without a sign before their quotes."""
    for start, end in command.given:
        yield start + (text[start] == "$"), end
    yield from (word for word in command.words if _PRINTED.search(text, *word))


def find_piped(text: str, command: Command) -> Iterator[Place]:
    """Yield the words of `echo` and `printf` whose output the command reads."""
    first = max(0, command.start - _MOST_BEFORE)
    before = text[first : command.start]
    line = before.rfind("\n") + 1
    pipe = before.rfind("|", line)
    if pipe < 0 or any(sign in before[pipe:] for sign in ";&"):
        return
    for writer in _WRITER.finditer(before, line, pipe):
        position = first + writer.end()
        while found := _BLANK.match(text, position):
            word = _WORD.match(text, found.end(), first + pipe)
            if not word:
                break
            if not _ECHOED.match(word[0]):
                yield word.span()
            position = word.end()


def find_heredoc(text: str, command: Command) -> Iterator[Place]:
    """Yield the lines below the command, up to the word that its line gives as their end."""
    line = text.rfind("\n", max(0, command.start - _MOST_BEFORE), command.start) + 1
    position = text.find("\n", command.end) + 1
    marker = _HEREDOC.search(text, max(line, command.start - _MOST_BEFORE), position)
    if not marker:
        return
    for _ in range(_MOST_LINES):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line_text = text[position:end].strip()
        if line_text == marker[1] or position >= len(text):
            return
        if line_text:
            yield position, end
        position = end + 1
