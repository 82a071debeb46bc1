"""Judge calls of ps: some show the environments of other processes (ps(1), procps-ng).

The environment may hold passwords and tokens, so such a call is refused.

ps reads its words twice. First each word with a dash holds Unix options. If one of them does not
parse (`-x`, a user that is not known, formats that contradict each other), all words are read again
as BSD options, where `e` shows environments: `ps -axe`, `ps -ef -x`. `docker top` hands its words
to the same program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pulsus.commands.content_inspector import Opinion
from pulsus.commands.shipped_data import words_of
from pulsus.fast_dataclass import dataclass

_UNIX: Final = frozenset("AadeNcFfjlMPyZHhwLmTSVrv")
_UNIX_TAKING: Final = frozenset("CGgnOopqstUuk")
_BSD: Final = frozenset("acefghjlmnrsuvwxSTXZHLVCM")
_BSD_TAKING: Final = frozenset("kNOopqtU")
_WORDS: Final = words_of(Path(__file__).with_name("ps_words.yaml"))
_ALONE, _TAKING, _COLUMNS = _WORDS["alone"], _WORDS["taking"], _WORDS["columns"]
_FORMATS: Final = frozenset("flFjOo")
"""Unix options of which two may contradict each other: then the words are read again."""

_THREADS: Final = frozenset("LmTH")
_NUMBERS: Final = re.compile(r"\d+([, ]+\d+)*")
_CERTAIN: Final = frozenset("Coq")
"""Options whose value parses, or fails in the second reading as well."""

_SHOWN: Final = "it shows environments, of other processes too"


@dataclass(frozen=True, slots=True)
class _Letters:
    """The options of one word: its `letters`, and the `value` of the last one, if it takes one."""

    letters: str
    value: str | None
    used: int


def inspect(words: tuple[str, ...], argument: str) -> Opinion:
    """Judge the words of ps. For podman (`argument`) only columns are known: with anything else it
    runs a ps in the container."""
    if argument:
        other = next((w for w in words if not set(w.split(",")) <= _COLUMNS), None)
        why = "it lists processes" if other is None else "not columns that podman knows itself"
        return Opinion(other is None, why, other or words[0])
    wrong = next(_refuse_unknown_words(words), None)
    if wrong is not None:
        return wrong
    unix = [word for word in words if _is_unix_option(word)]
    again = not _is_surely_unix(words) and _may_parse_as_bsd(words)
    for at, word in enumerate(words):
        if "E" in _option_letters(words, at, _BSD_TAKING).letters and not _is_option_value(
            words, at
        ):
            return Opinion(False, f"on other systems {_SHOWN}", word)
        bsd = word[:1].isalpha() and not _is_option_value(words, at)
        if (bsd or (again and word in unix)) and "e" in _option_letters(
            words, at, _BSD_TAKING
        ).letters:
            return Opinion(False, _SHOWN if bsd else f"read as BSD options, {_SHOWN}", word)
        if again and word[:1].isalpha() and "e" in _option_letters(words, at, _BSD_TAKING).letters:
            return Opinion(False, f"it may be BSD options: then {_SHOWN}", word)
    return Opinion(True, "it lists processes", words[0])


def _refuse_unknown_words(words: Sequence[str]) -> Iterator[Opinion]:
    for word in words:
        if "environ" in word.lower():
            yield Opinion(False, _SHOWN, word)
        if word.startswith("--"):
            name, _, _ = word.partition("=")
            if name not in _ALONE | _TAKING:
                yield Opinion(False, "not an option that ps is known to read with", word)


def _is_unix_option(word: str) -> bool:
    return word[:1] == "-" and word[1:2].isalpha()


def _option_letters(words: Sequence[str], at: int, taking: frozenset[str]) -> _Letters:
    text = words[at].removeprefix("-")
    for place, letter in enumerate(text):
        if letter in taking:
            rest = text[place + 1 :]
            following = words[at + 1] if at + 1 < len(words) else None
            value = rest or following
            return _Letters(text[: place + 1], value, 1 if rest or following is None else 2)
    return _Letters(text, None, 1)


def _is_option_value(words: Sequence[str], at: int) -> bool:
    """Return True if the word is the value of the option before it, in the first reading."""
    place = 0
    while place < at:
        place += _count_words_used(words, place)
    return place > at


def _count_words_used(words: Sequence[str], at: int) -> int:
    word = words[at]
    if word.startswith("--"):
        return 2 if word in _TAKING else 1
    if _is_unix_option(word):
        return _option_letters(words, at, _UNIX_TAKING).used
    return _option_letters(words, at, _BSD_TAKING).used if word[:1].isalpha() else 1


def _is_surely_unix(words: Sequence[str]) -> bool:
    """Return True if the first reading is certain to be the one that counts."""
    seen: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if _is_unix_option(word):
            found = _option_letters(words, at, _UNIX_TAKING)
            taken = found.letters[-1:] if found.value is not None else ""
            plain = found.letters.removesuffix(taken)
            if set(plain) - _UNIX or (taken and not _is_valid_value(taken, found.value or "")):
                return False
            if found.value is None and set(found.letters) & _UNIX_TAKING:
                return False
            seen += found.letters
        elif word.startswith("--") and not _is_valid_long_option(words, at):
            return False
        at += _count_words_used(words, at)
    bsd = any(
        word[:1].isalpha() and not _is_option_value(words, at) for at, word in enumerate(words)
    )
    return _may_combine(seen, words, bsd=bsd)


def _may_combine(seen: Sequence[str], words: Sequence[str], *, bsd: bool) -> bool:
    formats = {letter for letter in seen if letter in _FORMATS}
    has_format = any(word.startswith("--format") for word in words)
    has_own_format = formats & {"o"} or has_format
    threads = set(seen) & _THREADS
    if len(threads) > 1 or (bsd and seen):
        return False
    return not (has_own_format and formats - {"o", "O"})


def _may_parse_as_bsd(words: Sequence[str]) -> bool:
    """Return True if all words may be BSD options: any other letter makes ps fail."""
    at = 0
    while at < len(words):
        if not words[at][:1].isalpha() and not _is_unix_option(words[at]):
            at += 2 if words[at] in _TAKING else 1
            continue
        found = _option_letters(words, at, _BSD_TAKING)
        if set(found.letters) - _BSD - _BSD_TAKING:
            return False
        if found.letters[-1:] in {"p", "q"} and not _NUMBERS.fullmatch(found.value or ""):
            return False
        at += found.used
    return True


def _is_valid_value(letter: str, value: str) -> bool:
    return letter in _CERTAIN or value == "root" or _NUMBERS.fullmatch(value) is not None


def _is_valid_long_option(words: Sequence[str], at: int) -> bool:
    name, equals, value = words[at].partition("=")
    if name not in _TAKING:
        return True
    if not equals:
        if at + 1 >= len(words):
            return False
        value = words[at + 1]
    sure = {"--format", "--sort", "--cols", "--columns", "--lines", "--rows", "--width"}
    return name in sure or value == "root" or _NUMBERS.fullmatch(value) is not None
