"""Native tool calls: from the answer of a server to a proposal, and back into messages."""

import json

import pytest

from pulsus.agent.model.native_calls import chat_messages, read_completion
from pulsus.agent.model.proposal import AgentMessage, TurnRequest
from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.compose.model_protocol import Usage
from pulsus.core.compose.tool_calling_protocol import ToolCompletion, ToolUse
from tests.agent_runs import QUERY, READ

FIRST = ProposedCall("c1", "pulsus_read", {"action": "file"})
HISTORY = (
    AgentMessage("system", "Be brief."),
    AgentMessage("user", "Look."),
    AgentMessage("assistant", "", calls=(FIRST, ProposedCall("c2", "pulsus query!", {}))),
    AgentMessage("tool", '{"ok":true}', "c1"),
)


def ask(messages=(), text_only=False):
    return TurnRequest(tuple(messages), (QUERY, READ), text_only, 3)


def answer(text="", *uses, finish="stop"):
    return ToolCompletion(text, tuple(ToolUse(*use) for use in uses), Usage(9, 4), "m", finish)


def test_calls_keep_the_ids_of_the_server():
    found = read_completion(
        answer("Looking.", ("call_9", "pulsus_read", '{"action": "file"}'), ("x-1", "other", "")),
        ask(),
    )
    assert [(c.call_id, c.tool, c.args) for c in found.calls] == [
        ("call_9", "pulsus_read", {"action": "file"}),
        ("x-1", "other", {}),
    ]
    assert (found.raw, found.text, found.correction) == ("Looking.", "", "")
    assert found.usage == Usage(9, 4)


@pytest.mark.parametrize(
    ("ids", "given"),
    [
        pytest.param(("", ""), ["call-3-1", "call-3-2"], id="none"),
        pytest.param(("c1", "c1"), ["call-3-1", "call-3-2"], id="of an earlier turn"),
        pytest.param(("a", "a"), ["a", "call-3-2"], id="the same twice"),
        pytest.param(("x" * 500, "a\nb"), ["call-3-1", "call-3-2"], id="no id at all"),
    ],
)
def test_ids_are_unique_in_a_run(ids, given):
    uses = [(one, "pulsus_read", "{}") for one in ids]
    assert [c.call_id for c in read_completion(answer("", *uses), ask(HISTORY)).calls] == given


@pytest.mark.parametrize(
    "arguments",
    ['{"a": ', "[1]", '"text"', "null", "7", '{"a": NaN}', '{"a": 1, "a": 2}', '{"a": "\\ud800"}'],
)
def test_arguments_that_are_no_json_object_are_corrected_and_nothing_runs(arguments):
    found = read_completion(
        answer("", ("c8", "pulsus_read", "{}"), ("c9", "pulsus_query", arguments)), ask()
    )
    assert found.calls == ()
    assert found.text == ""
    assert "pulsus_query" in found.correction
    assert arguments[:5] in found.correction.replace("\\\\", "\\")


def test_a_call_that_leaked_into_the_text_is_no_answer():
    found = read_completion(answer('Wait.\n<tool_call>{"name": "x"}</tool_call>'), ask())
    assert (found.leaked, found.text, found.raw) == (True, "", "Wait.")
    assert "markup" in found.correction


def test_in_the_last_turn_the_text_before_a_leak_is_the_answer():
    found = read_completion(answer("It runs.\n<tool_call>{}"), ask(text_only=True))
    assert (found.leaked, found.text, found.confidence) == (True, "It runs.", "low")


def test_a_leak_beside_native_calls_is_cut_and_the_calls_run():
    found = read_completion(answer("Wait. <tool_call>", ("c9", "pulsus_read", "{}")), ask())
    assert found.leaked
    assert [c.call_id for c in found.calls] == ["c9"]
    assert found.raw == "Wait."


def test_an_empty_answer_is_corrected():
    assert "empty" in read_completion(answer(" "), ask()).correction


def test_an_answer_that_was_cut_off_has_low_confidence():
    assert read_completion(answer("It is", finish="length"), ask()).confidence == "low"
    assert read_completion(answer("It is."), ask()).confidence == "medium"


def test_each_call_is_followed_by_a_result_although_one_did_not_run():
    later = AgentMessage("user", "Go on.")
    sent = chat_messages((*HISTORY, AgentMessage("assistant", ""), later))
    assert [m.role for m in sent] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert [use.name for use in sent[2].calls] == ["pulsus_read", "pulsus_query_"]
    assert [(m.call_id, m.tool) for m in sent[3:5]] == [
        ("c1", "pulsus_read"),
        ("c2", "pulsus_query_"),
    ]
    assert json.loads(sent[4].content)["error"]["message"] == "this call was not run"


def test_a_result_without_its_call_is_sent_as_text():
    (sent,) = chat_messages([AgentMessage("tool", "{}", "c7")])
    assert (sent.role, sent.content) == ("user", "Tool result: {}")
