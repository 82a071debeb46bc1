"""Small questions about words of a command, answered by the gate and the tables it judges by.

Another assistant's tests ask them of functions of their own; here no function is made for them.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

from pulsus.commands import classify
from pulsus.commands.call_check.value_kinds import fits
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.option_parser import Parsed, ParsedOption, Parser, Unlisted
from pulsus.commands.program_tables.program_table import Node
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import unwrap

_CONTEXT: Final = JudgeContext()


def _table(program: str) -> Node:
    node = _CONTEXT.tables.get(program)
    assert node is not None, program
    return node


def _words(words: str | Sequence[str]) -> tuple[Word, ...]:
    return tuple(map(Word, shlex.split(words if isinstance(words, str) else " ".join(words))))


def http_method_mutates(method: str) -> bool:
    """Return True if a request by `method` is refused."""
    return not classify(shlex.join(("curl", "-X", method.strip(), "http://h"))).allow


def curl_short_cluster(word: str) -> str:
    """Return the letters of a bundle that the parser takes apart by curl's table; empty for one
    alone.
    """
    parser, letters = Parser(_table("curl"), {}, stop_at_first=False), ""
    try:
        parser.parse([Word(word), Word("x")])
    except Unlisted as error:
        letters = error.word.lstrip("-")[:1]
    letters = "".join(one.name.lstrip("-") for one in parser.given) + letters
    return letters if len(letters) > 1 else ""


def curl_args_have_http_url(words: Sequence[str]) -> bool:
    """Return True if curl may request these addresses, and one of them has a scheme."""
    given = [word.text for word in _words(words)]
    return any("://" in word for word in given) and classify(shlex.join(("curl", *given))).allow


def curl_command_writes(words: str | Sequence[str]) -> bool:
    """Return True if the call has words and is refused."""
    given = [word.text for word in _words(words)]
    return bool(given) and not classify(shlex.join(given)).allow


def wget_option_writes(word: str) -> bool:
    """Return True if a call that only checks for a page is refused because of `word`."""
    call = ("wget", "--spider", *filter(None, [word]), "x", "http://h")
    return not classify(shlex.join(call)).allow


def env_args_run_a_command(words: Sequence[str]) -> bool:
    """Return True if env has a command to run, or an option that can run one."""
    given = tuple(Word(word.strip("\"'")) for word in words)
    parser = Parser(_table("env"), {}, stop_at_first=False)
    try:
        parser.parse(given[1:])
    except Unlisted as error:
        return bool(unwrap(given)) or error.word not in parser.known
    return bool(unwrap(given))


def timeout_duration_token(word: str) -> bool:
    """Return True if the word fits the first operand in the table of timeout."""
    return fits(Word(word), _table("timeout").forms[0].kinds[0])


def timeout_inner_command(words: str | Sequence[str]) -> str | None:
    """Return the command after the duration, if the words of timeout fit its table."""
    parsed = _parsed("timeout", _words(words)[1:])
    if parsed is None or not parsed.operands:
        return None
    duration, *inner = (word.text for word in parsed.operands)
    return " ".join(inner) if inner and timeout_duration_token(duration) else None


def _parsed(program: str, words: Sequence[Word]) -> Parsed | None:
    """Parse the words by the program's table; return None for an unknown option or a wrong value.

    Options without a value that the table refuses by name are left out.
    """
    node, rest = _table(program), list(words)
    for _ in words:
        try:
            parsed = Parser(node, {}, stop_at_first=False).parse(rest)
        except Unlisted as error:
            if error.word not in node.refused or Word(error.word) not in rest:
                return None
            rest.remove(Word(error.word))
        else:
            return parsed if all(map(_fits, parsed.given)) else None
    return Parsed((), ())


def _fits(given: ParsedOption) -> bool:
    kind = given.option.kind
    return kind is None or all(fits(word, kind) for word in given.values)
