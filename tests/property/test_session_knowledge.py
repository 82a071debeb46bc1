"""The limits of session knowledge hold after any sequence of changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.agent.knowledge.knowledge_accumulator import KnowledgeAccumulator, KnowledgeLimits
from pulsus.agent.knowledge.session_fact import Fact

NAMES = st.sampled_from(["web1", "db1", "n1"])
FACTS = st.builds(
    Fact,
    key=st.text(min_size=1, max_size=30),
    value=st.text(max_size=80),
    observed_at=st.floats(0, 10),
    turn=st.integers(1, 9),
    call=st.sampled_from("abc"),
    call_id=st.just("id"),
    subjects=st.lists(NAMES, max_size=2).map(tuple),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("remember"), st.lists(FACTS, max_size=8), st.integers(1, 9)),
        st.tuples(st.just("write"), st.lists(NAMES, max_size=2), st.just(0)),
        st.tuples(st.just("touch"), st.lists(st.text(max_size=3), max_size=3), st.just(0)),
    ),
    max_size=12,
)
LIMITS = st.builds(KnowledgeLimits, st.integers(0, 6), st.integers(0, 200), st.integers(0, 40))


@pytest.mark.seconds
@given(LIMITS, STEPS)
def test_the_limits_hold_and_keys_stay_unique(limits, steps):
    known = KnowledgeAccumulator(limits)
    for step, values, turn in steps:
        match step:
            case "remember":
                known = known.remember(values, turn)
            case "write":
                known = known.after_write(values)
                assert not any(set(values) & set(fact.subjects) for fact in known.facts)
            case _:
                known = known.touch(values)
        assert len(known.facts) <= limits.max_facts
        assert sum(len(fact.key) + len(fact.value) for fact in known.facts) <= limits.max_chars
        assert all(len(fact.value) <= limits.max_value for fact in known.facts)
        assert len({fact.key for fact in known.facts}) == len(known.facts)


@given(st.lists(FACTS, max_size=20), st.integers(1, 9))
def test_an_old_fact_is_never_kept_at_the_cost_of_a_pinned_one(facts, turn):
    limits = KnowledgeLimits(5, 10_000, 200)
    kept = KnowledgeAccumulator(limits).remember(facts, turn).facts
    unique = {fact.key: fact for fact in facts}
    pinned = [fact for fact in unique.values() if fact.turn >= turn - 1]
    kept_pinned = [fact for fact in kept if fact.turn >= turn - 1]
    assert len(kept_pinned) == min(len(pinned), limits.max_facts)
