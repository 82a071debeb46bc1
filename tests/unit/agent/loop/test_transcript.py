"""The messages that a model gets stay within its context."""

import pytest

from pulsus.agent.loop.transcript import Transcript
from pulsus.agent.loop.turn.turn_result import CallEnvelope
from tests.agent_runs import answers, call, fresh_state, proposes


def transcript(most_chars, request="look"):
    return Transcript("system", request, keep_turns=50, min_chars=50, most_chars=most_chars)


def result(made, text):
    return CallEnvelope(made, {"ok": True, "data": text}, f"ok\ndata: {text}")


def size(messages):
    return sum(len(m.content.encode()) for m in messages)


@pytest.mark.parametrize("letter", ["a", "ä", "漢", "🙂"])
def test_letters_of_several_bytes_do_not_exceed_the_context(letter):
    kept = transcript(4000)
    for turn in range(1, 20):
        made = call("pulsus_read", command=letter * 30)
        kept.add_proposal(proposes(made), turn)
        kept.add_results([result(made, letter * 300)], turn)
    sent = kept.messages(fresh_state())
    assert size(sent) <= 4000
    assert [m.role for m in sent[:2]] == ["system", "user"]
    calls = [c.call_id for m in sent for c in m.calls]
    assert calls
    assert calls == [m.call_id for m in sent if m.role == "tool"]


def test_results_of_the_last_turn_are_cut_when_they_alone_are_too_long():
    kept = transcript(5000)
    calls = [call("pulsus_read", action="file") for _ in range(3)]
    kept.add_proposal(proposes(*calls), 1)
    kept.add_results([result(calls[0], "short"), *(result(c, "é" * 9000) for c in calls[1:])], 1)
    sent = kept.messages(fresh_state())
    assert size(sent) <= 5000
    results = [m.content for m in sent if m.role == "tool"]
    assert results[0] == "ok\ndata: short"
    assert all("cut: this result has 180" in text for text in results[1:])
    # What was cut for the model is still there for the record.
    assert len(kept.all_messages[-1].content) > 9000


def test_an_answer_before_stays_when_there_is_room():
    kept = transcript(4000)
    kept.add_proposal(answers("yes"), 1)
    assert [m.content for m in kept.messages(fresh_state())] == ["system", "look", "yes"]
