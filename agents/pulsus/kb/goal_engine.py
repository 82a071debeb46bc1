"""Answer one goal (query) from facts (tool calling chapter, §32.1.2, §32.3.2). Pure.

`cli/kb/fact_rows.py` writes the answers as text, `agent/tools/cluster/query_wam.py` gives them to a
model. `answer` is for goals that a person or a model wrote, `answer_call` for values of a program:
nothing is put into a text and parsed again. A predicate that is not in the allow-list
(`predicates.py`) is refused, with the nearest name. More answers than the limit (`query_limits.py`)
are cut off. The order of the answers is that of the predicate's rows (`predicates.py`).
"""

from __future__ import annotations

import difflib
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from pulsus.errors import GoalInvalid, GoalRefused
from pulsus.kb.fact_base import FactBase, FactView
from pulsus.kb.facts import ClusterFact
from pulsus.kb.predicates import (
    PREDICATES,
    AnswerValue,
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
    shape = _find_shape(parsed)
    view = facts.at(now, use_degraded=limits.use_degraded)
    return _collect(shape, parsed, view, limits)


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
    return _find_shape(goal).predicate


class _GoalShape(NamedTuple):
    """A way from rows of a predicate to answers, for all goals that differ in their values alone.

    `shown` are the variables of the answers, each with the place of its value in a row. `fixed`
    picks from a row the values that the goal gives; it is None without any. At both places of
    each pair in `equal` a row has the same value.
    """

    predicate: Predicate
    shown: tuple[tuple[str, int], ...]
    fixed: Callable[[Sequence[AnswerValue | None]], object] | None
    equal: tuple[tuple[int, int], ...]


def _find_shape(goal: Goal) -> _GoalShape:
    """Return the shape of a goal whose arguments fit. Raises GoalRefused, GoalInvalid."""
    terms = tuple([each if type(each) is Variable else type(each) for each in goal.arguments])
    shape = _known_shape(goal.module, goal.name, terms)
    if shape is None:
        raise _misfit(goal)
    return shape


@functools.lru_cache(maxsize=512)
def _known_shape(module: str, name: str, terms: tuple[Variable | type, ...]) -> _GoalShape | None:
    """Return the shape, or None if the goal does not fit; its error needs the values.

    The few shapes of a program's goals are kept, because reading one takes a fifth of a question.
    """
    predicate = PREDICATES.get((name, len(terms)))
    if predicate is None or (module and module not in predicate.modules):
        return None
    fixed: list[int] = []
    equal: list[tuple[int, int]] = []
    shown: dict[str, int] = {}
    hidden: dict[str, int] = {}
    for at, (parameter, term) in enumerate(zip(predicate.parameters, terms, strict=True)):
        if not isinstance(term, Variable):
            if not issubclass(term, _ACCEPTED[parameter.type]):
                return None
            fixed.append(at)
        elif parameter.required:
            return None
        elif term.name != "_":
            first = (shown if term.shown else hidden).setdefault(term.name, at)
            if first != at:
                equal.append((first, at))
    pick = operator.itemgetter(*fixed) if fixed else None
    return _GoalShape(predicate, tuple(shown.items()), pick, tuple(equal))


def _collect(shape: _GoalShape, goal: Goal, view: FactView, limits: QueryLimits) -> GoalAnswers:
    deadline = QueryDeadline(limits)
    predicate, shown, fixed, equal = shape
    given = tuple([None if isinstance(term, Variable) else term for term in goal.arguments])
    wanted = fixed(given) if fixed else None
    found: dict[tuple[AnswerValue, ...], Answer] = {}
    evidence: list[tuple[ClusterFact, ...]] = []
    truncated = False
    for row, facts in predicate.solve(view, given, deadline):
        deadline.check()
        if fixed and fixed(row) != wanted:
            continue
        if equal and any(row[one] != row[other] for one, other in equal):
            continue
        bindings = {name: row[at] for name, at in shown}
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


def _misfit(goal: Goal) -> GoalRefused | GoalInvalid:
    """Return the error for a goal that has no shape."""
    predicate = PREDICATES.get((goal.name, len(goal.arguments)))
    if predicate is None or (goal.module and goal.module not in predicate.modules):
        return _not_allowed(goal)
    for parameter, argument in zip(predicate.parameters, goal.arguments, strict=True):
        if isinstance(argument, Variable):
            if parameter.required:
                break
        elif not isinstance(argument, _ACCEPTED[parameter.type]):
            return GoalInvalid(
                f"{argument!a} is no value for {parameter.name} of {goal.indicator}",
                hint=_fix(parameter),
            )
    return GoalInvalid(
        f"{goal.indicator} needs a value for {parameter.name}, not a variable",
        hint=f"name a node in {predicate.signature}",
    )


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
