"""Goals and facts of the knowledge base: what parses is one allowed predicate with plain arguments,
and it has the same answers again. A facts document gives facts or a documented error.

The first byte says what the rest is: an even one a goal, an odd one a facts file.
"""

import re
from datetime import timedelta

from pulsus.errors import FactsInvalid, GoalInvalid, GoalRefused
from pulsus.kb import fact_files
from pulsus.kb.fact_base import FactBase
from pulsus.kb.facts import KnownNode
from pulsus.kb.facts_document import parse_document, require_known_nodes
from pulsus.kb.goal_engine import answer, find_predicate
from pulsus.kb.predicates import PREDICATES
from pulsus.kb.query_limits import QueryLimits
from pulsus.kb.terms import MOST_GOAL_CHARS, MOST_NAME_CHARS, Variable, parse_goal, render_value
from tests.fuzz import attempt, harmless
from tests.knowledge import DEFAULTS, NOW, SQUARE, base_of

WORDS = (
    *(b"node_health(", b"live_link(", b"can_reach(", b"live_state:", b"rag_context:"),
    *(b"gather_rag_context(all,C)", b"live_shortest_path(", b"assertz(", b"shell(", b":-", b"."),
    *(b"pve1", b"Status", b"_", b"'pve-1'", b"''", b"\\", b"%", b"/*", b"*/", b"0'a", b"\xd0\xb0"),
    *(b'"nodes"', b'"links"', b'"vms"', b'"alerts"', b'"metrics"', b'"name"', b'"health"'),
    *(b'"observed_at"', b'"ttl_seconds"', b'"cost"', b'"vmid"', b"1e999", b"NaN", b"null"),
)
BASE = base_of(SQUARE)
LIMITS = QueryLimits(max_answers=20, seconds=60.0)
_PLAIN = re.compile(r"[A-Za-z0-9_.:-]+", re.ASCII)


def fuzz_one(data):
    text = data[1:].decode("utf-8", "replace")
    if data[:1] and data[0] % 2:
        _read_facts(text)
    else:
        _ask(text)


def _ask(text):
    goal, failure = attempt((GoalInvalid, GoalRefused), parse_goal, text)
    if failure:
        assert failure.hint
        assert harmless(failure.message)
        return
    assert len(text) <= MOST_GOAL_CHARS
    for argument in goal.arguments:
        shown = argument.name if isinstance(argument, Variable) else str(argument)
        assert _PLAIN.fullmatch(shown)
        assert len(shown) <= MOST_NAME_CHARS
    written = ",".join(
        a.name if isinstance(a, Variable) else render_value(a) for a in goal.arguments
    )
    module = f"{goal.module}:" if goal.module else ""
    again = parse_goal(f"{module}{goal.name}({written})")
    assert (again.name, again.arguments, again.module) == (goal.name, goal.arguments, goal.module)
    predicate, failure = attempt((GoalInvalid, GoalRefused), find_predicate, goal)
    if failure:
        assert failure.hint
        return
    assert predicate is PREDICATES[goal.name, len(goal.arguments)]
    found = answer(text, BASE, NOW, LIMITS)
    assert found == answer(text, BASE, NOW, LIMITS)
    variables = {a.name for a in goal.arguments if isinstance(a, Variable) and a.shown}
    assert all({*each} == variables for each in found.answers)


def _read_facts(text):
    facts, failure = attempt(
        FactsInvalid,
        lambda: parse_document(fact_files._parse(text, "facts"), "facts", DEFAULTS),
    )
    if failure:
        assert failure.hint
        assert harmless(failure.message)
        return
    known = frozenset(fact.name for fact in facts if isinstance(fact, KnownNode))
    _, failure = attempt(FactsInvalid, require_known_nodes, facts, known)
    if failure:
        assert failure.details["place"]
        return
    base = FactBase(facts)
    assert {id(fact) for fact in base.all_facts()} == {id(fact) for fact in facts}
    for now in (NOW, NOW + timedelta(days=400)):
        for goal in ("can_reach(A,B)", "gather_rag_context(all,C)", "live_shortest_path(A,B,P)"):
            answer(goal, base, now, LIMITS)
