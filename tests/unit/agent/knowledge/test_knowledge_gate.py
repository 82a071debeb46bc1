"""A repeated read is answered from facts only while they hold. Otherwise it runs."""

import pytest

from pulsus.agent.knowledge.knowledge_accumulator import KnowledgeAccumulator, KnowledgeLimits
from pulsus.agent.knowledge.knowledge_extractor import facts_of_response
from pulsus.agent.knowledge.knowledge_gate import (
    GateWindow,
    answer_from_facts,
    asks_to_look_again,
)
from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.types import JsonValue
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.tool_response import tool_success

SCHEMA = {"type": "object", "properties": {"action": {}, "target_host": {}}}
STORAGE = ToolDescriptor("pulsus_storage", "", SCHEMA, kind="read")
RAID: dict[str, JsonValue] = {"action": "raid", "target_host": "n1"}
DATA: JsonValue = {
    "hosts": [{"hostname": "n1", "arrays": [{"device": "/dev/md0", "state": "clean"}]}]
}
WINDOW = GateWindow(turn=3, fresh_from_turn=1, keep_turns=2, min_chars=300)


def known(result_chars=50, turn=1):
    call = ProposedCall("c1", "pulsus_storage", RAID)
    facts = facts_of_response(
        call, tool_success(DATA), now=0.0, turn=turn, result_chars=result_chars
    )
    return KnowledgeAccumulator(KnowledgeLimits(60, 2000, 200)).remember(facts, turn)


def test_an_equal_read_is_answered_without_running():
    answer = answer_from_facts(known(), STORAGE, {"target_host": " n1 ", "action": "raid"}, WINDOW)
    assert answer is not None
    assert answer.to_response().to_json() == {
        "ok": True,
        "data": {
            "already_known": {"raid:queried": "1 hosts", "raid:n1": "1 arrays, all ok"},
            "observed_in_turn": 1,
        },
        "meta": {"source": "knowledge", "verifies": False},
    }


def test_a_call_about_another_host_runs_although_its_keys_are_the_same():
    other: dict[str, JsonValue] = {"action": "raid", "target_host": "n2"}
    assert answer_from_facts(known(), STORAGE, other, WINDOW) is None


def test_a_write_and_a_polling_tool_always_run():
    writes = ToolDescriptor("pulsus_storage", "", SCHEMA, kind="write")
    polls = ToolDescriptor("pulsus_storage", "", SCHEMA, kind="read", polls=True)
    assert answer_from_facts(known(), writes, RAID, WINDOW) is None
    assert answer_from_facts(known(), polls, RAID, WINDOW) is None


def test_facts_from_before_the_user_asked_to_look_again_do_not_answer():
    window = GateWindow(turn=3, fresh_from_turn=2, keep_turns=2, min_chars=300)
    assert answer_from_facts(known(), STORAGE, RAID, window) is None


def test_a_written_resource_is_read_again():
    assert answer_from_facts(known().after_write(["n1"]), STORAGE, RAID, WINDOW) is None


@pytest.mark.parametrize(
    ("chars", "turn", "answers"), [(900, 3, True), (900, 4, False), (99, 9, True)]
)
def test_a_long_result_is_read_again_once_the_model_can_no_longer_see_it(chars, turn, answers):
    window = GateWindow(turn=turn, fresh_from_turn=1, keep_turns=2, min_chars=300)
    assert (answer_from_facts(known(chars), STORAGE, RAID, window) is not None) is answers


@pytest.mark.parametrize(
    "request_text",
    [
        "check again", "is it still down?", "Re-check the pool", "refresh", "what is it now?",
        "what is the latest value", "has anything changed?", "look once more", "double-check it",
    ],
)  # fmt: skip
def test_asking_for_a_new_reading_is_recognised(request_text):
    assert asks_to_look_again(request_text)


@pytest.mark.parametrize(
    "request_text", ["which disks are full?", "list the containers of web1", ""]
)
def test_a_plain_question_may_be_answered_from_facts(request_text):
    assert not asks_to_look_again(request_text)
