"""Old results become short; recent and short ones stay."""

from pulsus.agent.answers.compaction import TranscriptResult, compact_results
from pulsus.agent.knowledge.knowledge_accumulator import KnowledgeAccumulator, KnowledgeLimits
from pulsus.agent.knowledge.session_fact import Fact

NOTHING = KnowledgeAccumulator(KnowledgeLimits(60, 2000, 200))
KNOWN = NOTHING.remember([Fact("exec:web1:df", "exit=0", 0.0, 1, "d", "c1")], 1)


def compacted(text, turn=4, knowledge=KNOWN, call_id="c1"):
    result = TranscriptResult(1, call_id, "pulsus_read", text)
    (found,) = compact_results([result], knowledge, turn=turn, keep_turns=2, min_chars=300)
    return found


def test_an_old_long_result_becomes_its_facts():
    found = compacted("x" * 301)
    assert found.text == "[result of pulsus_read in turn 1, facts only]\nexec:web1:df = exit=0"
    assert found.compacted


def test_an_old_result_without_facts_keeps_its_beginning():
    assert compacted("x" * 301, knowledge=NOTHING).text == "x" * 200 + "… [truncated]"
    assert compacted("x" * 301, call_id="other").text == "x" * 200 + "… [truncated]"


def test_results_of_the_last_two_turns_and_short_ones_stay():
    assert compacted("x" * 9000, turn=3).text == "x" * 9000
    assert compacted("x" * 300).text == "x" * 300
