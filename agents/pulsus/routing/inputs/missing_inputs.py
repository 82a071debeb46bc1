"""Ask a person for missing and unclear inputs, once each, or say which they are.

`routing/inputs/route_inputs.py` decides that a required input is missing; here it is asked for, or
refused without a person (INPUT_MISSING). Types are checked in `execution/parse_inputs.py`. An
unclear value, and a plan that writes but follows not all words, are refused here (`INPUT_UNCLEAR`).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pulsus.approvals.approver_protocol import Approver
from pulsus.approvals.run_consent import input_options
from pulsus.core.types import ArgSpec, InputValue, JsonValue, ParamRef, RouteOutcome
from pulsus.core.validators.effects.observed_against_declared import DRY_RUN
from pulsus.errors import InputMissing, InputUnclear
from pulsus.execution.parse_inputs import parse_inputs
from pulsus.routing.inputs.missing_words import (
    IncompleteCall,
    describe_inputs,
    describe_missing,
    first_line,
    input_text,
    proposed_options,
    steps_of_inputs,
    types_of,
)
from pulsus.routing.inputs.plan_steps import decision_arguments


def collect_inputs(outcome: RouteOutcome, person: Approver | None) -> RouteOutcome:
    """Return the outcome with an answer for every missing and every unclear input.

    A proposal is the default answer. Raises InputMissing and InputUnclear, which offer what the
    request proposes, if no person can be asked or one gives no answer, and UsageError for an answer
    that does not fit. A person is first asked whether to run at all if words of the request that
    change the answer are not followed. Before a write the confirmation of the run shows all this
    at once, so proposals are taken as they are, and only values that nothing proposes are asked
    for.
    """
    outcome = take_proposals(outcome, person)
    if not asks_once_before_a_write(outcome, person):
        confirm_unfollowed_words(outcome, person)
    if not outcome.missing and not any(one.unclear for one in outcome.proposed.values()):
        return outcome
    proposed = {name: value.value for name, value in outcome.proposed.items()}
    answers = {}
    if outcome.missing:
        users = users_of_inputs(outcome)
        try:
            answers = ask_for_inputs(
                outcome.missing, proposed, person, users, _call_so_far(outcome)
            )
        except InputMissing as error:
            # The JSON of an error has no outcome; its notes name the columns to choose from.
            error.details["notes"] = list(outcome.notes)
            raise
    answers |= ask_about_unclear_values(outcome, person)
    given = {name: InputValue(value, "answer") for name, value in answers.items()}
    left = {name: value for name, value in outcome.proposed.items() if name not in given}
    # Answers come first, and go before a default of the same name.
    inputs = {**given, **outcome.inputs, **given}
    return replace(outcome, inputs=inputs, missing=(), proposed=left)


def asks_once_before_a_write(outcome: RouteOutcome, person: Approver | None) -> bool:
    """Return True if a person confirms the run anyway, because a tool of it writes.

    A dry run is not confirmed, so its inputs are asked for one by one.
    """
    known = (outcome.inputs.get(DRY_RUN), outcome.proposed.get(DRY_RUN))
    dry = any(value is not None and value.value is not False for value in known)
    return (
        person is not None and not dry and any(t.kind == "write" for t in outcome.decision.selected)
    )


def take_proposals(outcome: RouteOutcome, person: Approver | None) -> RouteOutcome:
    """Return the outcome with a value for each input that a run would ask about, if one is known.

    Only the outcome of a write that the person confirms changes. All proposals of optional inputs
    of the tool are taken too, because the confirmation shows them. Values keep the source
    `request`, with their words.
    """
    if not asks_once_before_a_write(outcome, person):
        return outcome
    needed = {arg.name for arg in outcome.missing}
    taken = {
        name: replace(value, unclear=False)
        for name, value in outcome.proposed.items()
        if value.unclear or name in needed
    }
    return replace(
        outcome,
        inputs={**taken, **outcome.inputs, **taken},
        missing=tuple(arg for arg in outcome.missing if arg.name not in taken),
        proposed={n: value for n, value in outcome.proposed.items() if n not in taken},
    )


def unfollowed_words(outcome: RouteOutcome) -> tuple[str, ...]:
    """Return words of the request that the answer does not follow, as a person is asked about them.

    These are the words left out, and the unused values if no input takes one. For a write they are
    all unused values: a file that is named and not used may be the one that has to stay.
    """
    if any(tool.kind == "write" for tool in outcome.decision.selected):
        return tuple(dict.fromkeys((*outcome.left_out, *outcome.unused)))
    takes = [value.source in ("request", "option", "answer") for value in outcome.inputs.values()]
    open_values = outcome.missing or outcome.proposed or any(takes)
    return outcome.left_out or (() if open_values else outcome.unused)


def confirm_unfollowed_words(outcome: RouteOutcome, person: Approver | None) -> None:
    """Ask a person before a run whose answer does not follow what the request restricts it to.

    Raises InputUnclear if the person does not want the run. Without a person the notes say the
    same.
    """
    words = unfollowed_words(outcome)
    if not words or person is None or person.confirm_incomplete(words):
        return
    listed = ", ".join(map(repr, words))
    raise InputUnclear(
        f"not run: nothing in the answer would follow {listed} of the request",
        hint="if you named several values, ask once for each; or give a value with --input "
        "NAME=VALUE, or add a step that keeps the rows you want",
        unclear=[{"words": word} for word in words],
    )


def ask_about_unclear_values(
    outcome: RouteOutcome, person: Approver | None
) -> dict[str, JsonValue]:
    """Return the values of optional inputs that a person confirms or corrects.

    Raises InputUnclear if no person can be asked or one gives no answer, because an answer without
    the value may be the answer to another request.
    """
    args = [arg for arg in _open_arguments(outcome) if _is_unclear(outcome, arg)]
    if args and person is None:
        raise _input_unclear(args, outcome)
    pairs = []
    for place, arg in enumerate(args):
        value = outcome.proposed[arg.name]
        text = person.optional_value(arg, input_text(value.value), value.text) if person else None
        if text is None:
            raise _input_unclear(args[place:], outcome)
        pairs += [f"{arg.name}={text}"] if text else []
    return parse_inputs(pairs, args)


def settle_writes(outcome: RouteOutcome, person: Approver | None) -> RouteOutcome:
    """Return the outcome of a plan that writes with an answer for each unclear value.

    A reviewer sees the plan and not the terminal of its author. So a plan that writes is only made
    once nothing of its request is unclear; for one that only reads its notes suffice. Raises
    InputUnclear for words that nothing in the plan follows, and for an unclear value if no person
    answers.
    """
    if not any(tool.kind == "write" for tool in outcome.decision.selected):
        return outcome
    words = unfollowed_words(outcome)
    if words:
        listed = ", ".join(map(repr, words))
        raise InputUnclear(
            f"no plan is made: it would write, and nothing in it would follow {listed}",
            hint="leave these words out of the request; --input NAME=VALUE gives a value that they "
            "mean",
            unclear=[{"words": word} for word in words],
        )
    answers = ask_about_unclear_values(outcome, person)
    given = {name: InputValue(value, "answer") for name, value in answers.items()}
    left = {name: value for name, value in outcome.proposed.items() if name not in given}
    return replace(outcome, inputs={**outcome.inputs, **given}, proposed=left)


def _open_arguments(outcome: RouteOutcome) -> tuple[ArgSpec, ...]:
    """Return the arguments that can get a value.

    A plan of one tool has no parameter yet for an optional input without a sure value.
    """
    decision = outcome.decision
    if decision.plan and len(decision.plan.steps) == len(decision.selected) == 1:
        return decision.selected[0].args
    return decision_arguments(decision)


def _is_unclear(outcome: RouteOutcome, arg: ArgSpec) -> bool:
    return arg.name in outcome.proposed and outcome.proposed[arg.name].unclear


def _input_unclear(args: Sequence[ArgSpec], outcome: RouteOutcome) -> InputUnclear:
    """Return the error that names the words, the input they may be for, and both ways on."""
    told = []
    for arg in args:
        said = first_line(arg).rstrip(".")
        words = outcome.proposed[arg.name].text
        told.append(f"{words!r} may be the value of {arg.name}{f': {said}' if said else ''}")
    values = {arg.name: outcome.proposed[arg.name].value for arg in args}
    use = proposed_options(types_of(args), values)
    defaults = {arg.name: outcome.inputs.get(arg.name) for arg in args}
    leave = " ".join(
        f"--input {shlex.quote(f'{name}:={json.dumps(known.value if known else None)}')}"
        for name, known in defaults.items()
    )
    error = InputUnclear(
        f"the request does not say for certain: {'; '.join(told)}",
        unclear=[{"name": n, "value": v} for n, v in values.items()],
    )
    error.offer(f"add {use} to use it", f"add {leave} to run without it")
    return error


def ask_for_inputs(
    missing: Sequence[ArgSpec],
    proposed: Mapping[str, JsonValue],
    person: Approver | None,
    users: Mapping[str, str],
    call: IncompleteCall,
) -> dict[str, JsonValue]:
    """Return a value for each argument, as the person typed it. Raises InputMissing, UsageError.

    `users` names the tool that needs each argument. `call` is the command that lacks them.
    """
    if person is None:
        raise input_missing(missing, proposed, users, call)
    pairs: list[str] = []
    for place, arg in enumerate(missing):
        offered = input_text(proposed[arg.name]) if arg.name in proposed else ""
        text = person.value(arg, offered, users.get(arg.name, ""))
        if not text:
            typed = replace(call, given=(*call.given, *pairs))
            raise input_missing(missing[place:], proposed, users, typed)
        pairs.append(f"{arg.name}={text}")
    return parse_inputs(pairs, missing)


def users_of_inputs(outcome: RouteOutcome) -> dict[str, str]:
    """Return the name of the tool that needs each missing input: of the first step that gets it."""
    plan, selected = outcome.decision.plan, outcome.decision.selected
    if plan is None:
        return {arg.name: selected[0].name for arg in outcome.missing}
    users: dict[str, str] = {}
    for step in plan.steps:
        for value in step.inputs.values():
            if isinstance(value, ParamRef):
                users.setdefault(value.name, step.tool.rpartition("/")[2])
    return users


def is_required(arg: ArgSpec) -> bool:
    """Return True for an argument that a call has to give."""
    return arg.required and not arg.kind.startswith("var_")


def _call_so_far(outcome: RouteOutcome) -> IncompleteCall:
    """Return the command that routes the same request, with the inputs that are known."""
    known = {
        name: value.value
        for name, value in outcome.inputs.items()
        if value.source in ("option", "request", "answer")
    }
    words = ("pulsus", "route", outcome.intent.intent, "--run")
    steps = steps_of_inputs(outcome.decision.plan)
    return IncompleteCall(words, tuple(input_options(known)), steps)


def input_missing(
    missing: Sequence[ArgSpec],
    proposed: Mapping[str, JsonValue],
    users: Mapping[str, str],
    call: IncompleteCall,
) -> InputMissing:
    """Return the error that names each missing input, its type, its meaning and the fix.

    If other inputs are known, the hint also has the whole command, ready to be pasted.
    """
    told = [describe_missing(arg, proposed, call.steps) for arg in missing]
    named = "; ".join([*(text.rstrip(".") for text in told[:-1]), told[-1]])
    tools = " and ".join(dict.fromkeys(users[a.name] for a in missing if a.name in users))
    needs = f"{tools or 'the tool'} need{'' if ' and ' in tools else 's'}"
    options = proposed_options(types_of(missing), proposed)
    error = InputMissing(
        f"{needs} {'a value' if len(missing) == 1 else 'values'}: {named}",
        missing=describe_inputs(missing),
    )
    shows_whole = call.given or call.whole
    whole = [f"the whole command: {call.completed(options)}"] if shows_whole else []
    error.offer(f"add {options}", *whole)
    return error
