"""Rewrite a command so that it ends by itself: the one automatic rewrite (architecture §2.6).

`tail -f`, `watch` and `docker logs -f` are rewritten here. One word of the text is changed at a
time, and after each the text is read again: it has to say what was meant and nothing else. Whether
the result may be offered is decided by judging it.

The words that are put in (`tail: -n 200`) are data in `commands/rules/rewrite.yaml`. Other allowed
variants of a refused command are found by `explain_verdict.py`. `classify.py` judges the rewritten
command, and `agent/loop/check_calls.py` runs it instead.
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
        for edit in sorted(_find_edits(stage.words, context), key=lambda e: -e.at):
            expected = _apply_edit(changed, index, edit)
            found = _write_edit(text, changed.stages[index].words, edit, expected)
            if found is None:
                return None
            text, changed = found, expected
    return None if changed is script else text


def _apply_edit(script: Script, index: int, edit: _Edit) -> Script:
    stage = script.stages[index]
    words = (*stage.words[: edit.at], *edit.words, *stage.words[edit.at + edit.count :])
    stages = list(script.stages)
    stages[index] = replace(stage, words=words)
    return replace(script, stages=tuple(stages))


def _write_edit(text: str, words: Sequence[Word], edit: _Edit, expected: Script) -> str | None:
    """Return `text` with the edit, at a place where the parser reads it as expected, or None."""
    if edit.count:
        old, keeps = words[edit.at].text, ""
    else:
        old = keeps = words[edit.at - 1].text
    new = " ".join(filter(None, (keeps, edit.written)))
    blanks_behind = r"\s*" if not new else ""
    for found in re.finditer(rf"(?<!\S)(['\"]?){re.escape(old)}\1(?!\S){blanks_behind}", text):
        candidate = (text[: found.start()] + new + text[found.end() :]).strip()
        if _is_read_as(candidate, expected):
            return candidate
    return None


def _is_read_as(text: str, expected: Script) -> bool:
    try:
        return parse_command(text) == expected
    except Unreadable:
        return False


def _find_edits(words: Sequence[Word], context: JudgeContext) -> Iterator[_Edit]:
    inner = unwrap(words)
    if not inner:
        return
    start = len(words) - len(inner)
    replacement = _find_replacement(inner[0].text)
    if inner[0].text == "watch":
        yield from _edits_for_watch(inner, start)
    elif replacement:
        yield from _edits_for_other_program(inner, start, replacement)
    else:
        with suppress(Unlisted):
            yield from _edits_by_level(inner, start, context)


def _edits_for_other_program(
    words: Sequence[Word], start: int, how: Mapping[str, str]
) -> Iterator[_Edit]:
    """Yield the edits for another program, if each option can be kept or left out."""
    options = [at for at, word in enumerate(words) if at and word.text[:1] in {"-", "+"}]
    known = [at for at in options if not re.fullmatch(how.get("keeps", "--"), words[at].text)]
    if all(re.fullmatch(how.get("without", "(?!)"), words[at].text) for at in known):
        yield _Edit(start, 1, tuple(map(Word, how["with"].split())), how["with"])
        yield from (_Edit(start + at, 1, (), "") for at in known)


def _edits_for_watch(words: Sequence[Word], start: int) -> Iterator[_Edit]:
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


def _edits_by_level(words: Sequence[Word], start: int, context: JudgeContext) -> Iterator[_Edit]:
    """Yield the edits of each level of subcommands. The last level limits the output."""
    remaining: list[ParsedOption] = []
    followed = False
    last: Level | None = None
    for last in levels(words, context.tables):
        parser = Parser(last.node, last.above, stop_at_first=bool(last.node.subcommands))
        edits = list(_edits_without_options(last.words, start + last.at, parser))
        yield from edits
        followed = followed or bool(edits)
        remaining += (one for one in last.parsed.given if one.option.category not in _DROPPED)
    if last is not None:
        yield from _add_limits(last, remaining, start + last.at, followed=followed)


def _edits_without_options(words: Sequence[Word], start: int, parser: Parser) -> Iterator[_Edit]:
    """Yield edits that drop the options that make a call follow or take a terminal, letter by
    letter."""
    at = 0
    while at < len(words) and words[at].text != "--":
        before = len(parser.given)
        used = parser.taken(words, at)
        found = parser.given[before:]
        dropped = [one for one in found if one.option.category in _DROPPED]
        if dropped and len(dropped) == len(found):
            if _may_be_option_value(dropped, words[at + 1 : at + 2]) or _is_new_output_only(
                dropped, parser
            ):
                return
            counted = re.match(r"-\d+", words[at].text)  # tail -5f
            number = counted[0] if counted else ""
            yield _Edit(start + at, 1, (Word(number),) if number else (), number)
            yield from (_Edit(start + at + i, 1, (), "") for i in range(1, used))
        elif dropped:
            text = words[at].text
            letters = {one.name[1] for one in dropped}
            rest = _cluster_without(text, letters, found)
            yield _Edit(start + at, 1, (Word(rest),), rest)
        if not used and parser.stop:
            return
        at += used or 1


def _may_be_option_value(dropped: Sequence[ParsedOption], behind: Sequence[Word]) -> bool:
    """Return True if a number follows an option with a value that may be missing: `lsof -r 5`."""
    number = bool(behind) and re.fullmatch(r"[\d.]+", behind[0].text) is not None
    return number and any(one.option.takes == "attached" and not one.values for one in dropped)


def _is_new_output_only(dropped: Sequence[ParsedOption], parser: Parser) -> bool:
    """Return True if the options ask only for output that is still to come. The call without them
    would ask something else."""
    names = _rewrite_rules()["news"].get(parser.node.name.partition(" ")[0], "").split()
    return any(one.name in names for one in dropped)


def _cluster_without(text: str, letters: set[str], found: Sequence[ParsedOption]) -> str:
    """Return `-fn5` without f: letters up to the one that takes the rest as its value."""
    options = text[1 : 1 + len(found)]
    return "-" + "".join(c for c in options if c not in letters) + text[1 + len(found) :]


def _add_limits(
    level: Level, remaining: Sequence[ParsedOption], at: int, *, followed: bool
) -> Iterator[_Edit]:
    name, names = level.node.name, {one.name for one in remaining}
    options, limit = _rewrite_rules()["told"].get(name), _rewrite_rules()["limits"].get(name)
    if name.replace(" ", "_") in _rewrite_rules()["counted"].split() and _has_interval_only(
        level.words
    ):
        yield _Edit(at + len(level.words), 0, (Word(_COUNT),), _COUNT)
    if options and not names & set(options.split()):
        yield _Edit(at, 0, tuple(map(Word, shlex.split(options))), options)
    limiting = set(_rewrite_rules()["limiting"].split())
    if name.partition(" ")[0] in _rewrite_rules()["namespaced"].split():
        limiting -= {"-n", "-c"}
    if not limit or not followed or names & limiting:
        return
    if not any(
        level.node.numeric and re.fullmatch(r"-\d+[A-Za-z]*", word.text) for word in level.words
    ):
        yield _Edit(at, 0, tuple(map(Word, shlex.split(limit))), limit)


def _has_interval_only(words: Sequence[Word]) -> bool:
    """Return True if the call ends with an interval, and no count."""
    numbers = [word.text.isdigit() for word in words[-2:]]
    return bool(numbers) and numbers[-1] and not all(numbers[:-1] or [False])


def _find_replacement(name: str) -> Mapping[str, str] | None:
    found: Iterator[Mapping[str, str]] = (
        v for k, v in _rewrite_rules()["instead"].items() if name in k.split()
    )
    return next(found, None)


@cache
def _rewrite_rules() -> Mapping[str, Any]:
    raw: Mapping[str, Any] = rules_of(_FILE)
    return raw
