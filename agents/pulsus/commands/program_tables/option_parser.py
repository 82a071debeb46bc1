"""The words behind a program or subcommand, told apart as its own option parser would.

An unknown option, and an abbreviated one, is refused here; the options that exist are those of
`program_table.py`, and `commands/call_check/judge.py` makes the verdict.

Exact spellings only: getopt's abbreviations (`--outp`) are not listed. Clusters (`-fu`)
are read letter by letter until one takes a value (`-oFILE`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pulsus.commands.program_tables.program_table import Node, Option, WordKind
from pulsus.commands.program_tables.wildcards import as_option, shown_word
from pulsus.commands.shell.words import Word
from pulsus.fast_dataclass import dataclass

_ANY_TEXT: Final = frozenset({"text", "path", "word"})
_COUNTED: Final = re.compile(r"-\d+(?=[A-Za-z])")
"""A count, then letters: `tail -5f`. It only tells whether the program ends."""

_LIKE_OPTION: Final = re.compile(r"--?[A-Za-z]")


class Unlisted(Exception):
    """An option no table lists: the `word`, the `rule`; `wild` where it may be a file's name."""

    def __init__(self, word: str, rule: str, *, wild: bool = False) -> None:
        super().__init__(f"{word}: {rule}")
        self.word, self.rule, self.wild = word, rule, wild


@dataclass(frozen=True, slots=True)
class ParsedOption:
    """One option as given: its `name` as listed, what it is, and its `value` if it takes one.

    For a kind that takes several words (`command;`) they are in `values`.
    """

    name: str
    option: Option
    values: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """Options in order, operands, and where the operands' own words began (`rest`)."""

    given: tuple[ParsedOption, ...]
    operands: tuple[Word, ...]
    ended: bool = False
    """True if `--` stood before all of the operands."""


