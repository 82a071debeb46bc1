"""Check a program's table: its schema, the names in it, and its own examples.

A missing example, an unknown option or kind, and an example with another verdict are reported here.
`commands/program_tables/loader.py` refuses a file that is no table, `loosened_tables.py` finds
restrictions without an example.

Effect: reads table files. `pulsus commands check` shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from pulsus.commands.call_check.value_kinds import NAMES, kind_texts
from pulsus.commands.classify import classify, examine
from pulsus.commands.content_inspector import is_built_in
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.loader import SHIPPED, misnamed, parsed, table_name
from pulsus.commands.program_tables.option_parser import Parser
from pulsus.commands.program_tables.program_table import BadTable, Node, Option, WordKind, node
from pulsus.commands.program_tables.yaml_values import nearest
from pulsus.commands.risk.risk_level import always_changes, destroys
from pulsus.commands.shell.words import Word
from pulsus.fast_dataclass import dataclass

WRAPPERS: Final = {"command": {"", "fed", ";"}, "shell": {""}}
"""Kinds that run what follows, each with the arguments it knows."""

Code = Literal[
    "TABLE_INVALID",
    "KIND_UNKNOWN",
    "OPTION_UNKNOWN",
    "CONTRADICTION",
    "EXAMPLES_MISSING",
    "EXAMPLE_REFUSED",
    "EXAMPLE_ALLOWED",
    "EXAMPLES_ELSEWHERE",
    "UNDESCRIBED",
    "RESTRICTION_UNPROVED",
    "CHANGE_LISTED",
]

_ADVICE: Final = frozenset({"CHANGE_LISTED"})


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with the table of `program` in `file`, and what to do."""

    program: str
    file: Path
    code: Code
    reason: str
    fix: str

    @property
    def advises(self) -> bool:
        """Return True if it may be right, and only deserves a second look."""
        return self.code in _ADVICE


def check_table(file: Path, context: JudgeContext) -> Iterator[Problem]:
    """Yield what is wrong with the table in `file`.

    Its examples are judged by `context`, which has to know the file's folder. What ships gets no
    advice: it was reviewed.
    """
    program = table_name(file)
    try:
        raw = parsed(file)
        if "same_as" in raw:
            context.tables.get(program)
            return
        if raw.get("program") != program:
            raise BadTable(misnamed(raw, file.name))
        found = node(raw, program, top=True)
    except BadTable as error:
        fix = "docs/commands.md of Pulsus has every key and what it holds"
        yield Problem(program, file, "TABLE_INVALID", str(error), fix)
        return
    findings = [
        *_find_unknown_names(found, {}, context),
        *_find_missing_descriptions(raw),
        *_check_examples(raw, found, context),
    ]
    if file.parent != SHIPPED:
        findings += [
            ("CHANGE_LISTED", reason, fix) for reason, fix in find_suspicious(found, (program,))
        ]
    for code, reason, fix in dict.fromkeys(findings):
        yield Problem(program, file, code, reason, fix)


def find_unproved(file: Path, context: JudgeContext) -> Iterator[Problem]:
    """Yield each restriction of a table without mistakes that no example of it shows.

    It is taken out, or turned into something allowed, and no example that is refused is allowed
    then: so its loss would go unnoticed. Tables that ship have kept calls besides.
    """
    # Imported late: only this check takes tables apart.
    from pulsus.commands.table_check.loosened_tables import example_to_add, missing_example
    from pulsus.commands.table_check.loosened_tables import unproved as found

    raw, program = dict(parsed(file)), table_name(file)
    if "same_as" in raw:
        return
    for one in found(program, raw, context):
        reason, call = missing_example(one, raw), example_to_add(one, raw, context)
        example = "a refused example that only this restriction refuses"
        if call:
            reason, example = f"{reason}, as `{call}` would", "the call in the reason as refused"
        fix = f"add {example}, or delete the restriction"
        yield Problem(program, file, "RESTRICTION_UNPROVED", reason, fix)


_Said = tuple[Code, str, str]


def _find_missing_descriptions(raw: Mapping[str, object]) -> Iterator[_Said]:
    for key, what in (("source", "its manual page and version"), ("summary", "what it does")):
        if not str(raw.get(key) or "").strip():
            yield "UNDESCRIBED", f"there is no {key}", f"{key}: {what}"


