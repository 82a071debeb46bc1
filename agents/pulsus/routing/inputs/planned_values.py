"""Ask about, or note, the parts of a request that its plan does not take (contracts, "Plans").

A reviewer sees the plan and not the terminal of its author. So the notes of the plan have to say
this, and a plan that writes is only made once nothing of its request is unclear. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pulsus.approvals.approver_protocol import Approver
from pulsus.core.compose.saved_plans.saved_plan import untaken_note
from pulsus.core.types import InputValue, RouteOutcome
from pulsus.errors import InputUnclear
from pulsus.routing.inputs.missing_inputs import (
    ask_about_unclear_values,
    input_text,
    unfollowed_words,
)


def settle_writes(outcome: RouteOutcome, person: Approver | None) -> RouteOutcome:
    """Return the outcome of a plan that writes with an answer for each unclear value.

    A plan that only reads is returned as it is: its notes suffice. Raises InputUnclear for words
    that nothing in the plan follows, and for an unclear value if no person answers.
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


def untaken_notes(outcome: RouteOutcome) -> Iterator[str]:
    """Yield a note for each value that the request proposes or names and the plan does not take.

    The notes of the outcome name the words that are left out.
    """
    for name, value in outcome.proposed.items():
        said = f"{input_text(value.value)} (from {value.text!r})"
        yield (f"{untaken_note(name)}{said}, which the request proposes; --input {name}=… gives it")
    if outcome.unused:
        yield f"not used: {', '.join(map(repr, outcome.unused))} of the request"
