"""Judge sed scripts: no w, no e, and no jump back that reads no line.

In-place edits (`sed -i`) are refused by `commands/tables/sed.yaml`, and parse errors come from
`sed_parser.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import Final, get_args

from pulsus.commands.content_inspector import Opinion, Unclear
from pulsus.commands.inspectors.sed_parser import Brackets, Rejected, SedCommand, commands

_JUMPS: Final = frozenset({"b", "t", "T"})
_LITERAL: Final = re.compile(r"[A-Za-z0-9 _,:;#@%=<>'-]+")
_REFERENCES: Final = re.compile(r"\\[0-9]|(?<!\\)&")


def sed(words: tuple[str, ...], argument: str) -> Opinion:
    """Judges one script given in pieces (`-e`): each of `words` is a line or more of it."""
    del argument
    if any(word.endswith("\\") for word in words):
        return Opinion(False, "seds differ on what follows a backslash at the end", "\\")
    script = "\n".join(words)
    readings = []
    for brackets in get_args(Brackets):
        try:
            readings.append(commands(script, brackets))
        except Rejected as error:
            if brackets == "plain":
                return error.opinion
        except Unclear as error:
            return error.opinion
    for reading in readings:
        if _may_fill_memory(reading):
            rule = "the text that it keeps may grow by a factor with each line or command"
            return Opinion(True, rule, words[0], category="unbounded_stream")
        opinion = _judge_jumps(reading)
        if not opinion.reads or opinion.category is not None:
            return opinion
    return Opinion(True, "the script only reads and prints", words[0])


def _judge_jumps(found: Sequence[SedCommand]) -> Opinion:
    labels = {c.argument: place for place, c in enumerate(found) if c.letter == ":"}
    for place, command in enumerate(found):
        if command.letter in _JUMPS and command.argument:
            target = labels.get(command.argument)
            if target is None:
                return Opinion(False, "sed: there is no such label", command.argument)
            if target <= place and not _is_jump_bounded(found, target, place):
                return _endless_opinion(f"{command.letter} {command.argument}")
    if any(c.letter == "D" for c in found) and not all(map(_has_no_added_line, found)):
        return _endless_opinion("D")
    return Opinion(True, "the script only reads and prints")


def _endless_opinion(word: str) -> Opinion:
    rule = "it jumps back, and may not end"
    return Opinion(True, rule, word, category="unbounded_stream")


_MANY: Final = re.compile(r"[*+.\[{]")
_MOST_COPIES: Final = 1_000
"""A script that copies a line more often than this (`s/x/&&&&/` many times) fills the memory."""
_MOST_DOUBLINGS: Final = 8
_ESCAPED: Final = re.compile(r"\\.")
_MOST_LETTERS: Final = 1_000_000
"""The letters that `s/a/aa/g` and others like it may make of one letter together."""


def _may_fill_memory(found: Sequence[SedCommand]) -> bool:
    """Return True if one line may become very long, or the kept text doubles with each line.

    Each command counts as carried out. `line` and `kept` say how often the line and what was kept
    before stand in the pattern space; `held_line` and `held` in the hold space.
    """
    line, kept, held_line, held = 1, 0, 0, 1
    letters = prod(max(1, len(_ESCAPED.sub("x", one.put))) for one in found if one.letter == "s")
    if letters > _MOST_LETTERS and sum(map(_adds_what_it_finds, found)) > _MOST_DOUBLINGS:
        return True
    for command in found:
        match command.letter:
            case "s":
                times = max(1, len(_REFERENCES.findall(command.put)))
                line, kept = line * times, kept * (times if _MANY.search(command.argument) else 1)
            case "h":
                held_line, held = line, kept
            case "H":
                held_line, held = held_line + line, held + kept
            case "g":
                line, kept = held_line, held
            case "G":
                line, kept = line + held_line, kept + held
            case "x":
                line, kept, held_line, held = held_line, held, line, kept
            case _:
                pass
        if max(line, kept, held_line, held) > _MOST_COPIES:
            return True
    return held > 1


def _adds_what_it_finds(command: SedCommand) -> bool:
    """Return True for `s/a/aa/g`: what it puts there may be found again, and be longer."""
    if command.letter != "s" or len(_ESCAPED.sub("x", command.put)) < 2:
        return False
    letters = {*command.argument} & {*command.put}
    return bool(letters) or _MANY.search(command.argument) is not None


def _is_jump_bounded(found: Sequence[SedCommand], label: int, jump: int) -> bool:
    """Return True if each way from the label to the jump back reads a line, or shortens the
    text."""
    between = found[label + 1 : jump]
    for place, command in enumerate(between):
        if command.letter in _JUMPS and command.argument:
            return False
        if command.letter in {"n", "N"} and _is_always_passed(command, found[jump], found):
            return True
        last = place == len(between) - 1
        if last and found[jump].letter == "t" and _is_shortening(command) and len(between) == 1:
            return True
    return False


def _is_always_passed(line: SedCommand, jump: SedCommand, found: Sequence[SedCommand]) -> bool:
    """Return True if every way to `jump` passes `line`, and not at the end of the input."""
    around = line.blocks
    if jump.blocks[: len(around)] != around:
        return False
    guards = {jump.address, *(found[block].address for block in jump.blocks)}
    return not line.address or (line.address == "$!" and "$!" in guards)


def _is_shortening(command: SedCommand) -> bool:
    """Return True for `s/abc/d/`: it replaces a plain text with a shorter one."""
    plain = _LITERAL.fullmatch(command.argument) is not None
    cut = not set(command.put) & set("&\\\n") and len(command.put) < len(command.argument)
    return command.letter == "s" and plain and cut


def _has_no_added_line(command: SedCommand) -> bool:
    """Return True if the command adds no line to the pattern space."""
    if command.letter in {"G", "g", "x"}:
        return False
    if command.letter not in {"s", "y"}:
        return True
    lines = "\\n" in command.put or "\n" in command.put
    return not lines and len(_REFERENCES.findall(command.put)) <= 1
