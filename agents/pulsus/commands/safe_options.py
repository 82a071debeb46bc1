"""Add options to a call, so that it runs no more than what was judged.

The list is `safe_options.yaml`. `execution_plan.py` adds the options to the command that runs.

Some programs run others that a folder's own settings name, or make a file that is not there, unless
an option says no (`git diff --no-textconv`, `sqlite3 -readonly`, `restic --no-lock`). `ssh` gets
`BatchMode` and `StrictHostKeyChecking`, so that it asks nothing and connects to known hosts only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.subcommands import Level, levels
from pulsus.commands.shell.braces import expanded
from pulsus.commands.shell.script_parser import Script, Stage, parse_command
from pulsus.commands.shell.second_lexer import placed
from pulsus.commands.shell.words import Unreadable, Word, unquoted
from pulsus.commands.shell.wrappers import unwrap
from pulsus.commands.shipped_data import rules_of
from pulsus.errors import CommandRefused
from pulsus.fast_dataclass import dataclass

_ADDED: Final[Mapping[str, tuple[str, ...]]] = {
    program: tuple(rule["options"])
    for rule in rules_of(Path(__file__).with_suffix(".yaml"))
    for program in rule["programs"]
}
"""By program and subcommand, what stands behind it."""

_GIVEN: Final = {"-readonly", "--readonly", "--no-lock", "--nolocking", "--no-hsts"}
_IN_MEMORY: Final = {"", ":memory:"}
_MARKS: Final = frozenset("<>|&;()")


@dataclass(frozen=True, slots=True)
class AddedOptions:
    """`options` before the word at `place` of a call."""

    place: int
    options: tuple[str, ...]


def added(words: Sequence[Word], tables: Tables) -> AddedOptions | None:
    """Return the options to add to the call, under any wrappers (`timeout 5 git diff`)."""
    inner = unwrap(words)
    before = len(words) - len(inner)
    # The innermost level that something is added to: `git stash list`, not `git`.
    for level in reversed([*levels(inner, tables)] if inner else []):
        options = _ADDED.get(level.node.name)
        if options is not None and _may_add_options(level):
            return AddedOptions(before + level.at + _offset_behind_show(level), options)
    return None


def with_additions(words: Sequence[Word], tables: Tables) -> tuple[Word, ...]:
    """Return the words of one call with what it gets."""
    found = added(words, tables)
    if found is None:
        return tuple(words)
    more = map(Word, found.options)
    return (*words[: found.place], *more, *words[found.place :])


def text_with_additions(command: str, script: Script, tables: Tables) -> str:
    """Return `command` with what each of its calls gets.

    Raises CommandRefused if it cannot be put in.

    What comes of it is read anew, and has to be the same calls with nothing but that added.
    """
    wanted = tuple(
        Stage(with_additions(stage.words, tables), stage.assignments, stage.fed)
        for stage in script.stages
    )
    if wanted == script.stages:
        return command
    pieces, done = [], 0
    for end, options in _insertion_points(command, script, tables):
        pieces += [command[done:end], *(f" {option}" for option in options)]
        done = end
    text = "".join([*pieces, command[done:]])
    if parse_command(text).stages != wanted:
        raise CommandRefused(
            "what keeps its programs from running others cannot be put in",
            hint="write each call apart, and its words without braces",
        )
    return text


def _may_add_options(level: Level) -> bool:
    """Return True if the options are not given yet, and the call knows them."""
    first = level.parsed.operands[0].text if level.parsed.operands else ""
    name = level.node.name
    if name == "git reflog":
        return first not in {"exists", "list"}
    if name == "duckdb" and first in _IN_MEMORY:
        return False
    return not _GIVEN & {word.text for word in level.words}


def _offset_behind_show(level: Level) -> int:
    """Return where the options of `git reflog show` belong: after that word."""
    shown = level.node.name == "git reflog" and [word.text for word in level.words[:1]] == ["show"]
    return int(shown)


def _insertion_points(
    command: str, script: Script, tables: Tables
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the positions in `command` after which options are added, with the options."""
    expected = [
        (word, found.options if found and found.place == at else ())
        for stage in script.stages
        for found in (added(stage.words, tables),)
        for at, word in enumerate(stage.words, 1)
    ]
    at = 0
    target = False
    for start, token in placed(command):
        words = [] if target or _MARKS & {token[0]} else _words_in_token(token)
        target = token[0] in "<>&" and ("<" in token or ">" in token)
        count = len(words)
        if words and [word for word, _ in expected[at : at + count]] == words:
            at += count
            options = expected[at - 1][1]
            if options:
                yield start + len(token), options


def _words_in_token(token: str) -> list[Word]:
    """Return the words that the token stands for; none if it is no word of a call (`{`)."""
    try:
        return [unquoted(word) for word in expanded(token)]
    except Unreadable:
        return []
