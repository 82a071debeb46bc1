"""The person at the terminal, who decides on modules and runs. Reads stdin, writes stderr.

If a person can be asked at all (a terminal, `--non-interactive`) is decided in
`cli/command_session.py`, and if consent is needed in `approvals/run_consent.py`. A call of the
agent is asked about in `cli/agent/terminal_approver.py`. The answer `edit` opens the editor that
`EDITOR` names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from pulsus.approvals.approver_protocol import (
    ApprovalAnswer,
    Approve,
    ChangeTarget,
    Discard,
    EditModule,
    Proposal,
    WriteRun,
)
from pulsus.approvals.tool_description import describe_tool
from pulsus.cli import console
from pulsus.cli.prompts import questions
from pulsus.cli.render.inputs_text import has_long_values, kind_of_value, write_run_values
from pulsus.cli.render.validation_text import relative
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.telemetry.visible_text import visible_command
from pulsus.core.types import ArgSpec, Clarification
from pulsus.errors import ApprovalNeeded, LowConfidence, TargetRefused

EFFECTS = {
    "approve": "adds it to the catalogue as {target}",
    "edit": "opens it in your editor, then proves it again and asks again",
    "relocate": "adds it under another id, which you type",
    "discard": "adds nothing; {kept}",
}
"""The decisions on a proven module, and what each does."""

_AFTER_ROLLBACK = ("approve", "discard")
"""A rollback brings back given bytes in their place: nothing of it can be changed here."""


class Terminal:
    """Asks on stderr and reads answers from stdin. End of input means no."""

    def clarify(self, question: Clarification, understands: Callable[[str], bool]) -> str | None:
        """Return the answer to the one question. Raises LowConfidence if none is understood."""
        console.note(question.question)
        default = "0"
        for number, option in enumerate(question.options, start=1):
            label = question.labels[number - 1] if question.labels else ""
            mark = " (default)" if option == question.default else ""
            default = str(number) if mark else default
            name = option.rpartition("/")[2]
            console.note(f"  {number}. {name}{': ' if label else ''}{one_line(label)}{mark}")
        console.note(f"  0. none of these{' (default)' if default == '0' else ''}")
        for _ in range(questions.TRIES):
            said = questions.ask_line(f"number or name (Enter: {default})")
            if said is None or understands(said):
                return said
            console.note(
                f"{said!r} is not understood: it is neither a number of this list, nor a name, nor "
                "the beginning of exactly one name"
            )
            questions.drop_typed_ahead()
        raise LowConfidence(
            f"no answer to {question.question!r} was understood, so nothing was chosen",
            hint="ask again and answer with a number or a name of the list, or run a tool by its "
            "name: pulsus run TOOL",
            question=question.question,
        )

    def decide(self, proposal: Proposal) -> ApprovalAnswer:
        """Approve, edit, relocate or discard."""
        tool = proposal.tool
        console.note(f"{proposal.target.tool_id}: {visible_command(tool.summary)}")
        console.note(f"  file {visible_command(relative(proposal.report.path, Path.cwd()))}")
        for number, step in enumerate(_steps(proposal.source), start=1):
            console.note(f"  step {number}: {visible_command(step)}")
        console.note(
            f"  kind {tool.kind}, proof {proposal.report.proof}, to {proposal.target.tool_id}"
        )
        for told in proposal.notes:
            console.note(f"  {visible_command(told)}")
        if proposal.report.network:
            reached = visible_command(", ".join(proposal.report.network))
            console.note(f"  its dry run may reach {reached}")
        for warning in proposal.report.warnings:
            console.note(f"  warning: {visible_command(warning)}")
        answers = _AFTER_ROLLBACK if proposal.restores else tuple(EFFECTS)
        kept = (
            "the candidate stays in _tmp/, with your reason"
            if proposal.is_candidate
            else "your reason goes to the decision log"
        )
        for name in answers:
            effect = EFFECTS[name].format(target=proposal.target.tool_id, kept=kept)
            console.note(f"  {name:<8} {effect}")
        *most, last = answers
        letters = "/".join(name[0] for name in answers)
        asked = f"{', '.join(most)} or {last} [{letters}]"
        while True:
            choice = questions.ask_word(questions.ask_line, asked, answers)
            if choice is None:
                ended = "the input ended without a decision"
                console.note(f"{ended}, which counts as discard")
                return Discard(ended)
            if choice == questions.UNCLEAR:
                raise ApprovalNeeded(
                    f"no answer about {proposal.target.tool_id} was understood, so nothing was "
                    "decided",
                    hint=f"ask again and answer {questions.answer_letters(answers)}; nothing was "
                    "promoted or discarded",
                )
            answer = self._answer(choice, proposal)
            if answer:
                return answer

    def reuse(self, module: str, status: str, reasons: tuple[str, ...]) -> bool:
        """Ask whether to use the candidate of an earlier run again, instead of a new one."""
        console.note(f"{module} was {status}: {one_line('; '.join(reasons)) or 'no reason noted'}")
        ways = ("regenerate", "debug")
        asked = "regenerate it, or debug the module as it is [r/d] (Enter: r)"
        said = questions.ask_word(questions.ask_line, asked, ways, enter="regenerate")
        if said == questions.UNCLEAR:
            raise ApprovalNeeded(
                f"no answer about {module} was understood, so it was neither used nor made anew",
                hint="ask again and answer r or d",
            )
        return said == "debug"

    def example(self, problem: str) -> str | None:
        """An example of what a new tool must do."""
        if problem:
            console.note(one_line(problem))
        return questions.ask_line(
            'example, such as {"text": "a b"} -> {"words": 2} (Enter: no more)'
        )

    def value(self, arg: ArgSpec, proposed: str = "", tool: str = "") -> str | None:
        """Text for an argument; Enter accepts what is proposed."""
        kind = kind_of_value(arg)
        needs = f"{tool} needs {arg.name}" if tool else arg.name
        about = one_line(arg.description, 300)
        told = f"{about} ({kind})" if about and kind else about or kind
        console.note(f"{needs}{': ' if told else ''}{told}")
        offered = f" (Enter: {one_line(proposed, 200)})" if proposed else ""
        text = questions.ask_value(f"{arg.name}{offered}", arg, proposed)
        return proposed if text == "" else text

    def optional_value(self, arg: ArgSpec, proposed: str, words: str) -> str | None:
        """Text for an optional argument; Enter accepts what is proposed, a dash leaves it out."""
        about = one_line(arg.description, 300)
        console.note(
            f'"{one_line(words, 100)}" may be for {arg.name}{f": {about}" if about else ""}'
        )
        offered = f"{arg.name} (Enter: {one_line(proposed, 200)}, - leaves it out)"
        text = questions.ask_value(offered, arg, proposed)
        return {"": proposed, "-": ""}.get(text, text) if text is not None else None

    def confirm_incomplete(self, words: tuple[str, ...]) -> bool:
        """Ask whether to run although nothing follows these words of the request."""
        listed = ", ".join(f'"{one_line(word, 60)}"' for word in words)
        console.note(f"The answer would not follow {listed} of your request.")
        return questions.confirm("Run it all the same?")

    def explain_rejection(self, message: str) -> None:
        """Show why a tool rejects its inputs."""
        console.note(one_line(message, 500))

    def confirm_run(self, run: WriteRun) -> bool:
        """Ask whether to make a run that may change things; show every value that it gets."""
        self._show_run(run)
        details = partial(_show_values, run, whole=True) if has_long_values(run) else None
        return questions.confirm("Run it?", details)

    def _show_run(self, run: WriteRun, *, whole: bool = False) -> None:
        for tool in run.writers:
            console.note(f"{tool.name} may change things: {visible_command(describe_tool(tool))}")
        _show_values(run, whole=whole)
        if run.unfollowed:
            listed = ", ".join(f'"{visible_command(word)}"' for word in run.unfollowed)
            console.note(f"The run would not follow {listed} of your request.")

    def confirm_target(self, run: WriteRun) -> bool:
        """Show the run, and ask for its target in the person's own words. No pipe can answer."""
        if not sys.stdin.isatty():
            return False
        self._show_run(run, whole=True)
        console.note("The contract asks for an approver. To run it, type the target:")
        typed = " ".join((questions.ask_line(visible_command(run.target)) or "").split())
        return typed == run.target

    def confirm_unconfined(self, tool_id: str) -> bool:
        """Ask whether a tool may run with all rights of this user. No pipe can answer."""
        return sys.stdin.isatty() and questions.confirm(
            f"{tool_id} would run with all your rights, unconfined. Run it?"
        )

    def _answer(self, choice: str, proposal: Proposal) -> ApprovalAnswer | None:
        match choice:
            case "approve":
                return Approve()
            case "edit":
                return _edited(proposal.source)
            case "relocate":
                return self._relocated(proposal.target)
            case _:
                where = "with the candidate" if proposal.is_candidate else "in the decision log"
                return Discard(questions.ask_line(f"why (kept {where})") or "rejected")

    def _relocated(self, target: Target) -> ChangeTarget | None:
        said = questions.ask_line(f"domain/action/name [{target.tool_id}]") or target.tool_id
        match said.split("/"):
            case [domain, action, name]:
                try:
                    return ChangeTarget(
                        Target(None if domain == "shared" else domain, action, name)
                    )
                except TargetRefused as refused:
                    console.note(f"{refused.message}; {refused.hint}")
            case _:
                console.note("write it as domain/action/name, or shared/action/name")
        return None


def _show_values(run: WriteRun, *, whole: bool) -> None:
    """Show each value that a run gets, one a line."""
    values = list(write_run_values(run, whole=whole))
    wide = max((len(name) for name, _ in values), default=0)
    for name, text in values:
        console.note(f"  {name:<{wide}}  {text}", hanging=wide + 4)


def _steps(source: bytes) -> list[str]:
    """Return the ids of the tools that a composed module calls, in order."""
    from pulsus.core.compose.plans.module_source import read_plan  # only for a question

    plan = read_plan(source)
    return [step.tool for step in plan.steps] if plan else []


def _edited(source: bytes) -> EditModule | None:
    """Return the module as it comes back from the editor; None if nothing was changed."""
    try:
        text = click.edit(source.decode("utf-8"), extension=".py")
    except click.ClickException as failure:
        console.note(f"{one_line(failure.format_message())}; EDITOR names the editor to use")
        return None
    if text is None or text.encode("utf-8") == source:
        console.note("nothing was changed")
        return None
    return EditModule(text.encode("utf-8"))
