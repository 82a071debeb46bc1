"""Execution intent: classify if a command may run as a read, in phases (architecture §2.6, §6).

Guards and what needs a terminal come before anything that allows: one finding that is no read makes
the whole command none, whatever else stands in it. A limit on the number of programs is here.

Each call is checked in `commands/call_check/judge.py` against the table of its program
(`commands/tables/NAME.yaml`), redirections in `redirects_and_assignments.py` beside it; secret
files are found in `commands/risk/secret_files.py`, and `rewrite.py` makes another command to offer.
The danger of a command (destructive or not) is rated in `commands/risk/risk_level.py`. If
`[policy]` allows or blocks it is decided in `gates/command_policy.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Final, get_args

from pulsus.commands.call_check.foreign_folders import check_shared_folders
from pulsus.commands.call_check.judge import judge_call
from pulsus.commands.call_check.piped_file_names import check_found_lists, check_piped_file_names
from pulsus.commands.call_check.redirects_and_assignments import check_assignments, check_redirect
from pulsus.commands.command_verdict import (
    CHANGES,
    CallFinding,
    Category,
    CommandVerdict,
    Phase,
    refusal,
)
from pulsus.commands.cost.cost_limits import check_total_duration, cost_of
from pulsus.commands.destinations.mounted_hosts import mounted_hosts
from pulsus.commands.destinations.sent_variables import variables_of_env, with_variables
from pulsus.commands.judge_context import JudgeContext, Measures
from pulsus.commands.program_tables.loader import UnapprovedTable
from pulsus.commands.program_tables.program_table import BadTable
from pulsus.commands.rewrite import rewrite_command
from pulsus.commands.risk.devices import find_devices
from pulsus.commands.risk.environment_queries import find_printed_environment
from pulsus.commands.risk.file_uses import find_uses
from pulsus.commands.risk.piped_environments import find_reshaped_environment
from pulsus.commands.risk.risk_level import MOST, risk_of
from pulsus.commands.risk.secret_files import find_secrets, find_secrets_in_text
from pulsus.commands.risk.wide_formats import find_wide_formats
from pulsus.commands.shell.refused_characters import dash_readings, find_hidden
from pulsus.commands.shell.script_parser import Script, Stage, parse_command
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.commands.shell.working_dirs import locate_calls
from pulsus.fast_dataclass import dataclass, replace

_SAYS_NOTHING: Final = {("true",), (":",), ("echo",), ("echo", "-n"), ("echo", ""), ("echo", "Q")}
"""`Q` alone ends a session of openssl."""

_ORDER: Final = {phase: place for place, phase in enumerate(get_args(Phase))}


@dataclass(frozen=True, slots=True)
class Examined:
    """A command, what it would run (None if that cannot be known) and everything found."""

    command: str
    script: Script | None
    findings: tuple[CallFinding, ...]
    reads: tuple[bool | None, ...] = ()
    """Of each call whether it is a read by itself. None if it was judged with what stands around
    it."""

    @property
    def deciding(self) -> CallFinding:
        """Return the first refusal by phase. Without a refusal, return what makes it a read."""
        refused = [f for f in self.findings if not f.is_read]
        if refused:
            first = min(refused, key=lambda f: _ORDER[f.reason.phase])
            if first.reason.phase == "non_interactive":
                # What a program changes says more than that what it reads does not end.
                first = next((f for f in refused if f.reason.rule == CHANGES), first)
            # `timeout N` helps only where nothing else is against it.
            ends = all(f.category == first.category for f in refused)
            return first if ends else replace(first, reason=replace(first.reason, instead=""))
        weaker = (f for f in self.findings if f.intent == "read_only_conditional")
        return next(weaker, self.findings[0])

    @property
    def category(self) -> Category | None:
        """Return the deciding finding's category, or else the first category."""
        deciding = self.deciding
        if deciding.category is not None or deciding.reason.rule == CHANGES:
            return deciding.category
        return next((f.category for f in self.findings if f.category is not None), None)

    @property
    def sensitive(self) -> bool:
        """Return True if it names a place where secrets are kept."""
        return any(f.reason.phase == "sensitive" for f in self.findings)


def classify(command: str, context: JudgeContext | None = None) -> CommandVerdict:
    """Return the verdict on `command`, by what ships, or by the tables of `context`.

    Never raises for any text. A rewrite was judged by the same rules and is allowed.
    """
    context = _shipped_context() if context is None else context
    runs: list[Sequence[Word]] = []
    measures = Measures()
    around = replace(context, calls=_judge_words, texts=_judge_text, seen=runs, measures=measures)
    examined = examine(command, around)
    deciding, category = examined.deciding, examined.category
    endless = any(f.category == "unbounded_stream" for f in examined.findings)
    return CommandVerdict(
        command=command,
        allow=deciding.is_read,
        intent=deciding.intent,
        category=category,
        risk=risk_of(
            examined.findings, examined.script, command, partial(_is_read, examined, context)
        ),
        sensitive=examined.sensitive,
        reason=deciding.reason,
        rewrite=None if deciding.is_read or not category else _find_rewrite(examined, context),
        runs=tuple(runs),
        cost=cost_of(around, endless=endless),
        destinations=with_variables(measures.destinations, measures.variables),
    )