def _find_unknown_names(
    node: Node, above: Mapping[str, Option], context: JudgeContext
) -> Iterator[_Said]:
    """Yield unknown names of a node: kinds, and options of needs and forms."""
    for kind in _kinds_of_node(node):
        wrong = _unknown_kind_reason(kind, context)
        if wrong:
            shipped = {each.partition(":")[0] for each in kind_texts()["about"]}
            known = shipped | {*context.inspectors}
            fix = f"{nearest(kind.name, known)} docs/commands.md of Pulsus has them all"
            yield "KIND_UNKNOWN", f"{node.name}: {wrong}", fix
    parser = Parser(node, above, stop_at_first=False)
    needs = ((n.one_of | n.unless | n.when) for n in node.needs)
    apart = (one | other for one, other in node.apart)
    used = frozenset().union(*needs, *apart, *(form.when for form in node.forms))
    for option in sorted(used - set(parser.known)):
        reason = (
            f"{node.name}: {option} stands in needs, apart or operands, and no option is called so"
        )
        yield "OPTION_UNKNOWN", reason, "list it as an option too, or correct its spelling"
    for word in sorted(set(node.refused) & (set(node.options) | set(node.subcommands))):
        reason = f"{node.name}: {word} is refused and allowed"
        yield "CONTRADICTION", reason, "keep one of the two"
    inherited = parser.known if node.style == "gnu" else parser.above
    for child in node.subcommands.values():
        yield from _find_unknown_names(child, inherited, context)


def _kinds_of_node(node: Node) -> Iterator[WordKind]:
    for option in (*node.options.values(), *node.everywhere.values()):
        if option.kind is not None:
            yield option.kind
    for form in node.forms:
        yield from form.kinds


def _unknown_kind_reason(kind: WordKind, context: JudgeContext) -> str:
    if kind.name in WRAPPERS:
        known = kind.argument in WRAPPERS[kind.name]
        return "" if known else f"{kind.name}:{kind.argument} is no way to run a command"
    if is_built_in_kind(kind.name) or kind.name in context.inspectors:
        return ""
    return f"there is no kind {kind.name!r}"


def is_built_in_kind(kind: str) -> bool:
    """Return True if tables can name `kind` without any plugin."""
    return kind in WRAPPERS or kind in NAMES or is_built_in(kind)


def _check_examples(
    raw: Mapping[str, object], found: Node, context: JudgeContext
) -> Iterator[_Said]:
    """Yield missing examples, and examples whose verdict differs from that in the table."""
    declared = raw.get("examples")
    shown = declared if isinstance(declared, Mapping) else {}
    for side in ("allowed", "refused"):
        calls = shown.get(side)
        needed = side == "refused" or not (found.never or found.category)
        if not isinstance(calls, list) or not calls:
            if needed:
                yield "EXAMPLES_MISSING", f"no call shows what is {side}", f"examples: {side}: […]"
            continue
        if not any(_may_call(str(call), found.name, context) for call in calls):
            reason = f"no call that shows what is {side} calls {found.name}"
            yield "EXAMPLES_ELSEWHERE", reason, f"examples: {side}: [{found.name} …]"
        for call in calls:
            yield from _check_example(str(call), side, context)


def _may_call(call: str, program: str, context: JudgeContext) -> bool:
    """Return True if one of the programs in `call`, or what one of them runs, may be `program`."""
    script = examine(call, context).script
    words = [call]
    if script is not None:
        words = [word.text for stage in script.stages for word in stage.words]
    return any(word.rpartition("/")[2] == program for text in words for word in text.split())


def _check_example(call: str, side: str, context: JudgeContext) -> Iterator[_Said]:
    verdict = classify(call, context)
    if side == "allowed" and not verdict.allow:
        fix = "list what it needs, or move it to refused"
        yield "EXAMPLE_REFUSED", f"`{call}` is refused: {verdict.reason}", fix
    elif side == "refused" and verdict.allow:
        fix = "take out what allows it, or move it to allowed"
        yield "EXAMPLE_ALLOWED", f"`{call}` is allowed: {verdict.reason}", fix


_CHANGES: Final = re.compile(
    "apply|clean|create|delete|destroy|drop|edit|erase|exec|execute|force|inplace|install|kill|out|"
    "outfile|output|overwrite|prune|purge|remove|reset|restart|restore|set|shutdown|stop|truncate|"
    "uninstall|unlink|update|upload|wipe|write"
)
"""Parts of options' names that speak of a change; `--output` with a format from a list does not."""


def find_suspicious(node: Node, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield entries of a table to look at once more, and what to do. `path` starts with the
    program.

    Nothing of what is never a read.
    """
    if node.never or node.category is not None:
        return
    words = tuple(map(Word, path))
    if (len(path) == 1 and always_changes(path[0])) or (len(path) > 1 and destroys(words)):
        shown = " ".join(path)
        yield (
            f"{shown}: calls of it are known to change or lose something, and it is allowed",
            "refuse it (never: …), or be sure of every call that the table lets through",
        )
    for name, option in (*node.options.items(), *node.everywhere.items()):
        if _is_named_like_a_change(name, option):
            reason = f"{node.name}: {name} is listed as reading, and is called like what changes"
            yield reason, "put it into refused if it does, or list the values that only read"
    for word, child in node.subcommands.items():
        yield from find_suspicious(child, (*path, word))


def _is_named_like_a_change(name: str, option: Option) -> bool:
    chosen = option.kind is not None and option.kind.name == "literal"
    parts = re.split(r"[-_]", name.lstrip("-").lower())
    long = len(name.lstrip("-")) > 1
    return long and not chosen and "no" not in parts and any(map(_CHANGES.fullmatch, parts))
