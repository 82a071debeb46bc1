"""The example calls of the shipped command tables, with their verdicts."""

from functools import cache

from pulsus.commands.classify import classify
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable

CONTEXT = JudgeContext(Tables())


@cache
def verdict(command):
    """Return the verdict of the shipped tables on a command."""
    return classify(command, CONTEXT)


@cache
def examples():
    """Every example of every table, and the kept calls that are refused."""
    from tests.command_mutations import kept_rows

    found: list[str] = []
    for name in CONTEXT.tables.names():
        raw = CONTEXT.tables.raw(name) or {}
        shown = raw.get("examples")
        for side in ("allowed", "refused"):
            found += map(str, (shown.get(side) or []) if isinstance(shown, dict) else [])
    return [*found, *(command for rows in kept_rows().values() for command, _ in rows)]


@cache
def plain():
    """Those of one program, written with words alone: `(command, its words)`."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for command in examples():
        try:
            script = parse_command(command)
        except Unreadable:
            continue
        stage = script.stages[0]
        alone = len(script.stages) == 1 and not (script.redirects or script.negated)
        wild = any(word.wild for word in stage.words)
        begins = command.lstrip()[0] in "({"
        if alone and stage.words and not (wild or stage.assignments or begins):
            found.append((command, tuple(word.text for word in stage.words)))
    return found