def _is_read(examined: Examined, context: JudgeContext, place: int, stage: Stage) -> bool:
    known = examined.reads[place]
    return all(f.is_read for f in judge_stage(stage, context)) if known is None else known


@cache
def _shipped_context() -> JudgeContext:
    return JudgeContext()


def _find_rewrite(examined: Examined, context: JudgeContext) -> str | None:
    """Return another command to offer. It is allowed as it stands."""
    if examined.script is None:
        return None
    other = rewrite_command(examined.command, examined.script, context)
    if other is None or not examine(other, context).deciding.is_read:
        return None
    return other


def examine(command: str, context: JudgeContext) -> Examined:
    """Return everything that is found in `command`. Never raises for any text."""
    if context.measures is None:
        context = replace(context, measures=Measures())
    found = find_hidden(command)
    if found is not None:
        return Examined(command, None, (refusal("characters", *found),))
    try:
        script = parse_command(command)
    except Unreadable as error:
        unread = refusal("parse", error.word, error.rule, error.instead)
        return Examined(command, None, (unread, *find_secrets_in_text(command)))
    if len(script.stages) > MOST:
        many = refusal("guard", f"{len(script.stages)} programs", f"more than the limit of {MOST}")
        return Examined(command, script, (*find_secrets_in_text(command), many))
    reads: list[bool | None] = []
    findings = tuple(_judge_script(script, context, reads))
    return Examined(command, script, findings, tuple(reads))


def _judge_script(
    script: Script, context: JudgeContext, reads: list[bool | None]
) -> Iterator[CallFinding]:
    """Yield everything found in `script`, and write down which calls are `reads` by themselves."""
    found = find_uses(script, context.tables)
    yield from find_secrets(found, context.tables)
    yield from find_devices(found, script, context)
    yield from find_wide_formats(found)
    yield from check_piped_file_names(script, context.tables, fed=context.fed)
    yield from find_reshaped_environment(script)
    calls = locate_calls(script)
    yield from check_shared_folders(calls)
    for redirect in script.redirects:
        yield from check_redirect(redirect)
        if context.measures is not None:
            opened = (Word(redirect.operator), redirect.target)
            context.measures.destinations += mounted_hosts(opened)
    read_from = any(r.operator == "<" and r.target.text != "/dev/null" for r in script.redirects)
    for place, (stage, folders) in enumerate(calls):
        fed, silent = context.fed or stage.fed or read_from, _has_silent_input(script, place)
        same = fed == context.fed and silent == context.silent and not folders
        inside = (*context.folders, *folders)
        around = context if same else replace(context, fed=fed, silent=silent, folders=inside)
        found_here = tuple(judge_stage(stage, around))
        reads.append(all(f.is_read for f in found_here) if same else None)
        yield from found_here
    yield from check_total_duration(context)


def _has_silent_input(script: Script, place: int) -> bool:
    """Return True if the stage reads from /dev/null, or from a program that prints nothing (`echo
    |`)."""
    read_from = [r.target.text for r in script.redirects if r.place == place and r.operator == "<"]
    if read_from:
        return set(read_from) == {"/dev/null"}
    if place != 1 or not script.stages[1].fed:
        return False
    return tuple(word.text for word in script.stages[0].words) in _SAYS_NOTHING


def judge_stage(stage: Stage, context: JudgeContext) -> Iterator[CallFinding]:
    """Yield the findings of one program call, without its redirections."""
    yield from check_assignments(stage, context)
    if not stage.words:
        yield refusal("guard", "", "an assignment without a program")
        return
    if context.calls is None:
        context = replace(context, calls=_judge_words, texts=_judge_text)
    try:
        for words in dash_readings(stage.words):
            yield from _judge_words(words, context)
    except UnapprovedTable as error:
        yield refusal("unknown", stage.words[0].text, str(error))
    except BadTable as error:
        yield refusal("unknown", stage.words[0].text, f"its table cannot be read: {error}")


def _judge_words(words: Sequence[Word], context: JudgeContext) -> Iterator[CallFinding]:
    if context.depth and context.seen is not None:
        context.seen.append(tuple(words))
    if context.measures is not None:
        context.measures.variables += variables_of_env(words)
        context.measures.destinations += mounted_hosts(words, context.folders)
    if context.repeated > 1:
        yield from check_found_lists(words)
    if context.remote:
        yield from find_printed_environment(words)
    yield from judge_call(words, context)


def _judge_text(command: str, context: JudgeContext) -> Iterable[CallFinding]:
    return examine(command, context).findings
