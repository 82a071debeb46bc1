"""Write confirmation: ask a person before a tool that writes is run, unless `--yes` is given.

`--yes` does not count for a tool with `Approval: approver`: a person types its target (contracts).
The gate has proven that a write tool changes no file while `dry_run` is true. So such a call runs
as a read, without a confirmation. What a person allows the agent for a session is kept in
`agent/control/session_grants.py`; consents given for the steps of a plan's run are kept in
`routing/plans/plan_host.py`; the question is shown by `cli/prompts/approval_prompt.py`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from pulsus.approvals.approver_protocol import Approver, WriteRun
from pulsus.core.types import Constant, InputValue, JsonValue, ParamRef, PlanStep, ToolSpec
from pulsus.core.validators.effects.observed_against_declared import DRY_RUN, has_dry_run
from pulsus.errors import ApprovalNeeded

RunConsent = Literal["asked", "typed", "yes", "card", "dry_run"]
"""A run was confirmed by a person, by a person who typed its target, by `--yes`, by an approval
card, or not at all because it is a dry run."""


class Consent(Protocol):
    """A way to confirm a run that may write."""

    def obtain(self, run: WriteRun, *, dry: bool) -> RunConsent:
        """Return how the run is confirmed. Raises ApprovalNeeded."""
        ...


@dataclass(frozen=True, slots=True)
class RunApproval:
    """The ways to confirm a run: a person, or the caller beforehand (`yes`).

    `given` are the `--input` options of the call, which the hint repeats. `request` is set for a
    plan that is in no catalogue: only the same request leads to it again. The question to the
    person shows `origins` and `unfollowed`, as in WriteRun.
    """

    person: Approver | None = None
    yes: bool = False
    given: Sequence[str] = ()
    request: str = ""
    origins: Mapping[str, InputValue] = field(default_factory=dict)
    unfollowed: tuple[str, ...] = ()

    def obtain(self, run: WriteRun, *, dry: bool) -> RunConsent:
        """Return how a run that may write is confirmed. Raises ApprovalNeeded.

        `dry` is True if the call changes nothing.
        """
        if dry:
            return "dry_run"
        run = replace(run, origins=self.origins, unfollowed=self.unfollowed)
        strict = [each.id for each in (run.tool, *run.writers) if each.approval == "approver"]
        if strict:
            return self._obtain_from_approver(run, strict[0])
        if self.yes:
            return "yes"
        if self.person and self.person.confirm_run(run):
            return "asked"
        what = " and ".join(each.id for each in run.writers)
        why = "you did not confirm it" if self.person else "it is not run without a confirmation"
        raise ApprovalNeeded(f"{what} may change things, and {why}", hint=self._hint(run.tool))

    def _obtain_from_approver(self, run: WriteRun, strict: str) -> RunConsent:
        """Return "typed" if a person at the terminal types the target; `yes` alone never counts."""
        if self.person and self.person.confirm_target(run):
            return "typed"
        why = "the target was not typed"
        if self.yes and not self.person:
            why = "`--yes` alone does not stand for an approver"
        tries = (
            f", or see what it would do: --input {DRY_RUN}=true" if has_dry_run(run.tool) else ""
        )
        command = run_command(run.tool.id, self.given)
        if self.request:
            command = command_with_inputs(["pulsus", "route", self.request, "--run"], self.given)
        raise ApprovalNeeded(
            f"{strict} declares `Approval: approver`, and {why}",
            hint=f"run this at a terminal and type the target: {command}{tries}",
            tool=strict,
        )

    def _hint(self, tool: ToolSpec) -> str:
        """Return the command that confirms the run, or asks again."""
        tries = f", or see what it would do: --input {DRY_RUN}=true" if has_dry_run(tool) else ""
        if not self.request:
            return f"confirm it: {run_command(tool.id, self.given)} --yes{tries}"
        command = command_with_inputs(["pulsus", "route", self.request, "--run"], self.given)
        where = "" if self.person else "at a terminal, "
        return f"{where}run this and answer y: {command}{tries}"


@dataclass(frozen=True, slots=True)
class CardConsent:
    """The consent of an approver to a whole plan, by a card with a one-time token (ADR 56).

    It also confirms runs of tools with `Approval: approver`: only an approver gets such a token.
    """

    def obtain(self, run: WriteRun, *, dry: bool) -> RunConsent:
        """Return how the run is confirmed. Never raises."""
        return "dry_run" if dry else "card"


def run_command(tool_id: str, given: Sequence[str]) -> str:
    """Return the command that runs the tool with these `--input` options."""
    return command_with_inputs(["pulsus", "run", tool_id], given)


def command_with_inputs(words: Sequence[str], given: Sequence[str]) -> str:
    """Return a command as the shell takes it, with these `--input` options at its end."""
    options = [word for pair in given for word in ("--input", pair)]
    return shlex.join([*words, *options])


def input_options(inputs: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield a value of `--input` for each input: K=V for plain text, else K:=JSON."""
    for name, value in inputs.items():
        if isinstance(value, str) and not value.startswith("@"):
            yield f"{name}={value}"
        else:
            yield f"{name}:={json.dumps(value, ensure_ascii=False)}"


def is_dry_run_call(
    used: Sequence[ToolSpec], source: bytes, inputs: Mapping[str, JsonValue]
) -> bool:
    """Return True if the call passes `dry_run` true to every tool that may write.

    `used` are the called tool and its steps, with the stricter of declared and recorded kind. A
    default does not count: a caller who leaves the argument out may not know of it.
    """
    tool, *steps = used
    if not (has_dry_run(tool) and inputs.get(DRY_RUN) is True):
        return False
    writing = {step.id: step for step in steps if step.kind == "write"}
    if not writing:
        return True
    # Imported late: every route prints inputs with the functions above, and few have a plan.
    from pulsus.core.compose.plans.module_source import read_plan

    plan = read_plan(source)
    found = [step for step in plan.steps if step.tool in writing] if plan else []
    return {step.tool for step in found} == writing.keys() and all(
        has_dry_run(writing[step.tool]) and _dry_run_value(step, inputs) is True for step in found
    )


def _dry_run_value(step: PlanStep, inputs: Mapping[str, JsonValue]) -> JsonValue:
    """Return the step's value for `dry_run`, if it is known before the run."""
    match step.inputs.get(DRY_RUN):
        case Constant(value):
            return value
        case ParamRef(name):
            return inputs.get(name)
        case _:
            return None