class Parser:
    """Reads `words` by the options of `node` and those that hold `everywhere` above it."""

    def __init__(self, node: Node, above: Mapping[str, Option], *, stop_at_first: bool) -> None:
        self.node = node
        # What a subcommand refuses is refused there, whatever may stand before it.
        inherited = {name: option for name, option in above.items() if name not in node.refused}
        self.above: Mapping[str, Option] = {**inherited, **node.everywhere}
        # Most programs have nothing above them, and hundreds of options.
        self.known: Mapping[str, Option] = (
            {**self.above, **node.options} if self.above else node.options
        )
        self.stop = stop_at_first or node.stops or node.style == "posix"
        self.given: list[ParsedOption] = []
        self.operands: list[Word] = []
        self.declined: set[str] = set()

    def parse(self, words: Sequence[Word]) -> Parsed:
        """Raises Unlisted at the first option that is not known."""
        at, ended = 0, False
        if self.node.style == "words":
            return Parsed((), tuple(words))
        while at < len(words):
            word = words[at]
            if not ended and word.text == "--" and self.node.style != "dash" and not word.wild:
                ended, at = not self.operands, at + 1
                self.operands += words[at:]
                break
            used = self.taken(words, at)
            if used:
                at += used
                continue
            if self.stop:
                self.operands += words[at:]
                break
            self.operands.append(word)
            at += 1
        self._check_taken_back()
        return Parsed(tuple(self.given), tuple(self.operands), ended)

    def _check_taken_back(self) -> None:
        """Refuse a switch that is given and declined: which of the two counts is not known here."""
        for name in sorted(self.declined & {one.name for one in self.given}):
            raise Unlisted(f"{name}=false", f"{name} is given too, and programs take the last one")

    def taken(self, words: Sequence[Word], at: int) -> int:
        """Return how many words the option at `at` takes, now in `given`, or 0 for an operand."""
        word = words[at]
        if word.wild and word.head in {"", "-"}:
            self._check_wild_word(word)
            return 0
        start = word.head if word.wild else word.text
        if self.node.style == "dash" and (exact := self.known.get(start)) and not word.wild:
            return self._take_option(start, exact, None, words, at)
        if self.node.plus and start[:1] == "+" and start in self.known:
            return self._take_option(start, self.known[start], None, words, at)
        if self.node.plus and start[:1] == "+" and start[:2] in self.known and not word.wild:
            return self._parse_cluster(words, at)
        if start[:1] != "-" or start == "-":
            return 0
        if self.node.numeric and start[1:].isdigit() and not word.wild:
            return 1
        if self.node.style == "dash":
            if start.rstrip("0123456789") in self.node.joined and not word.wild:
                return 1
            raise self._unlisted_error(start)
        if start.startswith("--") or self.node.style == "go":
            return self._parse_long(words, at)
        counted = _COUNTED.match(start) if self.node.numeric else None
        return self._parse_cluster(words, at, counted.end() if counted else 1)

    def _check_wild_word(self, word: Word, *, value: bool = False) -> None:
        """Refuse a word that may be a file name called like an option, unless no option does harm.

        Where options are whole words, none is called `*.txt` or `a*`. If a value stands for several
        names, the second one is an operand.
        """
        whole = self.node.style == "dash" and ("." in word.tail or word.head not in {"", "-"})
        safe = self.node.harmless or whole or (self.node.closed and not self._may_be_option(word))
        if not safe and (not value or not word.head):
            raise Unlisted(shown_word(word, self.node.name), as_option(word), wild=True)

    def _may_be_option(self, word: Word) -> bool:
        """Return True if a file name that `word` stands for can be a listed option."""
        between = [word.head, word.tail]
        if word.text.startswith(word.head):  # not where find puts a path
            between = re.split(r"\[.*\]|[*?]", word.text, flags=re.DOTALL)
        pattern = re.compile(".*".join(map(re.escape, between)), re.DOTALL)
        return any(map(pattern.fullmatch, (*self.known, *self.node.refused)))

    def _is_harmful(self, text: str) -> bool:
        """Return True if an option of this name may do harm, or runs what follows."""
        option = self.known.get(text)
        runs = option is not None and option.kind is not None and option.kind.name == "command"
        return runs or text in self.node.refused

    def _parse_long(self, words: Sequence[Word], at: int) -> int:
        word = words[at]
        name, equals, value = word.text.partition("=")
        if self.node.style == "go":
            # One dash or two are the same; tables name the one.
            name = "-" + name.removeprefix("-").removeprefix("-")
        option = self.known.get(name)
        if option is None or (word.wild and "=" not in word.head):
            raise self._unlisted_error(name)
        if not equals:
            return self._take_option(name, option, None, words, at)
        if option.takes == "none":
            return self._parse_switch(name, option, value, word)
        head = word.head.partition("=")[2]
        return self._take_option(name, option, Word(value, word.wild, head, word.tail), words, at)

    def _parse_switch(self, name: str, option: Option, value: str, word: Word) -> int:
        """Take `--flag=true` as given and `--flag=false` as not given, if the style knows that."""
        if self.node.style not in {"pflag", "go"} or value not in {"true", "false"} or word.wild:
            raise Unlisted(word.text, f"{name} takes no value")
        if value == "true":
            self.given.append(ParsedOption(name, option))
        else:
            self.declined.add(name)
        return 1

    def _parse_cluster(self, words: Sequence[Word], at: int, first: int = 1) -> int:
        word = words[at]
        text = word.text
        for place in range(first, len(text)):
            name = text[0] + text[place]
            option = self.known.get(name)
            if option is None or (word.wild and place >= len(word.head)):
                raise self._unlisted_error(name if len(text) == 2 else f"{name} in {text}", name)
            if first > 1 and option.category is None:
                raise self._unlisted_error(f"{name} in {text}", name)
            rest = text[place + 1 :]
            if rest and name in self.node.detached:
                raise Unlisted(text, f"{name} takes the next word, so it stands last here")
            if option.takes != "none" and rest:
                value = Word(rest, word.wild, word.head[place + 1 :], word.tail)
                return self._take_option(name, option, value, words, at)
            if option.takes == "value":
                return self._take_option(name, option, None, words, at)
            self.given.append(ParsedOption(name, option))
        return 1

    def _take_option(
        self, name: str, option: Option, value: Word | None, words: Sequence[Word], at: int
    ) -> int:
        if option.takes == "none" or (option.takes == "attached" and value is None):
            self.given.append(ParsedOption(name, option))
            return 1
        if option.takes == "pair":
            return self._take_pair(
                name, option, None if value is not None else words[at + 1 : at + 3]
            )
        if value is not None:
            self.given.append(ParsedOption(name, option, (value,)))
            return 1
        kind = option.kind
        if kind is not None and kind.name == "command" and kind.argument == ";":
            return self._take_until_semicolon(name, option, words, at)
        if at + 1 >= len(words):
            raise Unlisted(name, "the value it takes is missing")
        if words[at + 1].wild:
            self._check_wild_word(words[at + 1], value=True)
        if self.node.closed and self._is_harmful(words[at + 1].text):
            raise Unlisted(
                words[at + 1].text, f"behind {name}, not every {self.node.name} skips it"
            )
        if kind is None or kind.name in {*_ANY_TEXT, "pattern"}:
            self._check_as_option(words[at + 1].text)
        self.given.append(ParsedOption(name, option, (words[at + 1],)))
        return 2

    def _check_as_option(self, text: str) -> None:
        """Refuse a value that may also be an option, unless that option reads."""
        if self.node.harmless or self.node.closed or not _LIKE_OPTION.match(text):
            return
        names = [text.partition("=")[0]]
        if self.node.style == "go":
            names = ["-" + names[0].lstrip("-")]
        elif self.node.style != "dash" and not text.startswith("--"):
            names = [f"-{letter}" for letter in text[1:]]
        for one in names:
            option = self.known.get(one)
            if option is None or option.category is not None:
                raise self._unlisted_error(one)
            if option.takes != "none":
                if option.kind is None or option.kind.name not in _ANY_TEXT:
                    raise Unlisted(text, "it may be an option or the value of the one before it")
                return

    def _take_pair(self, name: str, option: Option, values: Sequence[Word] | None) -> int:
        if values is None or len(values) < 2 or any(word.wild for word in values):
            raise Unlisted(name, "it takes the two words that follow, as they stand")
        self.given.append(ParsedOption(name, option, tuple(values)))
        return 3

    def _take_until_semicolon(
        self, name: str, option: Option, words: Sequence[Word], at: int
    ) -> int:
        """Take the words of find -exec: up to `;`, or to `+` behind `{}`."""
        for end in range(at + 1, len(words)):
            text = words[end].text
            if text == ";" or (text == "+" and words[end - 1].text == "{}"):
                self.given.append(ParsedOption(name, option, tuple(words[at + 1 : end])))
                return end - at + 1
        raise Unlisted(name, "the command it runs does not end with ; or +")

    def _unlisted_error(self, shown: str, name: str = "") -> Unlisted:
        why = self.node.refused.get(name or shown) or self.node.refusal_reasons.get(name or shown)
        if why:
            return Unlisted(shown, why)
        return Unlisted(shown, f"not an option that {self.node.name} is known to read with")


def assign_operand_counts(kinds: Sequence[WordKind], count: int) -> Iterator[int]:
    """Return how many of `count` operands each kind takes, the first as many as the others
    leave."""
    owed = sum(kind.least for kind in kinds)
    for kind in kinds:
        owed -= kind.least
        take = max(kind.least, min(kind.most, count - owed))
        yield take
        count -= take
