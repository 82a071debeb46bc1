"""Feedback outweighs runs without feedback (ADR 16)."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.memory.feedback_weights import weighted_past_requests
from pulsus.core.memory.past_routes import Outcome, PastRoute
from pulsus.core.memory.recall import PastMemory
from pulsus.core.memory.request_index import PastRequest, RequestSegment, WordCounts

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HALF_LIFE = 90.0
SPELLINGS = ("count the words", "Count the words?", "count the  words")
OTHER = "words that count"
A, B = "text/count/count_words", "demo/greet/say_hello"

days = st.lists(st.floats(0, 400), min_size=1, max_size=12).map(sorted)
kinds = st.sampled_from(["ran", "refused", "failed", "right", "none"])


def route(number, day, kind, tool, request=SPELLINGS[0]):
    told = kind in ("right", "none")
    ended: dict[str, Outcome] = {"ran": "accepted", "right": "accepted", "failed": "failed"}
    return PastRoute(
        NOON + timedelta(days=day),
        f"run-{number}",
        None,
        request,
        (tool,),
        ended.get(kind, "rejected"),
        is_feedback=told,
    )


@st.composite
def pasts(draw):
    return [
        route(
            number,
            day,
            draw(kinds),
            draw(st.sampled_from([A, B])),
            draw(st.sampled_from([*SPELLINGS, OTHER])),
        )
        for number, day in enumerate(draw(days))
    ]


def votes(routes, now=None):
    """Return the votes of memory for each tool on the request, by default at the last run."""
    past = list(weighted_past_requests(routes, HALF_LIFE))
    counts = WordCounts.of([PastRequest(SPELLINGS[0], (A,)), PastRequest(OTHER, (B,))], 2)
    now = now or max(r.ts for r in routes)
    memory = PastMemory(
        counts, (RequestSegment.of(past, counts, HALF_LIFE * 86_400),), now.timestamp()
    )
    found = memory.recall(SPELLINGS[0])
    return {tool: found[tool].value if tool in found else 0.0 for tool in (A, B)}


@given(st.integers(1, 40), st.sampled_from(["none", "right"]), st.floats(0, 60))
def test_one_feedback_outweighs_any_number_of_earlier_runs(count, word, later):
    runs = [route(n, 0.0, "ran", A, SPELLINGS[n % 3]) for n in range(count)]
    said = route(count, later, word, A if word == "none" else B)
    found = votes([*runs, said])
    if word == "none":
        assert found[A] < 0
    else:
        assert found[A] <= 0 < found[B]


@given(st.integers(1, 40), st.floats(0, 90))
def test_later_runs_do_not_outweigh_fresh_feedback(count, later):
    said = route(0, 0.0, "none", A)
    runs = [route(1 + n, later, "ran", A) for n in range(count)]
    assert votes([said, *runs])[A] < 0


def test_runs_long_after_a_feedback_count_again():
    said = route(0, 0.0, "none", A)
    runs = [route(1 + n, 700.0, "ran", A) for n in range(3)]
    assert votes([said, *runs])[A] > 0


@given(pasts(), st.sampled_from([A, B]))
def test_the_newest_feedback_wins(past, tool):
    past = [r for r in past if r.request != OTHER]
    end = (past[-1].ts - NOON) / timedelta(days=1) if past else 0.0
    other = B if tool == A else A
    found = votes([*past, route("last", end, "right", tool)])
    assert found[tool] > 0 >= found[other]
    found = votes([*past, route("last", end, "none", tool)])
    assert found[tool] < 0 >= found[other]


@given(pasts(), st.sampled_from([A, B]), st.sampled_from(["ran", "right"]))
def test_one_more_success_never_lowers_its_tool(past, tool, kind):
    now = past[-1].ts
    more = route("more", (now - NOON) / timedelta(days=1), kind, tool)
    assert votes([*past, more])[tool] >= votes(past, now)[tool] - 1e-9


@given(pasts(), st.sampled_from([A, B]), st.sampled_from(["refused", "none"]))
def test_one_more_failure_never_raises_its_tool(past, tool, kind):
    now = past[-1].ts
    more = route("more", (now - NOON) / timedelta(days=1), kind, tool)
    assert votes([*past, more])[tool] <= votes(past, now)[tool] + 1e-9


@given(pasts())
def test_partial_histories_add_up_to_the_whole(past):
    cut = max((n + 1 for n, r in enumerate(past) if r.is_feedback), default=len(past) // 2)
    parts = [
        *weighted_past_requests(past[:cut], HALF_LIFE),
        *weighted_past_requests(past[cut:], HALF_LIFE, before=past[:cut]),
    ]
    assert parts == list(weighted_past_requests(past, HALF_LIFE))


def test_a_run_without_a_request_changes_no_weight():
    assert list(weighted_past_requests([route(0, 0.0, "ran", A, "")], HALF_LIFE)) == []
