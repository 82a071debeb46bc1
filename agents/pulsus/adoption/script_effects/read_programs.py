"""Ask the command gate whether a call in an adopted script only reads. Effect: reads its tables.

The gate itself is `commands/classify.py`.

The gate judges literal words, but a script's words often hold variables. So a call is judged with
samples in their place. A call that the gate does not know counts as one that may change something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import inf
from typing import Final

from pulsus.adoption.script_effects.shell_values import HOLE, ScriptWord
from pulsus.commands.classify import judge_stage
from pulsus.commands.command_verdict import CallFinding
from pulsus.commands.judge_context import JudgeContext, Measures
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.shell import words as gate
from pulsus.commands.shell.builtins import BUILTINS
from pulsus.commands.shell.script_parser import Stage

_TABLES: Final = Tables()
_NUMBER: Final = "1"
"""A sample that fits where a variable usually stands: it is a number, a name and a path."""

_BROKEN: Final = "\"'({["
"""A sample that may be text, but is no part of a language that the gate reads (awk, sed, SQL)."""

_AWKS: Final = frozenset(("awk", "gawk", "mawk", "nawk"))
_HARMLESS: Final = _AWKS | frozenset(
    (
        *("base32", "base64", "bc", "findmnt", "free", "lspci", "lsusb", "pmap", "ps", "seq"),
        *("sleep", "tail", "uname", "vmstat", "whereis", "zstdcat"),
    )
)
"""Programs that change nothing, whatever words an unquoted variable adds.

The gate does not call them harmless, because with some options they do not end.
"""


def is_read(name: str, call: Sequence[ScriptWord]) -> bool:
    """Return True if the gate knows this call of the program `name` (without folders) to read."""
    if len(call) == 1 and call[0].text in ("--version", "--help"):
        return True
    if name in BUILTINS:  # started by a program, it is another program of that name
        return False
    node = _TABLES.get(name)
    if name not in _HARMLESS and not (node and node.harmless):
        return _is_read_with_samples(name, call)
    # An unquoted variable may also hold no word at all.
    certain = [word for word in call if not word.splits]
    return any(_is_read_with_samples(name, words, any_words=True) for words in (call, certain))


def is_followed(name: str, call: Sequence[ScriptWord]) -> bool:
    """Return True if the program's name tells all: no script among its words may do more."""
    if name in _AWKS:
        return False
    if name != "sed":
        return True
    plain = [w for w in call if not w.shape.startswith(("-i", "--in-p"))]
    return len(plain) < len(call) and is_read(name, plain)


def _is_read_with_samples(
    name: str, call: Sequence[ScriptWord], *, any_words: bool = False
) -> bool:
    samples = [
        gate.ANYTHING if word.splits and not any_words else _fill_variables(word, _NUMBER)
        for word in call
    ]
    started: list[Sequence[gate.Word]] = []
    measures = Measures()
    if not all(found.is_read for found in _judge_sample(name, samples, started, measures)):
        return False
    # The effects of a script name its programs, and those of one that reads name no hosts.
    if started or measures.destinations:
        return False
    # Inside a program's text, a variable could be any command. The broken sample shows where this
    # text is: there the refusal comes from an inspector, and not from a check of a plain value.
    for place, word in enumerate(call):
        if HOLE in word.shape:
            broken = list(samples)
            broken[place] = _fill_variables(word, _BROKEN)
            refused = (f for f in _judge_sample(name, broken, [], Measures()) if not f.is_read)
            if any(found.reason.phase != "allow" for found in refused):
                return False
    return True


def _fill_variables(word: ScriptWord, sample: str) -> gate.Word:
    text = word.shape.replace(HOLE, sample)
    if not word.wild or text == "[":
        return gate.Word(text)
    pieces = re.split(r"[*?\[\]]", text)
    return gate.Word(text, True, pieces[0], pieces[-1])


def _judge_sample(
    name: str, call: Sequence[gate.Word], started: list[Sequence[gate.Word]], measures: Measures
) -> Iterator[CallFinding]:
    # A tool's run has a time limit, so programs that do not end by themselves may read.
    context = JudgeContext(
        tables=_TABLES,
        bounded=True,
        within=0,
        high_seconds=inf,
        fed=True,
        seen=started,
        measures=measures,
    )
    return judge_stage(Stage((gate.Word(name), *call)), context)
