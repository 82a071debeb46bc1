"""How the steps of a plan hang together, for a decision without a person (ADR 9). Pure.

A plan is a guess of the planner where two steps share an input of the caller, or where a step uses
nothing of the others. The guess is wrong if the request means an earlier result ("validate it").
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pulsus.core.compose.plans.planner import DRY_RUN
from pulsus.core.types import OutputRef, ParamRef, Plan

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
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def find_unconnected_steps(plan: Plan) -> tuple[str, ...]:
    """The steps that no output ties to the first step, directly or through other steps."""
    if not plan.steps:
        return ()
    ties: dict[str, set[str]] = {step.id: set() for step in plan.steps}
    for step in plan.steps:
        for value in step.inputs.values():
            if isinstance(value, OutputRef):
                ties[step.id].add(value.step)
                ties[value.step].add(step.id)
    reached, waiting = set[str](), [plan.steps[0].id]
    while waiting:
        step_id = waiting.pop()
        if step_id not in reached:
            reached.add(step_id)
            waiting += ties[step_id]
    return tuple(step.id for step in plan.steps if step.id not in reached)


def find_shared_inputs(plan: Plan) -> tuple[str, ...]:
    """The inputs of the caller that several steps get, except `dry_run`, which means them all."""
    steps: dict[str, set[str]] = {}
    for step in plan.steps:
        for value in step.inputs.values():
            if isinstance(value, ParamRef) and value.name != DRY_RUN:
                steps.setdefault(value.name, set()).add(step.id)
    return tuple(name for name, users in steps.items() if len(users) > 1)


def find_backward_reference(clauses: Sequence[str]) -> str | None:
    """The first words of a later clause that may mean something of an earlier one, or None.

    A pronoun may. So may a noun with an article ("the json") unless an earlier clause has the noun
    with an article too: then both clauses mean the same thing of the caller. What a noun is `of`
    stands for it ("the lines of the text").
    """
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
