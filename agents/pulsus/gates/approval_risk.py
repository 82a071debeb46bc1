"""The risk of a command as an approver sees it: low, medium or high (assistant architecture §6).

Commands of high risk get no grant for a session. The scale of the command gate
(`commands/risk/risk_level.py`) says what a command may do at worst. An approver also asks whether
it can be undone: restarting a service is no loss, deleting a folder is one (the patterns are in
`approval_risk.yaml`). The risk of a call that is no command is in
`agent/control/build_call_question.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from pulsus.commands import CommandVerdict, classify
from pulsus.commands.command_verdict import ASSIGNED
from pulsus.commands.shell.script_parser import Script, parse_command
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.commands.shell.wrappers import program_name, unwrap
from pulsus.commands.shipped_data import rules_of
from pulsus.gates.command_patterns import has_words, is_exactly, select_patterns
from pulsus.gates.fetched_code import runs_what_it_fetches

ApprovalRisk = Literal["low", "medium", "high"]

_BY_GATE: Final[tuple[ApprovalRisk, ...]] = ("low", "low", "medium", "high")
_RULES: Final = Path(__file__).with_suffix(".yaml")


def approval_risk(command: str, verdict: CommandVerdict | None = None) -> ApprovalRisk:
    """Return the risk of a command. `verdict` saves judging it again.

    A command that touches secrets, or runs what it fetches, is high. A destructive command is
    medium if every part that is no read can be undone, or done again, without a loss.
    """
    verdict = verdict or classify(command)
    risk = _BY_GATE[verdict.risk]
    if verdict.allow:
        return risk
    if risk == "low" and not _only_lacks_an_end(command, verdict):
        risk = "medium"
    try:
        script = parse_command(command)
    except Unreadable:
        script = None
    if verdict.sensitive or runs_what_it_fetches(script, command):
        return "high"
    if script is not None and _has_losing_part(script):
        return "high"
    if risk == "high" and script is not None and _is_recoverable(script):
        return "medium"
    return risk


def _only_lacks_an_end(command: str, verdict: CommandVerdict) -> bool:
    """Return True if the command would be a read if it ended: no editor, and no variable is set."""
    if verdict.category != "unbounded_stream" or verdict.reason.rule == ASSIGNED:
        return False
    try:
        return not any(stage.assignments for stage in parse_command(command).stages)
    except Unreadable:
        return False


def _has_losing_part(script: Script) -> bool:
    """Return True if a part loses data or opens a way to more rights, whatever the gate rates."""
    calls = (unwrap(stage.words) for stage in script.stages)
    return any(
        has_words(rule, call)
        for call in calls
        if call
        for rule in _rules_for("losing", program_name(call))
    )


def _is_recoverable(script: Script) -> bool:
    if any(redirect.operator not in {"<", "<<", "<<<"} for redirect in script.redirects):
        return False
    return all(_may_be_undone(unwrap(stage.words)) for stage in script.stages)


def _may_be_undone(call: Sequence[Word]) -> bool:
    if not call:
        return False
    if any(has_words(pattern, call) for pattern in _rules_for("never", program_name(call))):
        return False
    known = any(is_exactly(rule, call) for rule in _rules_for("recoverable", call[0].text))
    return known or classify(" ".join(word.text for word in call)).allow


def _rules_for(key: str, program: str) -> tuple[str, ...]:
    """Return the patterns that may be about calls of a program: the others fit none."""
    return select_patterns(_patterns(key), frozenset({program.lower()}))


@cache
def _patterns(key: str) -> tuple[str, ...]:
    rules: Mapping[str, Any] = rules_of(_RULES)
    return tuple(rules[key])
