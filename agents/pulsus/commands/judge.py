"""One program call against its table: every word has to be known, and what is known has to read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from pulsus.commands.content import inspector
from pulsus.commands.context import DEEPEST, Context
from pulsus.commands.kinds import NAMES, WILD_OK, fits, shown
from pulsus.commands.options import Given, Parsed, Parser, Unlisted, allotted
from pulsus.commands.refusals import BLOCKS, blocked, refusal
from pulsus.commands.table import MANY, Form, Node, Option, WordKind
from pulsus.commands.verdict import Finding, Phase, Reason
from pulsus.commands.words import ANYTHING, Word

TRUSTED: Final = frozenset(
    {"/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}
)
"""Folders a program may be named in; elsewhere a known name may be another program."""

_PROGRAM = re.compile(r"[A-Za-z0-9\[][A-Za-z0-9._+-]*")
_WRAPS: Final = "command"
_SHELL: Final = "shell"
_FOUND: Final = Word(text="{}", wild=True, head="./")
"""What find puts in the place of `{}`: paths below where it began, one or many."""


def judge(words: Sequence[Word], context: Context) -> Iterator[Finding]:
    """What is found of a call: refusals, or one read. `words` are not empty."""
    program = words[0]
    folder, _, name = program.text.rpartition("/")
    if program.wild or not _PROGRAM.fullmatch(name):
        yield refusal("guard", program.text, "the program is not named by a plain word")
        return
    known = context.tables.get(name)
    if known is None:
        yield refusal("unknown", name, "no table says what it does")
        return
    if folder and folder not in TRUSTED:
        rule = f"a program of that name may be another: known are those in {_folders()}"
        yield refusal("unknown", program.text, rule, f"{name} alone would be judged")
        return
    yield from _node(known, words[1:], {}, context)


def _folders() -> str:
    return ", ".join(sorted(TRUSTED))


def _node(
    node: Node, words: Sequence[Word], above: Mapping[str, Option], context: Context
) -> Iterator[Finding]:
    if node.category is not None:
        yield from blocked(
            node.category, node.name, f"{node.name} {BLOCKS[node.category]}", context
        )
    if node.never:
        yield refusal("write", node.name, node.never)
        yield from _asked(node, words, above, context)
    if node.sends and context.fed:
        yield refusal("guard", node.name, node.sends)
    if node.never or node.category not in {None, "unbounded_stream"}:
        return
    parser = Parser(node, above, stop_at_first=_picks(node))
    try:
        parsed = parser.parse(words)
    except Unlisted as error:
        # What was read before may already say that it needs a terminal.
        yield from _categories(node, parser.given, context)
        yield refusal("write", error.word, error.rule)
        return
    yield from _categories(node, parsed.given, context)
    yield from _values(parsed, node, context)
    if node.subcommands and parsed.operands:
        yield from _subcommand(node, parsed, parser, context)
        return
    yield from _needs(node, parsed, context)
    yield from _operands(node, parsed, context)
    yield _reads(node)


def _asked(
    node: Node, words: Sequence[Word], above: Mapping[str, Option], context: Context
) -> Iterator[Finding]:
    """What of a call that is refused anyway needs a terminal (`docker exec -it`)."""
    parser = Parser(node, above, stop_at_first=_picks(node))
    with suppress(Unlisted):
        parsed = parser.parse(words)
        yield from (f for f in _needs(node, parsed, context) if f.category is not None)
    yield from _categories(node, parser.given, context)


def _picks(node: Node) -> bool:
    """Whether words behind the first operand belong to a subcommand with options of its own."""
    return bool(node.subcommands)


def _reads(node: Node) -> Finding:
    if node.conditional:
        return Finding("read_only_conditional", Reason("content", node.name, node.conditional))
    return Finding(
        "read_only_certain", Reason("allow", node.name, "only reads, and ends by itself")
    )


def _categories(node: Node, given: Sequence[Given], context: Context) -> Iterator[Finding]:
    for one in given:
        if one.option.category is not None and not _answered(one):
            rule = f"{node.name} {BLOCKS[one.option.category]} with it"
            yield from blocked(one.option.category, one.name, rule, context)


def _answered(one: Given) -> bool:
    """Whether what an option asks for stands in its own word (`mysql -psecret`)."""
    asks = one.option.category == "interactive_repl" and one.option.takes == "attached"
    return asks and bool(one.values)


def _values(parsed: Parsed, node: Node, context: Context) -> Iterator[Finding]:
    joined: dict[WordKind, list[Word]] = {}
    for one in parsed.given:
        kind = one.option.kind
        if kind is not None and kind.argument == "joined" and one.values:
            joined.setdefault(kind, []).extend(one.values)
        elif kind is not None and one.values:
            yield from _kind(kind, one.values, node, context, one.name)
    # Pieces of one text: sed -e … -e ….
    for kind, words in joined.items():
        yield from _kind(kind, words, node, context, node.name)


def _needs(node: Node, parsed: Parsed, context: Context) -> Iterator[Finding]:
    names = {one.name for one in parsed.given}
    for one, other in node.apart:
        if names & one and names & other:
            word = min(names & other)
            rule = f"{node.name} is not known to read with it beside {min(names & one)}"
            yield refusal("allow", word, rule)
    for need in node.needs:
        if names & need.one_of or names & need.unless or (need.when and not names & need.when):
            continue
        word = node.name
        if need.category is None:
            yield refusal("allow", word, need.why)
        else:
            yield from blocked(need.category, word, need.why, context)


def _subcommand(node: Node, parsed: Parsed, parser: Parser, context: Context) -> Iterator[Finding]:
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
    yield from _node(child, parsed.operands[1:], inherited, context)


def _operands(node: Node, parsed: Parsed, context: Context) -> Iterator[Finding]:
    operands = parsed.operands
    if not operands and (node.bare or (not node.forms and not node.subcommands)):
        return
    if node.subcommands and not operands:
        yield refusal("allow", node.name, "without a subcommand it is not known to read")
        return
    names = {one.name for one in parsed.given}
    forms = [f for f in node.forms if not f.when or f.when & names]
    chosen = [f for f in forms if f.when] or forms
    wrong: Finding | None = None
    for form in chosen:
        found = list(_form(form, parsed, node, context))
        if all(f.is_read for f in found):
            yield from found
            return
        refused = next(f for f in found if not f.is_read)
        # A form that fits but for what it blocks says more than one that does not fit.
        if wrong is None or all(f.is_read or f.category is not None for f in found):
            wrong = refused
    word = operands[0].text if operands else node.name
    yield wrong or refusal("allow", word, f"{node.name} is known to read without operands only")


def _form(form: Form, parsed: Parsed, node: Node, context: Context) -> Iterator[Finding]:
    operands = plain = parsed.operands
    at = 0
    for kind, count in zip(form.kinds, allotted(form.kinds, len(operands)), strict=True):
        words = operands[at : at + count]
        if len(words) < kind.least:
            yield refusal("allow", node.name, f"an operand is missing: {shown(kind)}")
            return
        yield from _kind(kind, words, node, context, node.name)
        if kind.name == _WRAPS:
            plain = operands[:at]  # the program behind it says what may be wild there
        at += count
    if at < len(operands):
        yield refusal("allow", operands[at].text, f"one operand more than {node.name} reads with")
    if any(word.wild for word in plain) and not _takes_any(form, plain):
        rule = "it stands for any number of words here"
        yield refusal("allow", next(w.text for w in plain if w.wild), rule)
    if form.category is not None:
        yield from blocked(form.category, node.name, form.why or BLOCKS[form.category], context)


def _takes_any(form: Form, words: Sequence[Word]) -> bool:
    """Whether any number of file names fits: wherever they begin, or last, behind what is literal.

    Behind a program in a language (`awk`) none that xargs puts there: it may put them into the
    program too.
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


