"""No string that parses is anything but one allowed predicate, and answers fit each other."""

import itertools
import re
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.errors import GoalInvalid, GoalRefused
from pulsus.kb.goal_engine import answer
from pulsus.kb.predicates import PREDICATES
from pulsus.kb.query_limits import QueryDeadline, QueryLimits
from pulsus.kb.terms import parse_goal, render_value
from tests.fuzz import attempt
from tests.knowledge import NOW, SQUARE, ago, base_of

BASE = base_of(SQUARE)
NAMES = st.sampled_from([name for name, _ in PREDICATES] + ["assertz", "shell", "call", "halt"])
MODULES = st.sampled_from(["", "", "live_state:", "rag_context:", "user:", "system : "])
PIECES = st.sampled_from(
    [
        *("pve1", "pve4", "Status", "X", "_", "'pve-1'", "101", "2.5", "all", "nominal"),
        *("'a''b'", "f(x)", "[a]", "a-b", "\\", "p\u0430ve", "\u200b", "%", "/**/", "", " ", "\n"),
        *("a,b", ")", "(", "),halt(", ".", ":-", ";", "->", "|", "0'a", '"x"', "`x`", "{}", "!"),
    ]
)
GOALS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="node_halth(pv1,S):' ._X;-", max_size=40),
    st.builds(
        "{}{}({}){}".format,
        MODULES,
        NAMES,
        st.lists(PIECES, max_size=4).map(",".join),
        st.sampled_from(["", "", "", ".", ", halt", " ", "\n", ";x", ")", " % c"]),
    ),
)
# An independent description of one goal: a name, a bracket, and words without any sign.
PLAIN_GOAL = re.compile(
    r" *(?:[a-z]\w*(?: *: *))?(?P<name>[a-z]\w*)"
    r"\((?P<arguments>[^()\[\]{}|\\\"`!;%@#$&*+<=>?^~]*)\) *",
    re.ASCII,
)


@settings(max_examples=300)
@given(GOALS)
def test_what_is_answered_is_exactly_one_allowed_predicate(text):
    try:
        answer(text, BASE, NOW)
    except (GoalInvalid, GoalRefused):
        return
    matched = PLAIN_GOAL.fullmatch(text)
    assert matched, text
    assert text.isascii()
    assert (matched["name"], matched["arguments"].count(",") + 1) in PREDICATES
    assert text.count("(") == text.count(")") == 1


GROUND = [
    ("node_health", 2, ["N", "S"]),
    ("live_link", 3, ["A", "B", "C"]),
    ("can_reach", 2, ["A", "B"]),
    ("live_shortest_path", 3, ["A", "B", "P"]),
    ("active_alerts", 2, ["N", "L"]),
    ("node_metric", 3, ["N", "M", "V"]),
]


@st.composite
def clusters(draw):
    """A document of up to 7 nodes, with facts of any age."""
    count = draw(st.integers(2, 7))
    names = [f"n{n}" for n in range(count)]
    age = st.sampled_from([None, 10, 400])
    rows = []
    for name in names:
        health = draw(st.sampled_from(["nominal", "nominal", "nominal", "degraded", "critical"]))
        seconds = draw(age)
        rows.append(
            {"name": name, "health": health}
            | ({} if seconds is None else {"observed_at": ago(seconds)})
        )
    pairs = list(itertools.permutations(names, 2))
    links: dict[tuple, dict] = {}
    for a, b in draw(st.lists(st.sampled_from(pairs), max_size=12)):
        directed = draw(st.booleans())
        key = (a, b) if directed else tuple(sorted((a, b)))
        cost = draw(st.sampled_from([1, 1, 2, 0.1, 0.2, 0.3]))
        links[(*key, directed)] = {"a": a, "b": b, "cost": cost, "directed": directed}
    return {"nodes": rows, "links": [*links.values()]}


def cheapest_by_trying(topology, start, end):
    """Return the best simple path by cost in millionths and names, from all of them."""
    best = None
    waiting: list[tuple[int, tuple]] = [(0, (start,))] if start in topology.onward else []
    while waiting:
        cost, path = waiting.pop()
        if path[-1] == end and (best is None or (cost, path) < best):
            best = (cost, path)
        for name, link in topology.onward[path[-1]].items():
            if name not in path:
                waiting.append((cost + link.weight, (*path, name)))
    return best and best[1]


@settings(max_examples=150)
@given(clusters())
def test_paths_are_the_cheapest_ones_with_ties_by_name(document):
    base = base_of(document)
    topology = base.at(NOW).topology()
    deadline = QueryDeadline(QueryLimits())
    names = [row["name"] for row in document["nodes"]]
    for start, end in itertools.product(names, names):
        best = cheapest_by_trying(topology, start, end)
        assert topology.cheapest_path(start, end, deadline) == best
        ways = topology.cheapest_ways(start, deadline)
        assert (ways.path_to(end) if end in ways.ends() else None) == best
        way = topology.find_way(start, end, deadline)
        assert (way is None) == (best is None)
        if way:
            assert (way[0], way[-1]) == (start, end)
            assert all(b in topology.onward[a] for a, b in itertools.pairwise(way))


@settings(max_examples=60)
@given(clusters(), st.sampled_from(GROUND))
def test_a_goal_with_a_variable_has_the_answers_of_all_its_values(document, shape):
    base = base_of(document)
    name, _, variables = shape
    whole = answer(f"{name}({', '.join(variables)})", base, NOW).answers
    first = variables[0]
    parts = []
    for row in document["nodes"]:
        rest = ", ".join(variables[1:])
        found = answer(f"{name}({render_value(row['name'])}, {rest})", base, NOW).answers
        parts += [{first: row["name"], **each} for each in found]
    assert list(whole) == parts


@settings(max_examples=60)
@given(clusters(), st.lists(st.sampled_from([0, 5, 299, 300, 1000]), min_size=2, max_size=4))
def test_an_earlier_question_never_changes_a_later_one(document, moments):
    kept = base_of(document)
    for seconds in moments:
        now = NOW + timedelta(seconds=seconds)
        fresh = base_of(document)
        for goal in ("can_reach(A, B)", "live_link(A, B, C)"):
            assert answer(goal, kept, now).answers == answer(goal, fresh, now).answers


@given(st.text(max_size=30))
def test_every_error_message_is_printable(text):
    _, failure = attempt((GoalInvalid, GoalRefused), parse_goal, text)
    if failure:
        assert failure.message.isascii()
        assert failure.message.isprintable()
