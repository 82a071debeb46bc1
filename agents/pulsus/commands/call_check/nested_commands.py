"""Judge the content of words: another program's call, another shell's text, or a language.

What runs behind `xargs`, `find -exec`, `env`, `timeout` and `ssh HOST` is judged here, to a limited
depth. `sudo`, `bash -c`, `python -c` and `eval` are refused by their tables
(`commands/tables/bash.yaml`), and `$(…)` in `commands/shell/unsupported_syntax.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Final

from pulsus.commands.call_check.value_kinds import WILD_OK
from pulsus.commands.command_verdict import CallFinding, Phase, Reason, refusal
from pulsus.commands.content_inspector import inspector, opinion
from pulsus.commands.judge_context import DEEPEST, JudgeContext
from pulsus.commands.non_interactive import ends_in_time
from pulsus.commands.program_tables.program_table import Node, WordKind
from pulsus.commands.program_tables.wildcards import shown_word, wildcard_reason
from pulsus.commands.shell.builtins import BUILTINS, HANDS_ON
from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import ANYTHING, Unreadable, Word
from pulsus.fast_dataclass import replace

WRAPS: Final = "command"
"""The kind of words that are a program and its own words."""

_SHELL: Final = "shell"
_FOUND: Final = Word(text="{}", wild=True, head="./")
"""Stands for the paths that find puts in the place of `{}`."""

REPEATED: Final = 100.0
"""Times that xargs and find are taken to run a program: how often is not known."""


def judge_nested(
    kind: WordKind, words: Sequence[Word], node: Node, context: JudgeContext
) -> Iterator[CallFinding]:
    """Yield the findings of `words`, which are not empty, by a kind that looks into them."""
    if kind.name == _SHELL:
        yield from _judge_remote_shell(words, node, context)
    elif kind.name == WRAPS:
        yield from _judge_wrapped_call(kind, words, node, context)
    else:
        yield from _judge_content(kind, words, node, context)


def _judge_wrapped_call(
    kind: WordKind, words: Sequence[Word], node: Node, context: JudgeContext
) -> Iterator[CallFinding]:
    if context.depth >= DEEPEST or context.calls is None:
        yield refusal("guard", words[0].text, f"more than {DEEPEST} programs within programs")
        return
    if words[0].text in BUILTINS and node.name not in HANDS_ON:
        rule = f"only the shell knows it: {node.name} would run another program of that name"
        yield refusal("unknown", words[0].text, rule)
        return
    if kind.argument == "fed":
        words = (*words, ANYTHING)
    if kind.argument == ";":
        moved = next((word for word in words if _leads_elsewhere(word.text)), None)
        if moved is not None:
            rule = (
                "a found path may be `.` or go up from there, so it is not known where this leads"
            )
            yield refusal("allow", moved.text, rule, "give find the whole path to search")
            return
        words = tuple(map(_fill_found_path, words))
    bounded = context.bounded or node.bounds
    times = REPEATED if kind.argument in {"fed", ";"} else 1.0
    repeated = max(context.repeated, times)
    inner = replace(context, depth=context.depth + 1, bounded=bounded, repeated=repeated)
    yield from context.calls(words, inner)


def _leads_elsewhere(text: str) -> bool:
    """Return True for `/etc/{}` and `{}/../x`: `.` and `..` stand in found paths too."""
    before, braces, behind = text.partition("{}")
    return bool(braces) and ("/" in before or ".." in behind.split("/"))


def _fill_found_path(word: Word) -> Word:
    """Return `word` with a found path in the place of `{}`, as find passes it on."""
    before, braces, behind = word.text.partition("{}")
    if word.text == "{}":
        return _FOUND
    if not braces or word.wild:
        return word
    return Word(word.text, True, before or "./", behind.rpartition("{}")[2])


def _judge_remote_shell(
    words: Sequence[Word], node: Node, context: JudgeContext
) -> Iterator[CallFinding]:
    """Judge words that are joined by blanks and read by a shell once more (ssh)."""
    text = " ".join(word.text for word in words)
    wild = next((word for word in words if word.wild), None)
    if wild is not None:
        rule = f"{wildcard_reason(wild)} any number of words of another shell"
        yield refusal("guard", shown_word(wild, node.name), rule)
    elif _may_differ_by_shell(text):
        yield refusal("guard", text, "not every shell reads its quotes and braces alike")
    elif context.depth >= DEEPEST or context.texts is None:
        yield refusal("guard", words[0].text, f"more than {DEEPEST} programs within programs")
    else:
        # What ends it here need not end what it runs there.
        inner = replace(context, depth=context.depth + 1, bounded=False, within=inf, remote=True)
        yield from context.texts(text, inner)


def _may_differ_by_shell(text: str) -> bool:
    """Return True if the shell there, which need not be bash, may see other words.

    fish takes `\\'` between quotes for a quote, and few know braces.
    """
    try:
        return "\\'" in text or parse_command(text).braces
    except Unreadable:
        return False  # refused where it is judged


def _judge_content(
    kind: WordKind, words: Sequence[Word], node: Node, context: JudgeContext
) -> Iterator[CallFinding]:
    inspect = inspector(kind.name) or context.inspectors.get(kind.name)
    wild = next((w for w in words if w.wild and kind.name not in WILD_OK), None)
    if inspect is None:
        yield refusal("content", words[0].text, f"nothing here can judge {kind.name}")
        return
    if wild is not None:
        rule = (
            f"{wildcard_reason(wild)} words that are not known; "
            f"{kind.name} has to be one literal word"
        )
        yield refusal("content", shown_word(wild, node.name), rule)
        return
    answer = opinion(inspect, tuple(word.text for word in words), kind.argument)
    phase: Phase = "non_interactive" if answer.category else "content"
    reason = Reason(phase, answer.word or words[0].text, answer.rule)
    endless = answer.category == "unbounded_stream"
    ends = answer.category is None or (endless and context.bounded and ends_in_time(context))
    if answer.reads and ends:
        yield CallFinding("read_only_conditional", reason)
    else:
        yield CallFinding("write_or_unknown", reason, answer.category)
