"""Compaction never makes a transcript longer."""

from hypothesis import given
from hypothesis import strategies as st

from pulsus.agent.answers.compaction import TranscriptResult, compact_results
from pulsus.agent.knowledge.knowledge_accumulator import KnowledgeAccumulator, KnowledgeLimits
from pulsus.agent.knowledge.session_fact import Fact

CALLS = st.sampled_from(["c1", "c2", "c3"])
RESULTS = st.lists(
    st.builds(
        TranscriptResult,
        st.integers(1, 9),
        CALLS,
        st.just("pulsus_read"),
        st.integers(0, 900).map(lambda length: "x" * length),
    ),
    max_size=6,
)
FACTS = st.lists(
    st.builds(
        Fact,
        st.text(min_size=1, max_size=30),
        st.text(max_size=200),
        st.just(0.0),
        st.integers(1, 9),
        st.just("d"),
        CALLS,
    ),
    max_size=8,
)


@given(RESULTS, FACTS, st.integers(1, 9), st.integers(0, 3), st.integers(0, 400))
def test_no_result_grows_and_a_second_pass_changes_nothing(results, facts, turn, keep, chars):
    known = KnowledgeAccumulator(KnowledgeLimits(60, 2000, 200)).remember(facts, turn)
    once = compact_results(results, known, turn=turn, keep_turns=keep, min_chars=chars)
    assert len(once) == len(results)
    assert all(
        len(after.text) <= len(before.text) for before, after in zip(results, once, strict=True)
    )
    assert compact_results(once, known, turn=turn, keep_turns=keep, min_chars=chars) == once
