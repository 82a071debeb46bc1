"""Memory is monotone: good feedback never lowers the tool it is for (spec §4, ADR 16)."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.memory.recall import PastMemory
from pulsus.core.memory.request_index import PastRequest, RequestSegment, WordCounts
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.text.phrases import phrases
from tests.ranking import tool

DAY = 86_400.0
NOW = 1_000 * DAY
WORDS = ["show", "disk", "file", "usage", "biggest", "log", "error", "service", "down", "count"]
IDS = ["a/list/disk_usage", "a/list/log_errors", "b/show/service_down", "b/show/count_files"]
TOOLS = [
    tool(IDS[0], "Show how full each disk is."),
    tool(IDS[1], "Count the errors of a log file."),
    tool(IDS[2], "List services that are down."),
    tool(IDS[3], "Count files, biggest first."),
]
INDEX = Ranker.build(TOOLS)

requests = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
ids = st.sampled_from(IDS)
some = st.lists(ids, max_size=2, unique=True).map(tuple)
rows = st.builds(
    PastRequest,
    request=requests,
    right=some,
    wrong=some,
    count=st.sampled_from([1.0, 2.0]),
    at=st.one_of(st.none(), st.floats(0, NOW)),
)
pasts = st.lists(rows, max_size=12)


def memory(past, counts):
    return PastMemory(counts, (RequestSegment.of(past, counts, 90 * DAY),), NOW)


def ranked(past, counts, text):
    index = replace(INDEX, memory=memory(past, counts))
    return {r.tool.id: r for r in index.rank(text, include=IDS)}


@given(pasts, requests, requests, ids)
def test_one_more_accepted_request_never_lowers_its_tool(past, text, more, tool_id):
    counts = WordCounts.of(past, len(TOOLS))
    before = ranked(past, counts, text)
    after = ranked([*past, PastRequest(more, (tool_id,), at=NOW)], counts, text)
    assert after[tool_id].features["history"] >= before[tool_id].features["history"] - 1e-9
    assert after[tool_id].rank <= before[tool_id].rank


@given(pasts, requests, requests, ids)
def test_one_more_rejection_never_raises_its_tool(past, text, more, tool_id):
    counts = WordCounts.of(past, len(TOOLS))
    before = ranked(past, counts, text)
    after = ranked([*past, PastRequest(more, (), (tool_id,), at=NOW)], counts, text)
    assert after[tool_id].features["history"] <= before[tool_id].features["history"] + 1e-9
    assert after[tool_id].rank >= before[tool_id].rank


@given(pasts, requests)
def test_recall_is_deterministic_and_stays_in_range(past, text):
    counts = WordCounts.of(past, len(TOOLS))
    found = memory(past, counts).recall(text)
    assert found == memory(list(past), WordCounts.of(past, len(TOOLS))).recall(text)
    for recalled in found.values():
        assert -1 <= recalled.value <= 1
        assert recalled.text >= 0


@given(pasts, ids)
def test_no_history_outranks_a_tool_that_the_request_names(past, tool_id):
    counts = WordCounts.of(past, len(TOOLS))
    text = f"{tool_id.rpartition('/')[2]}.py show the log"
    assert ranked(past, counts, text)[tool_id].rank == 1


@given(requests, requests, st.lists(requests, max_size=6), ids, ids)
def test_an_identical_request_outweighs_similar_ones(text, other, more, tool_id, rival):
    alike = [r for r in (other, *more) if set(phrases(r)) != set(phrases(text))]
    if rival == tool_id:
        return
    past = [
        PastRequest(text, (tool_id,)),
        *(PastRequest(r, (rival,), (tool_id,), 2.0) for r in alike),
    ]
    found = memory(past, WordCounts.of(past, len(TOOLS))).recall(text)
    assert found[tool_id].value > 0.9
    assert rival not in found or found[rival].value <= 0


@given(requests, st.lists(requests, max_size=6), ids)
def test_a_request_refused_in_the_same_words_stays_refused(text, more, tool_id):
    alike = [r for r in more if set(phrases(r)) != set(phrases(text))]
    past = [
        PastRequest(text, (), (tool_id,), 2.0),
        *(PastRequest(r, (tool_id,), (), 2.0) for r in alike),
    ]
    found = memory(past, WordCounts.of(past, len(TOOLS))).recall(text)
    assert found[tool_id].value < -0.5
