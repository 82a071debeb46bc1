"""Check how the steps of a plan are connected, before a decision without a person (ADR 9). Pure.

`approvals/unattended.py` refuses the automatic approval of such a plan.

If two steps share an input of the caller, or if a step uses no output of the others, the plan is a
guess. The guess is wrong if the request means an earlier result ("validate it").
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.core.compose.plans.build_plan import DRY_RUN
from pulsus.core.types import OutputRef, ParamRef, Plan
from pulsus.late_pattern import late_pattern

_PRONOUNS = frozenset(
    {
        *("it", "its", "itself", "them", "they", "their", "theirs", "themselves"),
        *("this", "that", "these", "those", "such", "same", "both", "former", "latter"),
        *("one", "ones", "each", "either", "all", "everything", "whichever", "thereof", "therein"),
        *("above", "previous", "preceding", "prior", "resulting", "said", "aforementioned"),
        *("result", "results", "output", "outputs", "outcome", "outcomes", "answer", "answers"),
    }
)
"""Words that mean an earlier thing without naming it."""

_ARTICLES = frozenset({"the", "that", "this", "these", "those", "its", "their", "said"})
_WORD = late_pattern(r"[^\W_]+(?:'[^\W_]+)?")


def find_unconnected_steps(plan: Plan) -> tuple[str, ...]:
    """Return the steps that no output connects to the first step, directly or indirectly."""
    if not plan.steps:
        return ()
    ties: dict[str, set[str]] = {step.id: set() for step in plan.steps}
    for step in plan.steps:
        for value in step.inputs.values():
            if isinstance(value, OutputRef):
                ties[step.id].add(value.step)
                ties[value.step].add(step.id)
    # Links count in both directions: the first step may feed a step that another one feeds too.
    reached, waiting = set[str](), [plan.steps[0].id]
    while waiting:
        step_id = waiting.pop()
        if step_id not in reached:
            reached.add(step_id)
            waiting += ties[step_id]
    return tuple(step.id for step in plan.steps if step.id not in reached)


def find_shared_inputs(plan: Plan) -> tuple[str, ...]:
    """Return the inputs of the caller that several steps get.

    `dry_run` is left out, because it is meant for every step.
    """
    steps: dict[str, set[str]] = {}
    for step in plan.steps:
        for value in step.inputs.values():
            if isinstance(value, ParamRef) and value.name != DRY_RUN:
                steps.setdefault(value.name, set()).add(step.id)
    return tuple(name for name, users in steps.items() if len(users) > 1)


def find_pronoun(clauses: Sequence[str]) -> str | None:
    """Return the first word of a later clause that means an earlier thing without naming it."""
    said = (word.casefold() for clause in clauses[1:] for word in _WORD.findall(clause))
    return next((word for word in said if word in _PRONOUNS), None)


def find_backward_reference(clauses: Sequence[str]) -> str | None:
    """Return the first words of a later clause that may mean an earlier result, or None.

    A pronoun may. A noun with an article may too ("the json"), unless an earlier clause has the
    same noun with an article: then both mean the same input of the caller. A noun before "of" does
    not count, because the noun after it decides ("the lines of the text").
    """
    # Nouns with an article in the clauses so far: they name inputs of the caller.
    named: set[str] = set()
    for number, clause in enumerate(clauses):
        words: list[str] = [word.casefold() for word in _WORD.findall(clause)]
        pairs = {
            noun
            for article, noun, after in zip(words, words[1:], [*words[2:], ""], strict=False)
            if article in _ARTICLES and after != "of"
        }
        if number:
            found: str | None = next((word for word in words if word in _PRONOUNS), None)
            if found:
                return found
            new = next((noun for noun in sorted(pairs) if noun not in named), None)
            if new:
                return f"the {new}"
        named |= pairs
    return None