def _kind(
    kind: WordKind, words: Sequence[Word], node: Node, context: Context, near: str
) -> Iterator[Finding]:
    if kind.name in NAMES:
        for word in words:
            if not fits(word, kind):
                yield refusal("allow", word.text, f"{near} reads with {shown(kind)} here")
        return
    if not words:
        return
    if kind.name == _SHELL:
        yield from _shell(words, context)
        return
    if kind.name == _WRAPS:
        yield from _wrapped(kind, words, node, context)
        return
    yield from _content(kind, words, context)


def _wrapped(
    kind: WordKind, words: Sequence[Word], node: Node, context: Context
) -> Iterator[Finding]:
    if context.depth >= DEEPEST:
        yield refusal("guard", words[0].text, f"more than {DEEPEST} programs within programs")
        return
    if kind.argument == "fed":
        words = (*words, ANYTHING)
    if kind.argument == ";":
        words = tuple(map(_found, words))
    bounded = context.bounded or node.bounds
    inner = replace(context, depth=context.depth + 1, bounded=bounded)
    yield from judge(words, inner)


def _found(word: Word) -> Word:
    """`word` once find has put a path in the place of each `{}`."""
    before, braces, behind = word.text.partition("{}")
    if word.text == "{}":
        return _FOUND
    if not braces or word.wild:
        return word
    return Word(word.text, True, before or "./", behind.rpartition("{}")[2])


def _shell(words: Sequence[Word], context: Context) -> Iterator[Finding]:
    """Words that are joined by blanks and read by a shell once more (ssh)."""
    wild = next((word for word in words if word.wild), None)
    if wild is not None:
        yield refusal("guard", wild.text, "it stands for any number of words of another shell")
    elif context.depth >= DEEPEST or context.texts is None:
        yield refusal("guard", words[0].text, f"more than {DEEPEST} programs within programs")
    else:
        # What ends it here need not end what it runs there.
        inner = replace(context, depth=context.depth + 1, bounded=False)
        yield from context.texts(" ".join(word.text for word in words), inner)


def _content(kind: WordKind, words: Sequence[Word], context: Context) -> Iterator[Finding]:
    inspect = inspector(kind.name) or context.inspectors.get(kind.name)
    wild = next((w for w in words if w.wild and kind.name not in WILD_OK), None)
    if inspect is None:
        yield refusal("content", words[0].text, f"nothing here can judge {kind.name}")
        return
    if wild is not None:
        yield refusal("content", wild.text, f"{kind.name} has to be one literal word")
        return
    opinion = inspect(tuple(word.text for word in words), kind.argument)
    phase: Phase = "non_interactive" if opinion.category else "content"
    reason = Reason(phase, opinion.word or words[0].text, opinion.rule)
    ends = opinion.category is None or (context.bounded and opinion.category == "unbounded_stream")
    if opinion.reads and ends:
        yield Finding("read_only_conditional", reason)
    else:
        yield Finding("write_or_unknown", reason, opinion.category)
