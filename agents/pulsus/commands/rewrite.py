"""The same command so that it ends by itself (assistant architecture §2.6, rewrites).

One word of the text is changed at a time, and after each the text is read again: it has to say what
was meant and nothing else. Whether the result may be offered is decided by judging it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.option_parser import ParsedOption, Parser, Unlisted
from pulsus.commands.program_tables.subcommands import Level, levels
from pulsus.commands.shell.script_parser import Script, parse_command
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.commands.shell.wrappers import unwrap
from pulsus.commands.shipped_data import rules_of
from pulsus.fast_dataclass import dataclass

_FILE: Final = Path(__file__).parent / "rules" / "rewrite.yaml"
_WATCHES: Final = re.compile(r"-[a-zA-Z]*[nqs]|--interval|--equexit|--shotsdir")
"""Options of watch that take the next word."""

_COUNT: Final = "5"
"""The rounds of figures that are asked for where nothing limits them."""

_DROPPED: Final = {"unbounded_stream", "tty_flag"}


@dataclass(frozen=True, slots=True)
class _Edit:
    """At the word `at` of a call, `words` instead of `count` words; `given`: as it is written."""

    at: int
    count: int
    words: tuple[Word, ...]
    written: str


def rewrite_command(command: str, script: Script, context: JudgeContext) -> str | None:
    """Return a command to offer in place of `command`, not yet judged, or None."""
    if script.written_out:
        return None  # the words of the loop's body stand in the text once, with the variable
    text, changed = command, script
    for index, stage in enumerate(script.stages):
        # From the end, so that a change moves none that is still to come.
        for edit in sorted(_edits(stage.words, context), key=lambda e: -e.at):
            meant = _meant(changed, index, edit)
            found = _written(text, changed.stages[index].words, edit, meant)
            if found is None:
                return None
            text, changed = found, meant
    return None if changed is script else text


def _meant(script: Script, index: int, edit: _Edit) -> Script:
    stage = script.stages[index]
    words = (*stage.words[: edit.at], *edit.words, *stage.words[edit.at + edit.count :])
    stages = list(script.stages)
    stages[index] = replace(stage, words=words)
    return replace(script, stages=tuple(stages))


def _written(text: str, words: Sequence[Word], edit: _Edit, meant: Script) -> str | None:
    """Return `text` with the edit, at a place where the parser reads it as meant, or None."""
    if edit.count:
        old, keeps = words[edit.at].text, ""
    else:
        old = keeps = words[edit.at - 1].text
    new = " ".join(filter(None, (keeps, edit.written)))
    gone = r"\s*" if not new else ""
    for found in re.finditer(rf"(?<!\S)(['\"]?){re.escape(old)}\1(?!\S){gone}", text):
        candidate = (text[: found.start()] + new + text[found.end() :]).strip()
        if _says(candidate, meant):
            return candidate
    return None


def _says(text: str, meant: Script) -> bool:
    try:
        return parse_command(text) == meant
    except Unreadable:
        return False


def _edits(words: Sequence[Word], context: JudgeContext) -> Iterator[_Edit]:
    inner = unwrap(words)
    if not inner:
        return
    start = len(words) - len(inner)
    instead = _instead(inner[0].text)
    if inner[0].text == "watch":
        yield from _once(inner, start)
    elif instead:
        yield from _exchanged(inner, start, instead)
    else:
        with suppress(Unlisted):
            yield from _walk(inner, start, context)


def _exchanged(words: Sequence[Word], start: int, how: Mapping[str, str]) -> Iterator[_Edit]:
    """Yield the edits for another program, if each option can be kept or left out."""
    options = [at for at, word in enumerate(words) if at and word.text[:1] in {"-", "+"}]
    known = [at for at in options if not re.fullmatch(how.get("keeps", "--"), words[at].text)]
    if all(re.fullmatch(how.get("without", "(?!)"), words[at].text) for at in known):
        yield _Edit(start, 1, tuple(map(Word, how["with"].split())), how["with"])
        yield from (_Edit(start + at, 1, (), "") for at in known)


def _once(words: Sequence[Word], start: int) -> Iterator[_Edit]:
    """Yield the edits that run once what watch repeats."""
    at = 1
    while at < len(words) and words[at].text[:1] == "-":
        at += 2 if _WATCHES.fullmatch(words[at].text) else 1
    if at == len(words) - 1 and " " in words[at].text:
        whole = words[at].text
        with suppress(Unreadable):
            inner = parse_command(whole)
            if not inner.compound and not inner.redirects:
                yield _Edit(start + at, 1, inner.stages[0].words, whole)
    if at < len(words):
        yield from (_Edit(start + i, 1, (), "") for i in range(at))


def _walk(words: Sequence[Word], start: int, context: JudgeContext) -> Iterator[_Edit]:
    """Yield the edits of each level of subcommands. The last level limits the output."""
    kept: list[ParsedOption] = []
    followed = False
    last: Level | None = None
    for last in levels(words, context.tables):
        parser = Parser(last.node, last.above, stop_at_first=bool(last.node.subcommands))
        edits = list(_left_out(last.words, start + last.at, parser))
        yield from edits
        followed = followed or bool(edits)
        kept += (one for one in last.parsed.given if one.option.category not in _DROPPED)
    if last is not None:
        yield from _added(last, kept, start + last.at, followed=followed)


def _left_out(words: Sequence[Word], start: int, parser: Parser) -> Iterator[_Edit]:
    """Yield the options among `words` that make it follow or take a terminal, letter by letter."""
    at = 0
    while at < len(words) and words[at].text != "--":
        before = len(parser.given)
        used = parser.taken(words, at)
        found = parser.given[before:]
        dropped = [one for one in found if one.option.category in _DROPPED]
        if dropped and len(dropped) == len(found):
            if _may_be_its_value(dropped, words[at + 1 : at + 2]) or _only_news(dropped, parser):
                return
            counted = re.match(r"-\d+", words[at].text)  # tail -5f
            number = counted[0] if counted else ""
            yield _Edit(start + at, 1, (Word(number),) if number else (), number)
            yield from (_Edit(start + at + i, 1, (), "") for i in range(1, used))
        elif dropped:
            text = words[at].text
            letters = {one.name[1] for one in dropped}
            left = _cluster(text, letters, found)
            yield _Edit(start + at, 1, (Word(left),), left)
        if not used and parser.stop:
            return
        at += used or 1


def _may_be_its_value(dropped: Sequence[ParsedOption], behind: Sequence[Word]) -> bool:
    """Return True if a number follows an option with a value that may be missing: `lsof -r 5`."""
    number = bool(behind) and re.fullmatch(r"[\d.]+", behind[0].text) is not None
    return number and any(one.option.takes == "attached" and not one.values for one in dropped)


def _only_news(dropped: Sequence[ParsedOption], parser: Parser) -> bool:
    """Return True if it asks for what is still to come alone: without, it would ask something
    else."""
    names = _rules()["news"].get(parser.node.name.partition(" ")[0], "").split()
    return any(one.name in names for one in dropped)


def _cluster(text: str, letters: set[str], found: Sequence[ParsedOption]) -> str:
    """Return `-fn5` without f: letters up to the one that takes the rest as its value."""
    options = text[1 : 1 + len(found)]
    return "-" + "".join(c for c in options if c not in letters) + text[1 + len(found) :]


def _added(
    level: Level, kept: Sequence[ParsedOption], at: int, *, followed: bool
) -> Iterator[_Edit]:
    name, names = level.node.name, {one.name for one in kept}
    told, limit = _rules()["told"].get(name), _rules()["limits"].get(name)
    if name.replace(" ", "_") in _rules()["counted"].split() and _repeats(level.words):
        yield _Edit(at + len(level.words), 0, (Word(_COUNT),), _COUNT)
    if told and not names & set(told.split()):
        yield _Edit(at, 0, tuple(map(Word, shlex.split(told))), told)
    says = set(_rules()["limiting"].split())
    if name.partition(" ")[0] in _rules()["namespaced"].split():
        says -= {"-n", "-c"}
    if not limit or not followed or names & says:
        return
    if not any(
        level.node.numeric and re.fullmatch(r"-\d+[A-Za-z]*", word.text) for word in level.words
    ):
        yield _Edit(at, 0, tuple(map(Word, shlex.split(limit))), limit)


def _repeats(words: Sequence[Word]) -> bool:
    """Return True if the call ends with an interval, and no count."""
    numbers = [word.text.isdigit() for word in words[-2:]]
    return bool(numbers) and numbers[-1] and not all(numbers[:-1] or [False])


def _instead(name: str) -> Mapping[str, str] | None:
    found: Iterator[Mapping[str, str]] = (
        v for k, v in _rules()["instead"].items() if name in k.split()
    )
    return next(found, None)


@cache
def _rules() -> Mapping[str, Any]:
    """Return the file as parsed. Effect: reads it, once."""
    raw: Mapping[str, Any] = rules_of(_FILE)
    return raw
