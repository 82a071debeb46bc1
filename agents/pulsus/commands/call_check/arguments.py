"""Values of options and operands of a call against what its table asks for.

An operand too many, and a value that does not fit its kind, are refused here. An option that is not
listed is refused in `commands/program_tables/option_parser.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulsus.commands.call_check.nested_commands import WRAPS, judge_nested
from pulsus.commands.call_check.value_kinds import NAMES, WILD_OK, describe_kind, fits, too_long
from pulsus.commands.command_verdict import CallFinding, refusal
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.non_interactive import BLOCKS, refuse_if_noninteractive
from pulsus.commands.program_tables.option_parser import Parsed, assign_operand_counts
from pulsus.commands.program_tables.program_table import MANY, Form, Node, WordKind
from pulsus.commands.program_tables.wildcards import shown_word, wildcard_reason
from pulsus.commands.shell.words import ANYTHING, Word


def values(node: Node, parsed: Parsed, context: JudgeContext) -> Iterator[CallFinding]:
    """Yield a finding for each option's value that does not fit."""
    joined: dict[WordKind, list[Word]] = {}
    for one in parsed.given:
        kind = one.option.kind
        if kind is not None and kind.argument == "joined" and one.values:
            joined.setdefault(kind, []).extend(one.values)
        elif kind is not None and one.values:
            yield from _judge_values(kind, one.values, node, context, one.name)
    # Pieces of one text: sed -e … -e ….
    for kind, words in joined.items():
        yield from _judge_values(kind, words, node, context, node.name)


def operands(node: Node, parsed: Parsed, context: JudgeContext) -> Iterator[CallFinding]:
    """Yield the findings of the operands, by the form of the table that fits them best."""
    words = parsed.operands
    if not words and (node.bare or (not node.forms and not node.subcommands)):
        return
    if node.subcommands and not words:
        yield refusal("allow", node.name, "without a subcommand it is not known to read")
        return
    first = words[0].text if words else ""
    if first in node.refused and first[:1] not in {"-", "+"}:
        yield refusal("write", first, node.refused[first])
        return
    names = {one.name for one in parsed.given}
    forms = [f for f in node.forms if not f.when or f.when & names]
    chosen = [f for f in forms if f.when] or forms
    wrong: CallFinding | None = None
    furthest = -1
    for form in chosen:
        placed = list(_judge_as_form(form, parsed, node, context))
        found = [each for _, each in placed]
        if all(f.is_read for f in found):
            yield from found
            return
        reached, refused = next((at, f) for at, f in placed if not f.is_read)
        if all(f.is_read or f.category is not None for f in found):
            reached = len(words) + 1  # it fits but for what it blocks
        # The form that more of the words fit says more.
        if reached > furthest:
            wrong, furthest = refused, reached
    word = words[0].text if words else node.name
    yield wrong or refusal("allow", word, f"{node.name} is known to read without operands only")


def _judge_as_form(
    form: Form, parsed: Parsed, node: Node, context: JudgeContext
) -> Iterator[tuple[int, CallFinding]]:
    """Yield the findings of the operands as this form, each with the number that fit before it."""
    every = plain = parsed.operands
    at = 0
    for kind, count in zip(form.kinds, assign_operand_counts(form.kinds, len(every)), strict=True):
        words = every[at : at + count]
        if len(words) < kind.least:
            rule = f"an operand is missing: {describe_kind(kind, _program_of_node(node))}"
            yield at, refusal("allow", node.name, rule)
            return
        yield from ((at, found) for found in _judge_values(kind, words, node, context, node.name))
        if kind.name == WRAPS:
            plain = every[:at]  # the program behind it says what may be wild there
        at += count
    if at < len(every):
        rule = f"{node.name} takes no further operand in a read"
        yield at, refusal("allow", every[at].text, rule)
    if any(word.wild for word in plain) and not _may_take_any_file_names(form, plain):
        word = next(w for w in plain if w.wild)
        rule = f"{wildcard_reason(word)} any number of words here"
        yield at, refusal("allow", shown_word(word, node.name), rule)
    if form.category is not None:
        why = form.why or BLOCKS[form.category]
        yield from (
            (at, found)
            for found in refuse_if_noninteractive(form.category, node.name, why, context)
        )


def _may_take_any_file_names(form: Form, words: Sequence[Word]) -> bool:
    """Return True if the form accepts any number of file names at the wild words.

    Behind a program in a language (`awk`) no words that xargs adds fit: they may become part of the
    program.
    """
    kinds = form.kinds
    if not kinds or kinds[-1].most != MANY or kinds[-1].name not in WILD_OK:
        return False
    if all(kind.name in WILD_OK for kind in kinds):
        return True
    first = sum(kind.most for kind in kinds[:-1])
    exact = all(kind.least == kind.most for kind in kinds[:-1])
    literal = not any(word.wild for word in words[:first])
    return exact and literal and not any(word is ANYTHING for word in words)


def _judge_values(
    kind: WordKind, words: Sequence[Word], node: Node, context: JudgeContext, near: str
) -> Iterator[CallFinding]:
    if kind.name in NAMES:
        for word in words:
            if not fits(word, kind):
                yield _refuse_value(word, kind, node, near)
    elif words:
        yield from judge_nested(kind, words, node, context)


def _program_of_node(node: Node) -> str:
    return node.name.partition(" ")[0]


def _refuse_value(word: Word, kind: WordKind, node: Node, near: str) -> CallFinding:
    if long := too_long(word, kind):
        return refusal("allow", f"{word.text[:40]}…", long)
    place = " here" if near == node.name else ""  # an operand is told from others by its place
    rule = f"{near} is a read only with {describe_kind(kind, _program_of_node(node))}{place}"
    if not word.wild:
        return refusal("allow", word.text, rule)
    what = "what another program feeds it" if word is ANYTHING else "what it stands for"
    return refusal("allow", shown_word(word, node.name), f"{what} is not known, and {rule}")
