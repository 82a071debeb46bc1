"""Verdicts of the command gate as lines. Pure.

The way out of a refusal, and the change that makes a command allowed, are worded here.

If a command is allowed or blocked is decided in `commands/classify.py` and
`gates/command_policy.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pulsus.cli.render.validation_text import relative
from pulsus.commands.command_verdict import CallFinding, Phase
from pulsus.commands.explain_verdict import ExplainedCall, VerdictExplanation
from pulsus.commands.program_tables.loader import SHIPPED
from pulsus.commands.risk.risk_level import always_changes
from pulsus.commands.shell.wrappers import PRIVILEGED
from pulsus.gates.command_policy import COMPOUND, EGRESS, UNKNOWN, Ruling
from pulsus.gates.egress import describe_destination
from pulsus.gates.gate_answer import GateAnswer, describe_ruling

RISKIEST: Final = 3
_EXAMPLES: Final = (
    "`pulsus commands classify COMMAND --explain` shows calls of the program that read"
)
_NO_EXAMPLES: Final = "no form of it is known that would be allowed: a person has to approve it"
_WAYS: Final[Mapping[Phase, str]] = {
    "characters": "give it in plain characters, not more than 16,384 of them",
    "sensitive": "no setting allows it; names and sizes may be asked for, as by `ls -l`",
    "parse": "give each command alone, with values instead of variables, substitutions and loops",
    "unknown": "`pulsus commands list` has the known programs; one more is a table in "
    "config/commands/ of the project",
}
_UNUSED_TABLE: Final = (
    "the program has a table, which is not used: mend or approve it (`pulsus commands check` reads "
    "it)"
)
_PHASES: Final[Mapping[Phase, str]] = {
    "characters": "unusual characters",
    "sensitive": "secrets",
    "parse": "shell syntax",
    "guard": "redirections and variables",
    "non_interactive": "waiting and endless commands",
    "write": "options and subcommands",
    "allow": "operands and values",
    "content": "SQL, awk and other languages",
    "unknown": "programs without a table",
}
"""The subject of each phase: its name alone reads as an answer ("refused, by phase allow")."""


def verdict(
    said: GateAnswer, parts: Sequence[ExplainedCall], hint: str, *, explain: bool
) -> Iterator[str]:
    """Allowed or refused, with the reason, and what else is known."""
    found = said.verdict
    yield f"{'allowed' if said.allow else 'refused'}: {_one(_why(said, parts))}"
    also = [found.intent, f"risk {found.risk}", f"cost {found.cost}"]
    also += [found.category] if found.category else []
    also += ["sensitive"] if found.sensitive else []
    decided = "the policy" if said.decided_by == "policy" else _phase(found.reason.phase)
    yield f"  {', '.join(also)}; decided by {decided}"
    yield f"  policy: {_policy(said)}"
    if both := _reconcile(said, parts):
        yield f"  together: {both}"
    for each in found.destinations:
        yield f"  {_one(describe_destination(each))}"
    if said.rewrite is not None:
        yield f"  allowed instead: {said.rewrite}"
    elif hint and not (explain and hint == _EXAMPLES):
        yield f"  hint: {hint}"


def _phase(phase: Phase) -> str:
    return f"phase {phase} ({_PHASES[phase]})"


def _policy(said: GateAnswer) -> str:
    """Return the decision of the policy on this command, and its reason."""
    ruling = said.ruling
    if ruling.rule == UNKNOWN:
        return f"{ruling.decision}, because no pattern of policy.allow matches it"
    if ruling.rule == COMPOUND:
        unasked = "; not needed here: every part is a read" if said.allow else ""
        return f"{ruling.decision}, because it has several parts{unasked}"
    return f"{ruling.decision}, by {_one(ruling.rule)}"


def _reconcile(said: GateAnswer, parts: Sequence[ExplainedCall]) -> str:
    """Return which of gate and policy decides, if one is for the command and one against it."""
    found, decision = said.verdict, said.ruling.decision
    if said.decided_by == "policy":
        if decision == "block":
            return "it is a read, and the policy decides: Pulsus never runs it"
        return "it is a read, and the policy decides: Pulsus runs it once a person approves it"
    if found.allow or decision != "allow":
        return ""
    name = parts[0].program if parts else ""
    no_read = (
        f"with {name} it is no read, whatever the policy says about the command behind it"
        if name in PRIVILEGED
        else "it is no read, although the policy allows it"
    )
    return (
        f"{no_read}. The read tool follows the gate and refuses it; a tool that may write follows "
        "the policy and may run it unasked"
    )


def _why(said: GateAnswer, parts: Sequence[ExplainedCall]) -> str:
    """Return the reason; of several programs that are all reads each is named."""
    programs = list(dict.fromkeys(part.program for part in parts))
    if not said.allow or len(programs) == 1:
        return said.reason
    first, only = ", ".join(programs), said.verdict.intent == "read_only_certain"
    return f"{first}: each only reads, and ends by itself" + ("" if only else f"; {said.reason}")


def way_out(said: GateAnswer, origin: str, explained: VerdictExplanation) -> str:
    """Return what to do about a refused command. `origin` is where the policy was set."""
    found, ruling = said.verdict, said.ruling
    if not found.command.strip():
        return "give a command in quotes"
    if said.rewrite is not None:
        return f"`{said.rewrite}` would be allowed"
    if said.decided_by == "policy" and ruling.rule == EGRESS:
        return f"{_set(ruling, origin)} decides: {_let_connect(said)}"
    if said.decided_by == "policy":
        reads = "" if ruling.setting else ", and `@read` in it allows reads"
        return f"it is a read; {_set(ruling, origin)} decides{reads}"
    if ruling.decision == "block" and found.reason.phase != "sensitive":
        return f"it is blocked: {_set(ruling, origin)} has {_one(ruling.rule)}"
    if found.reason.phase == "unknown" and any(
        part.table and part.program == found.reason.word for part in explained.parts
    ):
        return _UNUSED_TABLE
    if way := next(filter(None, _changes(explained)), ""):
        return way
    known_to_read = found.reason.phase != "unknown" and not always_changes(found.reason.word)
    if not known_to_read and found.risk == RISKIEST:
        return "the agent runs a command of risk 3 only with the approval of a person"
    return _WAYS.get(found.reason.phase, _EXAMPLES if explained.allowed else _NO_EXAMPLES)


def _let_connect(said: GateAnswer) -> str:
    """Return how a read may connect. A place that is not known before it runs has no name."""
    if not any(each.dynamic for each in said.verdict.destinations):
        return "name the host with --known HOST, or list it in policy.egress_hosts"
    approved = "" if said.ruling.decision == "block" else ", or a person has to approve it"
    return f"no host can be named for it: leave out what makes the place unknown, such as -L of \
curl{approved}"


def _changes(explained: VerdictExplanation) -> Iterator[str]:
    """Yield what makes the command an allowed one, or an empty text if words do not tell it."""
    found = explained.verdict
    for changed in explained.variants:
        if changed in explained.allowed:
            yield _change(found.command.strip(), changed, endless=found.cost == "unbounded")


def _change(command: str, changed: str, *, endless: bool) -> str:
    """Return what makes `command` the allowed one: a word at its front or its end, or a limit."""
    if command.endswith(changed):
        return f"leave out {command.split()[0]}: `{changed}` is allowed"
    if changed.endswith(command):
        return f"put `timeout N` in front: `{changed}` is allowed"
    if changed.startswith(command):
        return f"write `{changed}`"
    return f"read a fixed number of bytes: `{changed}` is allowed" if endless else ""


def _set(ruling: Ruling, origin: str) -> str:
    where = "as it ships" if origin == "default" else f"set in {origin}"
    return f"{_one(ruling.setting or 'policy.allow')} ({where})"


def explanation(found: VerdictExplanation, said: GateAnswer, project: Path) -> Iterator[str]:
    """Yield phases and policy, then every program call with its words and table, then what would be
    allowed."""
    yield ""
    yield "phases"
    for asked in found.phases:
        yield f"  {asked.phase:<16}{asked.answer}"
        if asked.answer == "refused":
            yield from (f"    {_finding(each)}" for each in asked.findings if not each.is_read)
    yield f"  {'policy':<16}{said.policy_answer}"
    yield f"    {_one(describe_ruling(said.ruling))}"
    if found.parts:
        yield ""
        yield "programs"
    for number, part in enumerate(found.parts, 1):
        yield from _part(number, part, project)
    instead = [each for each in found.allowed if each in found.variants]
    if instead:
        yield ""
        yield "would be allowed"
        yield from (f"  {each}" for each in instead)
    others = [each for each in found.allowed if each not in found.variants]
    if others:
        yield ""
        yield "examples of reads of this program"
        yield from (f"  {each}" for each in others)


def _part(number: int, part: ExplainedCall, project: Path) -> Iterator[str]:
    words = " ".join(_word(word.text, wild=word.wild) for word in part.stage.words)
    yield f"  {number} {words}"
    yield f"    table: {_table(part.table, project)}"
    for finding in part.findings:
        if finding.is_read == part.reads:
            yield f"    {'reads' if finding.is_read else 'no read'}: {_finding(finding)}"


def _word(text: str, *, wild: bool) -> str:
    return _one(text) if wild else _one(shlex.quote(text))


def _table(table: Path | None, project: Path) -> str:
    if table is None:
        return "none"
    return f"{table.name}, shipped" if table.is_relative_to(SHIPPED) else relative(table, project)


def _finding(finding: CallFinding) -> str:
    category = f" ({finding.category})" if finding.category else ""
    return _one(f"{finding.reason}{category}")


def _one(text: str) -> str:
    return text.replace("\n", "\\n").replace("\t", "\\t")
