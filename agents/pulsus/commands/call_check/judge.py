"""One program call against its table: every word has to be known, and what is known has to read.

An unknown program, a program outside of the trusted folders, and an option that needs another are
refused here. Which subcommands and options of a program only read is data:
`commands/tables/NAME.yaml` (`commands/tables/kubectl.yaml`, `commands/tables/systemctl.yaml`,
`commands/tables/sudo.yaml`). Options are parsed in `commands/program_tables/option_parser.py`,
operands checked in `arguments.py`. How dangerous a command is (`rm -rf`) is rated in
`commands/risk/risk_level.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from pulsus.commands.call_check.arguments import operands, values
from pulsus.commands.call_check.foreign_folders import (
    check_foreign_options,
    check_foreign_project,
    check_foreign_repository,
)
from pulsus.commands.command_verdict import ASSIGNED, CHANGES, CallFinding, Reason, refusal
from pulsus.commands.cost.cost_limits import check_duration
from pulsus.commands.cost.quantities import deadline
from pulsus.commands.destinations.connections import connections
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.non_interactive import BLOCKS, refuse_if_noninteractive
from pulsus.commands.program_tables.option_parser import Parsed, ParsedOption, Parser, Unlisted
from pulsus.commands.program_tables.program_table import Node, Option
from pulsus.commands.program_tables.wildcards import suggest_without_wildcards
from pulsus.commands.risk.risk_level import always_changes
from pulsus.commands.shell.words import Word
from pulsus.fast_dataclass import replace

TRUSTED: Final = frozenset(
    {"/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}
)
"""Folders a program may be named in; elsewhere a known name may be another program."""

_ASSIGNS = re.compile(r"[A-Za-z_]\w*=")
_PROGRAM = re.compile(r"[A-Za-z0-9\[][A-Za-z0-9._+-]*")


def judge_call(words: Sequence[Word], context: JudgeContext) -> Iterator[CallFinding]:
    """Yield the findings of a call: refusals, or one read. `words` are not empty."""
    program = words[0]
    folder, _, name = program.text.rpartition("/")
    if _ASSIGNS.match(program.text) and not program.wild:
        yield refusal("guard", program.text, ASSIGNED)
        return
    if program.wild or not _PROGRAM.fullmatch(name):
        yield refusal("guard", program.text, "the program is not named by a plain word")
        return
    known = context.tables.get(name)
    if known is None:
        if always_changes(name):
            yield refusal("write", name, CHANGES)
        else:
            yield refusal("unknown", name, "no table says what it does")
        return
    if folder and folder not in TRUSTED:
        folders = ", ".join(sorted(TRUSTED))
        rule = f"only programs in {folders} are known; this may be another one of the same name"
        yield refusal("unknown", program.text, rule, f"{name} alone would be judged")
        return
    yield from _judge_node(known, words[1:], {}, context, ())


def _judge_node(
    node: Node,
    words: Sequence[Word],
    above: Mapping[str, Option],
    context: JudgeContext,
    levels: tuple[Parsed, ...],
) -> Iterator[CallFinding]:
    if node.category is not None:
        why = node.never or f"{node.name} {BLOCKS[node.category]}"
        ends = not node.never  # nothing that ends it makes it a read
        yield from refuse_if_noninteractive(node.category, node.name, why, context, ends=ends)
    if node.never:
        yield refusal("write", node.name, node.never)
        yield from _find_terminal_needs(node, words, above, context)
    if node.typed and not context.silent:
        yield from refuse_if_noninteractive("interactive_repl", node.name, node.typed, context)
    if node.sends and context.fed:
        yield refusal("guard", node.name, node.sends)
    if node.never or node.category not in {None, "unbounded_stream"}:
        return
    parser = Parser(node, above, stop_at_first=bool(node.subcommands))
    try:
        parsed = parser.parse(words)
    except Unlisted as error:
        # What was read before may already say that it needs a terminal.
        yield from _category_findings(node, parser.given, context)
        suggestion = (
            suggest_without_wildcards(node, words, partial(_is_all_read, node, above, context))
            if error.wild
            else ""
        )
        yield refusal("write", error.word, error.rule, suggestion)
        return
    levels = (*levels, parsed)
    yield from _category_findings(node, parsed.given, context)
    yield from check_foreign_options(node.name.partition(" ")[0], parsed)
    yield from check_foreign_repository(node.name, parsed, context.folders)
    yield from check_foreign_project(node.name, parsed, context.folders)
    found = list(values(node, parsed, context))
    yield from found
    if node.subcommands and parsed.operands:
        yield from _judge_subcommand(node, parsed, parser, context, levels)
        return
    yield from _check_option_combinations(node, parsed, context)
    rest = list(operands(node, parsed, _limit_inner_time(node, parsed, context)))
    yield from rest
    fits = all(each.is_read for each in (*found, *rest))
    yield from _measure_call(node, levels, context, fits=fits)
    yield _finding_of_read(node)


def _limit_inner_time(node: Node, parsed: Parsed, context: JudgeContext) -> JudgeContext:
    """Return the context of the program that `timeout N` runs, limited to N seconds."""
    if not node.bounds or not parsed.operands:
        return context
    return replace(context, within=min(context.within, deadline(parsed.operands[0].text)))


def _measure_call(
    node: Node, levels: tuple[Parsed, ...], context: JudgeContext, *, fits: bool
) -> Iterator[CallFinding]:
    """Count the time and destinations of a call, and refuse it if it runs too long.

    If words do not fit (`fits` is False), the call is refused anyway. Then only a number in its
    words is a time.
    """
    if node.bounds and context.measures is not None:
        context.measures.seconds += context.measures.cut
        context.measures.cut = 0.0
    if node.lasts is not None:
        yield from check_duration(node, levels, context, fits=fits)
    if node.connects is not None and context.measures is not None:
        context.measures.destinations += connections(node.connects, node.name, levels)


def _is_all_read(
    node: Node, above: Mapping[str, Option], context: JudgeContext, words: Sequence[Word]
) -> bool:
    return all(
        found.is_read
        for found in _judge_node(node, words, above, replace(context, measures=None), ())
    )


def _find_terminal_needs(
    node: Node, words: Sequence[Word], above: Mapping[str, Option], context: JudgeContext
) -> Iterator[CallFinding]:
    """Yield why a call that is refused anyway needs a terminal (`docker exec -it`)."""
    parser = Parser(node, above, stop_at_first=bool(node.subcommands))
    with suppress(Unlisted):
        parsed = parser.parse(words)
        found = (
            *_check_option_combinations(node, parsed, context),
            *operands(node, parsed, context),
        )
        yield from (f for f in found if f.category is not None)
    yield from _category_findings(node, parser.given, context)


def _finding_of_read(node: Node) -> CallFinding:
    if node.conditional:
        return CallFinding("read_only_conditional", Reason("content", node.name, node.conditional))
    return CallFinding(
        "read_only_certain", Reason("allow", node.name, "only reads, and ends by itself")
    )


def _category_findings(
    node: Node, options: Sequence[ParsedOption], context: JudgeContext
) -> Iterator[CallFinding]:
    for one in options:
        if one.option.category is not None and not _is_answered_inline(one):
            rule = f"with this option {node.name} {BLOCKS[one.option.category]}"
            yield from refuse_if_noninteractive(one.option.category, one.name, rule, context)


def _is_answered_inline(one: ParsedOption) -> bool:
    """Return True if the option's own word holds its answer (`mysql -psecret`), or declines."""
    if one.option.takes != "attached" or not one.values:
        return False
    kind = one.option.kind
    says_no = kind is not None and kind.literals == {"false"}
    return one.option.category == "interactive_repl" or says_no


