"""Answer one goal from facts (tool calling chapter, §32.1.2, §32.3.2). Pure.

`answer` is for goals that a person or a model wrote, `answer_call` for values of a program: nothing
is put into a text and parsed again.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from pulsus.errors import GoalInvalid, GoalRefused
from pulsus.kb.fact_base import FactBase, FactView
from pulsus.kb.facts import ClusterFact
from pulsus.kb.predicates import (
    PREDICATES,
    AnswerValue,
    Given,
    Parameter,
    ParameterType,
    Predicate,
)
from pulsus.kb.query_limits import QueryDeadline, QueryLimits
from pulsus.kb.terms import Goal, Value, Variable, parse_goal

Answer = Mapping[str, AnswerValue]


class GoalAnswers(NamedTuple):
    """The answers to one goal, each distinct one once, in a fixed order.

    `truncated` is True if there are more. `evidence` has the facts of each answer. `unknown` are
    names in the goal that no fresh fact knows as a node or a virtual machine.
    """

    goal: str
    answers: tuple[Answer, ...]
    truncated: bool
    evidence: tuple[tuple[ClusterFact, ...], ...]
    unknown: tuple[str, ...] = ()


_ACCEPTED: Final[Mapping[ParameterType, tuple[type, ...]]] = {
    "node": (str,),
    "name": (str,),
    "node_or_all": (str,),
    "vmid": (int,),
    "number": (int, float),
    "list": (),
    "text": (),
}
"""The types of values that a goal may give. A list or a text has no form in a goal."""
_DEFAULT_LIMITS = QueryLimits()


def answer(
    goal: str | Goal, facts: FactBase, now: datetime, limits: QueryLimits = _DEFAULT_LIMITS
) -> GoalAnswers:
    """Return the answers to a goal at `now`, an aware time.

    Raises GoalRefused, GoalInvalid and KnowledgeTimeout.
    """
    parsed = parse_goal(goal) if isinstance(goal, str) else goal
    predicate = find_predicate(parsed)
    view = facts.at(now, use_degraded=limits.use_degraded)
    return _collect(predicate, parsed, view, limits)


def answer_call(
    name: str,
    arguments: Sequence[Value | None],
    facts: FactBase,
    now: datetime,
    limits: QueryLimits = _DEFAULT_LIMITS,
) -> GoalAnswers:
    """Return the answers of a predicate for typed values; None stands for a variable.

    A variable has the name of its parameter. Raises as `answer`.
    """
    predicate = PREDICATES.get((name, len(arguments)))
    names = [p.name for p in predicate.parameters] if predicate else [""] * len(arguments)
    terms = tuple(
        Variable(own) if value is None else value
        for own, value in zip(names, arguments, strict=True)
    )
    return answer(Goal("", name, terms, f"{name}/{len(arguments)}"), facts, now, limits)


def find_predicate(goal: Goal) -> Predicate:
    """Return the predicate of a goal whose arguments fit it. Raises GoalRefused, GoalInvalid."""
    predicate = PREDICATES.get((goal.name, len(goal.arguments)))
    if predicate is None or (goal.module and goal.module not in predicate.modules):
        raise _not_allowed(goal)
    for parameter, argument in zip(predicate.parameters, goal.arguments, strict=True):
        if isinstance(argument, Variable):
            if parameter.required:
                raise GoalInvalid(
                    f"{goal.indicator} needs a value for {parameter.name}, not a variable",
                    hint=f"name a node in {predicate.signature}",
                )
        elif not isinstance(argument, _ACCEPTED[parameter.type]):
            raise GoalInvalid(
                f"{argument!a} is no value for {parameter.name} of {goal.indicator}",
                hint=_fix(parameter),
            )
    return predicate


def _collect(predicate: Predicate, goal: Goal, view: FactView, limits: QueryLimits) -> GoalAnswers:
    deadline = QueryDeadline(limits)
    terms = _Terms(goal)
    found: dict[tuple[AnswerValue, ...], Answer] = {}
    evidence: list[tuple[ClusterFact, ...]] = []
    truncated = False
    for row, facts in predicate.solve(view, terms.given, deadline):
        deadline.check()
        if not terms.fit(row):
            continue
        bindings = {name: row[at] for name, at in terms.shown.items()}
        values = tuple(bindings.values())
        if values in found:
            continue
        if len(found) == limits.max_answers:
            truncated = True
            break
        found[values] = bindings
        evidence.append(facts)
        if not values:
            break  # the goal holds, and no other row can say more
    unknown = () if found else _unknown_names(predicate, goal, view)
    return GoalAnswers(goal.text, tuple(found.values()), truncated, tuple(evidence), unknown)


class _Terms:
    """The arguments of a goal, sorted by what they ask of a row.

    `given` has the value of each argument, and None for a variable. `shown` are the variables of
    the answers with the place of their value in a row.
    """

    __slots__ = ("_equal", "_fixed", "given", "shown")

    def __init__(self, goal: Goal) -> None:
        given: list[Given] = [None] * len(goal.arguments)
        self._fixed: list[tuple[int, Value]] = []
        self._equal: list[tuple[int, int]] = []
        self.shown: dict[str, int] = {}
        hidden: dict[str, int] = {}
        for at, argument in enumerate(goal.arguments):
            if not isinstance(argument, Variable):
                given[at] = argument
                self._fixed.append((at, argument))
            elif argument.name != "_":
                names = self.shown if argument.shown else hidden
                first = names.setdefault(argument.name, at)
                if first != at:
                    self._equal.append((first, at))
        self.given = tuple(given)

    def fit(self, row: tuple[AnswerValue, ...]) -> bool:
        """Return True if the row has the values of the goal, and equal ones for one variable."""
        for at, value in self._fixed:
            if row[at] != value:
                return False
        return all(row[one] == row[other] for one, other in self._equal) if self._equal else True


def _unknown_names(predicate: Predicate, goal: Goal, view: FactView) -> tuple[str, ...]:
    unknown = []
    for parameter, argument in zip(predicate.parameters, goal.arguments, strict=True):
        if isinstance(argument, Variable):
            continue
        if parameter.type == "vmid":
            missing = view.vm(int(argument)) is None
        elif parameter.type == "node" or (parameter.type == "node_or_all" and argument != "all"):
            missing = view.node(str(argument)) is None
        else:
            missing = False
        if missing:
            unknown.append(str(argument))
    return tuple(unknown)


def _fix(parameter: Parameter) -> str:
    match parameter.type:
        case "vmid":
            return "a VMID is a whole number, such as 101"
        case "number":
            return "write a number, or a variable with a capital letter"
        case "list" | "text":
            return f"write a variable there, such as {parameter.name}"
        case _:
            return "write a name; put one of digits or with a capital letter in quotes: '101'"


def _not_allowed(goal: Goal) -> GoalRefused:
    allowed = [f"{name}/{arity}" for name, arity in PREDICATES]
    near = difflib.get_close_matches(goal.name, [name for name, _ in PREDICATES], 1, 0.75)
    same = next((p for (name, _), p in PREDICATES.items() if name in (goal.name, *near)), None)
    if same is not None:
        modules = "".join(f", also as {each}:{same.name}" for each in same.modules)
        hint = f"the predicate is {same.signature}{modules}"
    else:
        hint = f"the predicates are {', '.join(allowed)}"
    return GoalRefused(
        f"{goal.indicator} is no predicate of the knowledge base",
        hint=hint,
        allowed=allowed,
    )
