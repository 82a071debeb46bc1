"""Answer one goal from facts (tool calling chapter, §32.1.2, §32.3.2). Pure.

`answer` is for goals that a person or a model wrote, `answer_call` for values of a program: nothing
is put into a text and parsed again.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from datetime import datetime

from pulsus.errors import GoalInvalid, GoalRefused
from pulsus.fast_dataclass import dataclass
from pulsus.kb.fact_base import FactBase, FactView
from pulsus.kb.facts import ClusterFact
from pulsus.kb.predicates import PREDICATES, AnswerValue, Given, Parameter, Predicate
from pulsus.kb.query_limits import QueryDeadline, QueryLimits
from pulsus.kb.terms import Goal, Value, Variable, parse_goal

Answer = Mapping[str, AnswerValue]


@dataclass(frozen=True, slots=True)
class GoalAnswers:
    """The answers to one goal, each distinct one once, in a fixed order.

    `truncated` is True if there are more. `evidence` has the facts of each answer. `unknown` are
    names in the goal that no fresh fact knows as a node or a virtual machine.
    """

    goal: str
    answers: tuple[Answer, ...]
    truncated: bool
    evidence: tuple[tuple[ClusterFact, ...], ...]
    unknown: tuple[str, ...] = ()


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
        elif not _fits(parameter, argument):
            raise GoalInvalid(
                f"{argument!a} is no value for {parameter.name} of {goal.indicator}",
                hint=_fix(parameter),
            )
    return predicate


def _collect(predicate: Predicate, goal: Goal, view: FactView, limits: QueryLimits) -> GoalAnswers:
    """Return the answers. Lists in place of generators: most goals have one answer, in 30 µs."""
    deadline = QueryDeadline(limits)
    arguments = goal.arguments
    given: list[Given] = [None if isinstance(a, Variable) else a for a in arguments]
    names = [a.name if isinstance(a, Variable) else None for a in arguments]
    shown = list({name: None for name in names if name is not None and name[0] != "_"})
    found: dict[tuple[AnswerValue, ...], Answer] = {}
    evidence: list[tuple[ClusterFact, ...]] = []
    truncated = False
    for row, facts in predicate.solve(view, tuple(given), deadline):
        deadline.check()
        bound = _unify(given, names, row)
        if bound is None:
            continue
        values = tuple([bound[name] for name in shown])
        if values in found:
            continue
        if len(found) == limits.max_answers:
            truncated = True
            break
        found[values] = {name: bound[name] for name in shown}
        evidence.append(facts)
        if not shown:
            break  # it holds, and no other row can say more
    unknown = () if found else _unknown_names(predicate, goal, view)
    return GoalAnswers(goal.text, tuple(found.values()), truncated, tuple(evidence), unknown)


def _unify(
    given: list[Given], names: list[str | None], row: tuple[AnswerValue, ...]
) -> dict[str, AnswerValue] | None:
    """Return the values of the variables, or None if the row does not fit the goal."""
    bound: dict[str, AnswerValue] = {}
    for value, name, own in zip(row, names, given, strict=True):
        if name is None:
            if own != value:
                return None
        elif name != "_" and bound.setdefault(name, value) != value:
            return None
    return bound


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


def _fits(parameter: Parameter, argument: Value) -> bool:
    match parameter.type:
        case "node" | "name" | "node_or_all":
            return isinstance(argument, str)
        case "vmid":
            return isinstance(argument, int)
        case "number":
            return isinstance(argument, int | float)
        case _:  # a list or a text has no form in a goal
            return False


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