def _check_option_combinations(
    node: Node, parsed: Parsed, context: JudgeContext
) -> Iterator[CallFinding]:
    names = {one.name for one in parsed.given}
    for one, other in node.apart:
        if names & one and names & other:
            word = min(names & other)
            rule = f"{node.name} is not known to read with it together with {min(names & one)}"
            yield refusal("allow", word, rule)
    for need in node.needs:
        if names & need.one_of or names & need.unless or (need.when and not names & need.when):
            continue
        word = node.name
        if need.category is None:
            yield refusal("allow", word, need.why)
        else:
            yield from refuse_if_noninteractive(need.category, word, need.why, context)


def _judge_subcommand(
    node: Node, parsed: Parsed, parser: Parser, context: JudgeContext, levels: tuple[Parsed, ...]
) -> Iterator[CallFinding]:
    word = parsed.operands[0]
    child = None if word.wild else node.subcommands.get(word.text)
    if child is None:
        why = node.refused.get(
            word.text, f"not a subcommand that {node.name} is known to read with"
        )
        yield refusal("write", word.text, why)
        return
    # Options of a permuting parser may follow the subcommand too; others only where a table says.
    inherited = parser.known if node.style == "gnu" else parser.above
    yield from _judge_node(child, parsed.operands[1:], inherited, context, levels)
