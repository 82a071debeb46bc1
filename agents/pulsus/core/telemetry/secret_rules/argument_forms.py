"""Forms of commands that take a secret as a word: the table of programs. Pure.

`secret_arguments.txt` lists the forms: programs, their words and options, and the place of the
secret. A password option such as `mysql -pX` is found by these forms; `command_secrets.py` hides
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from pulsus.core.telemetry.secret_rules.redaction_words import LIKELY
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

_LIKELY: Final = late_pattern(f"(?i:{LIKELY})")
_SHORT: Final = 2
"""Characters of an option of one letter."""
_OPTION: Final = late_pattern(r"-|/[a-z]{1,10}(?::|\Z)")
_LETTERS: Final = late_pattern(r"-(?!X)[A-Za-z]{1,7}")

Span = tuple[int, int, int]
"""The number of a word, and where in it the secret begins and ends."""


@dataclass(frozen=True, slots=True)
class ArgumentForm:
    """One line of the table, for one program."""

    needed: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    """Options, and the form of their value. A value of no form stands in the option itself."""
    words: tuple[str, ...]
    """Forms of words that may stand anywhere."""
    places: tuple[str, ...]
    from_input: bool

    def find(self, words: Sequence[str], *, certain: bool) -> Iterator[Span]:
        """Yield where the words after the program are secret.

        `certain` tells that the words are a command, so each word in the place of a secret is one.
        """
        if not self.fits(words):
            return
        for option, value in self.options:
            yield from _find_in_options(words, option, value)
        for number, word in enumerate(words):
            found = next(
                (hit for each in self.words if (hit := _compile_form(each).match(word))), None
            )
            if found and found.end() < len(word):
                yield number, found.end(), len(word)
        for number in self._find_places(words):
            if certain or _LIKELY.match(words[number].strip("\"'")):
                yield number, 0, len(words[number])

    def fits(self, words: Sequence[str]) -> bool:
        """Return True if the words have the options, and the first words, of this form."""
        if not all(
            any(_compile_needed(each).fullmatch(word) for word in words) for each in self.needed
        ):
            return False
        return self._skip_fixed(words) is not None

    def _skip_fixed(self, words: Sequence[str]) -> int | None:
        """Return the number of the first word after the fixed ones that begin the form."""
        number = 0
        for place in self._fixed():
            number = next(
                (at + 1 for at in range(number, len(words)) if _fits(place, words[at])), 0
            )
            if not number:
                return None
        return number

    def _fixed(self) -> tuple[str, ...]:
        first = next((at for at, each in enumerate(self.places) if each in {"*", "X"}), None)
        return self.places[:first]

    def _find_places(self, words: Sequence[str]) -> Iterator[int]:
        """Yield the numbers of the words in the places of secrets.

        An option before a place may have a word as its value. So as many words after the place are
        secrets too.
        """
        places = self.places[len(self._fixed()) :]
        start = self._skip_fixed(words)
        if not places or start is None:
            return
        plain = [at for at in range(start, len(words)) if not _OPTION.match(words[at])]
        for number, place in enumerate(places[: len(plain)]):
            if place == "X":
                before = range(start, plain[number])
                loose = sum(words[at].startswith("-") and "=" not in words[at] for at in before)
                yield from plain[number : number + 1 + loose]
            elif place != "*" and not _fits(place, words[plain[number]]):
                return


def _find_in_options(words: Sequence[str], option: str, value: str) -> Iterator[Span]:
    quoted = [at for at, word in enumerate(words) if word[:2] in {"'-", '"-'}]
    if quoted:
        bare = [word[1:] if at in quoted else word for at, word in enumerate(words)]
        for number, first, last in _find_in_options(bare, option, value):
            shift = number in quoted
            yield number, first + shift, last + shift
        return
    for number, word in enumerate(words):
        if not value:
            if word.startswith(option) and len(word) > len(option):
                yield number, len(option), len(word)
            continue
        end = _skip_option(word, option, exact=not value.strip("X"))
        if end is None:
            continue
        if end < len(word):
            yield from _find_value(number, word, end, value)
            continue
        for at in range(number + 1, min(number + 1 + value.count("X"), len(words))):
            if not words[at].startswith("--"):
                yield from _find_value(at, words[at], 0, value)


def _skip_option(word: str, option: str, *, exact: bool) -> int | None:
    """Return where in a word the value of the option begins, or its end if it is the next word.

    Letters of options may stand together (`-sSu bob:…`). If they also have a value with a form
    (`-sSubob:…`), the form tells where it begins.
    """
    if word.startswith(option):
        following = word[len(option) : len(option) + 1]
        if not following or following in "=:":
            return len(option) + bool(following)
        return len(option) if len(option) == _SHORT else None
    letters = _LETTERS.match(word) if len(option) == _SHORT and option[0] == "-" else None
    at = letters[0].find(option[1]) if letters else -1
    whole = at == len(word) - 1
    return at + 1 if at > 0 and (whole or not exact) else None


def _find_value(number: int, word: str, start: int, value: str) -> Iterator[Span]:
    if not value.strip("X"):
        yield number, start, len(word)
    elif found := _compile_form(value).match(word, start):
        yield number, found.end(), len(word)


def _fits(place: str, word: str) -> bool:
    if "*" in place:
        return bool(_compile_word(place).fullmatch(word.strip("\"'")))
    return word.strip("\"'").lower() == place.lower()


@lru_cache(maxsize=512)
def _compile_word(place: str) -> re.Pattern[str]:
    return re.compile(re.escape(place).replace(r"\*", ".{0,200}"), re.I)


@lru_cache(maxsize=512)
def _compile_form(form: str) -> re.Pattern[str]:
    """Return the pattern of what stands before the secret in a word."""
    before = form.removesuffix("X")
    last = re.escape(before[-1])
    return re.compile(
        r"[\"']?" + re.escape(before).replace(r"\*", rf"[^{last}\s]{{0,200}}") + "(?!//)", re.I
    )


@lru_cache(maxsize=512)
def _read_form(line: str) -> ArgumentForm:
    options, needed, words, places = [], [], [], []
    for part in line.split():
        if part.startswith("?"):
            needed.append(part[1:])
        elif part.startswith("-") or (part.startswith("/") and "=X" in part):
            option, sign, value = part.partition("=")
            options.append((option, value) if sign else (option.removesuffix("X"), ""))
        elif part.endswith("X") and part not in {"X", "<X"}:
            words.append(part)
        elif part != "<X":
            places.append(part)
    from_input = "<X" in line.split()
    return ArgumentForm(tuple(needed), tuple(options), tuple(words), tuple(places), from_input)


@lru_cache(maxsize=512)
def _compile_needed(option: str) -> re.Pattern[str]:
    if len(option) == _SHORT and option[0] == "-":
        return re.compile(rf"-\w{{0,8}}{re.escape(option[1])}\w{{0,8}}")
    return re.compile(rf"{re.escape(option)}(?:=.*)?", re.S)


def _read_table() -> dict[str, tuple[str, ...]]:
    """Return the lines of each program, without the programs."""
    text = Path(__file__).with_name("secret_arguments.txt").read_text(encoding="utf-8")
    table: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            programs, _, form = line.partition(" ")
            for program in programs.lower().split(","):
                table[program] = (*table.get(program, ()), form)
    return table


TABLE: Final = _read_table()
FAMILIES: Final = tuple(name.removesuffix("*") for name in TABLE if name.endswith("*"))


def forms_of(program: str) -> tuple[ArgumentForm, ...]:
    """Return the forms of a program, by its name or path."""
    name = program.lower().rpartition("/")[2].removesuffix(".exe")
    lines = TABLE.get(name, ())
    for family in FAMILIES:
        if name.startswith(family):
            lines = (*lines, *TABLE[f"{family}*"])
    return tuple(map(_read_form, lines))
