"""A run of the agent holds its rules, whatever the model proposes (architecture §2)."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from pulsus.agent.loop.run_ports import PersonAnswer
from pulsus.agent.loop.transcript import Transcript
from pulsus.agent.model.proposal import TurnProposal
from pulsus.agent.tool_protocol import CallNeeds, CallOutcome, Suspension
from pulsus.errors import ModelBudget, ModelUnreachable
from pulsus.execution.cancellation import Cancellation
from pulsus.gates.tool_response import tool_blocked, tool_failed, tool_success
from tests.agent_runs import (
    CONTROL,
    HOST,
    WEB,
    AllowAll,
    FakeTool,
    Verifier,
    answers,
    call,
    fails,
    fresh_state,
    messages_of,
    proposes,
    world,
    writes,
)
from tests.patience import PATIENCE_SECONDS

SEARCH = {"action": "search", "query": "nginx"}


def restart(target=WEB.id):
    return call("pulsus_control", type="service", action="restart", target_resource_id=target)


def get(target=WEB.id):
    return call("pulsus_query", action="get", target_resource_id=target)


def test_nothing_is_changed_before_it_was_discovered():
    session = world()
    session.run(proposes(restart()), answers("I could not."))
    assert session.tools["pulsus_control"].ran == []
    (result,) = session.named("agent_tool_result")
    assert result["error"]["code"] == "FSM_BLOCKED"
    assert result["error"]["details"]["required"] == "discover"


def test_an_invented_resource_is_not_changed_although_others_were_discovered():
    session = world()
    session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(restart("service:web01:ngnix")),
        answers("I could not."),
    )
    assert session.tools["pulsus_control"].ran == []
    error = session.named("agent_tool_result")[1]["error"]
    assert error["code"] == "STRICT_RESOLUTION"
    assert WEB.name in str(error["details"]["suggestions"])


def test_a_write_is_answered_only_after_a_read_of_the_same_resource():
    session = world()
    end = session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(restart()),
        answers("It was restarted."),
        proposes(get()),
        answers("nginx was restarted and is active."),
    )
    assert end.exit_status == 0
    assert end.summary == "nginx was restarted and is active."
    assert session.named("agent_correction") == [{"reason": "verification_required"}]
    assert len(session.tools["pulsus_control"].ran) == 1


def test_a_read_of_another_resource_verifies_nothing():
    session = world()
    session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(restart()),
        proposes(get(HOST.id)),
        answers("done"),
        proposes(get()),
        answers("done and verified"),
    )
    assert session.named("agent_correction") == [{"reason": "verification_required"}]
    assert session.state
    assert session.state.gates.workflow.may_answer()


def test_a_read_of_the_same_turn_cannot_verify_the_write():
    session = world()
    session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(restart(), call("pulsus_read", action="file", target_resource_id=WEB.id)),
        answers("done"),
        proposes(get()),
        answers("verified"),
    )
    assert session.named("agent_correction") == [{"reason": "verification_required"}]


def test_two_writes_of_one_turn_do_not_both_run():
    session = world()
    session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(restart(), restart(WEB.id)),
        proposes(get()),
        answers("done"),
    )
    assert len(session.tools["pulsus_control"].ran) == 1
    codes = [r["error"]["code"] for r in session.named("agent_tool_result") if not r["ok"]]
    assert codes == ["FSM_BLOCKED"]


def test_calls_beyond_the_sixth_of_a_turn_are_refused_and_not_run():
    session = world()
    reads = [call("pulsus_read", action="exec", command=f"df {n}") for n in range(8)]
    session.run(proposes(call("pulsus_query", **SEARCH)), proposes(*reads), answers("done"))
    assert len(session.tools["pulsus_read"].ran) == 6
    refused = [r["error"] for r in session.named("agent_tool_result") if not r["ok"]]
    assert [each["code"] for each in refused] == ["INVALID_INPUT"] * 2
    assert refused[0]["details"]["most_calls"] == 6
    assert len([m for m in session.messages if m.role == "tool"]) == 9


def test_a_write_behind_the_sixth_call_of_a_turn_does_not_run():
    session = world()
    reads = [call("pulsus_read", action="exec", command=f"df {n}") for n in range(6)]
    session.run(
        proposes(call("pulsus_query", **SEARCH)), proposes(*reads, restart()), answers("done")
    )
    assert session.tools["pulsus_control"].ran == []


def test_a_failed_write_is_verified_too():
    session = world(control=fails)
    end = session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(restart()),
        answers("It failed."),
        proposes(get()),
        answers("It failed, nginx is as before."),
    )
    assert session.named("agent_correction") == [{"reason": "verification_required"}]
    assert end.exit_status == 0


@pytest.mark.parametrize(("works", "begins"), [(True, "done"), (False, "not verified: ")])
def test_turns_that_end_in_verifying_are_verified_by_the_runtime(works, begins):
    session = world()
    session.max_turns = 4
    if not works:
        session.verifier = Verifier(tool_failed("EXECUTION_FAILED", "gone"))
    end = session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(restart()),
        answers("done"),
        answers("done"),
    )
    assert len(session.verifier.ran) == 1
    assert end.summary.startswith(begins)
    assert (end.confidence == "low") is (not works)


def test_the_last_two_turns_begin_no_write():
    session = world()
    session.max_turns = 3
    end = session.run(
        proposes(call("pulsus_query", **SEARCH)), proposes(restart()), answers("I could not.")
    )
    assert session.tools["pulsus_control"].ran == []
    assert end.exit_status == 0


def test_a_denied_write_does_not_run_and_the_reason_is_told():
    session = world()
    session.control = AllowAll(asked=("pulsus_control",))
    session.asker.answer = PersonAnswer("denied", "not today")
    session.run(
        proposes(call("pulsus_query", **SEARCH)), proposes(restart()), answers("It was denied.")
    )
    assert session.tools["pulsus_control"].ran == []
    assert session.named("agent_tool_result")[1]["error"]["message"] == "Command denied: not today"


def unattended(*asked):
    session = world()
    session.control = AllowAll(asked=asked)
    session.asker.answer = PersonAnswer("unattended")
    return session


def exec_read():
    return call("pulsus_read", action="exec", command="dig example.org")


def test_a_read_that_needs_a_person_does_not_end_a_run_that_another_read_can_answer():
    session = unattended("pulsus_read")
    end = session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(exec_read()),
        proposes(get()),
        answers("It is web01."),
    )
    refused = session.named("agent_tool_result")[1]["error"]
    assert refused["code"] == "APPROVAL_REQUIRED"
    assert "another read" in refused["details"]["recovery_hint"]
    assert session.tools["pulsus_read"].ran == []
    assert (end.exit_status, end.summary) == (0, "It is web01.")


def test_a_run_waits_with_status_4_when_nothing_worked_after_the_read_that_needs_a_person():
    session = unattended("pulsus_read")
    end = session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(exec_read()),
        answers("I could not look."),
    )
    assert end.exit_status == 4
    assert end.confidence == "low"
    assert end.summary.startswith("pulsus_read waits for an approval")
    assert session.tools["pulsus_read"].ran == []


def test_a_run_out_of_turns_waits_with_status_4_when_only_that_read_was_proposed():
    session = unattended("pulsus_read")
    session.max_turns = 3
    end = session.run(
        proposes(call("pulsus_query", **SEARCH)), proposes(exec_read()), proposes(exec_read())
    )
    assert end.exit_status == 4


def test_a_write_that_needs_a_person_ends_the_turn_that_also_has_such_a_read():
    session = unattended("pulsus_control", "pulsus_read")
    end = session.run(
        proposes(call("pulsus_query", **SEARCH)), proposes(exec_read(), restart()), answers("done")
    )
    assert end.exit_status == 4
    assert end.summary.startswith("pulsus_control waits")


def test_a_write_without_a_person_to_ask_waits_with_status_4():
    session = world()
    session.control = AllowAll(asked=("pulsus_control",))
    session.asker.answer = PersonAnswer("unattended")
    end = session.run(proposes(call("pulsus_query", **SEARCH)), proposes(restart()))
    assert end.exit_status == 4
    assert session.tools["pulsus_control"].ran == []
    assert session.named("approval_needed")[0]["approval_id"] == "a1"


def test_an_approved_write_runs_once_and_still_has_to_be_verified():
    session = world()
    session.control = AllowAll(asked=("pulsus_control",))
    session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(restart()),
        answers("done"),
        proposes(get()),
        answers("verified"),
    )
    assert len(session.tools["pulsus_control"].ran) == 1
    assert session.named("agent_correction") == [{"reason": "verification_required"}]


def test_a_claim_of_work_that_no_tool_did_is_withdrawn():
    session = world()
    end = session.run(answers("I have restarted nginx successfully."))
    assert "restarted" not in end.summary
    assert end.confidence == "low"
    assert session.named("agent_withdrawn") == [{"turn": 1, "reason": "phantom"}]


def test_text_with_the_markup_of_a_call_is_withdrawn():
    session = world()
    leaked = TurnProposal("Which host?", correction="Call the tool.", leaked=True)
    end = session.run(
        proposes(call("pulsus_query", **SEARCH)),
        leaked,
        answers("Which host?\n<tool_call>{}</tool_call>"),
    )
    assert end.summary == "Which host?"
    assert session.named("agent_withdrawn") == [
        {"turn": 2, "reason": "artifact"},
        {"turn": 3, "reason": "artifact"},
    ]


def test_a_refusal_is_recorded_before_anything_else_of_the_turn_runs():
    session = world()
    session.run(proposes(restart(), call("pulsus_query", **SEARCH)), answers("I could not."))
    phases = [phase for phase, _ in session.record.rows if phase in {"refusal", "call"}]
    assert phases == ["refusal", "call"]


def test_malformed_json_is_corrected_and_counts_as_a_turn():
    session = world()
    end = session.run(
        TurnProposal("oops", correction="Answer with one object."), answers("It is fine.")
    )
    assert session.named("agent_correction") == [{"reason": "malformed_json"}]
    assert end.exit_status == 0
    assert len(session.named("agent_turn")) == 2


def test_a_model_that_never_answers_ends_with_status_1():
    session = world()
    session.max_turns = 3
    end = session.run(TurnProposal("oops", correction="Answer with one object."))
    assert end.exit_status == 1
    assert session.named("agent_max_turns")[0]["turns_used"] == 3


@pytest.mark.parametrize(
    ("error", "status"),
    [(ModelUnreachable("away"), 75), (ModelBudget("too much"), 6)],
    ids=["away", "budget"],
)
def test_a_model_that_fails_ends_the_run_with_its_status(error, status):
    session = world()
    end = session.run(error)
    assert end.exit_status == status
    assert session.named("agent_error")


def test_a_model_that_is_away_once_is_asked_again():
    session = world()
    assert session.run(ModelUnreachable("away"), answers("It is fine.")).exit_status == 0


def test_a_budget_that_ends_in_verifying_says_so():
    session = world()
    session.verifier = Verifier(tool_failed("EXECUTION_FAILED", "gone"))
    end = session.run(
        proposes(call("pulsus_query", **SEARCH)), proposes(restart()), ModelBudget("too much")
    )
    assert end.exit_status == 6
    assert session.named("agent_final")[0]["summary"].startswith("not verified: ")


def test_reads_of_a_turn_run_side_by_side():
    import threading

    barrier = threading.Barrier(3, timeout=20)

    def meets(args, context):
        barrier.wait()
        from tests.agent_runs import reads

        return reads(args, context)

    session = world(read=meets)
    session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(*(call("pulsus_read", action="file", target_host=f"web0{n}") for n in (1, 2, 3))),
        answers("fine"),
    )
    assert len(session.tools["pulsus_read"].ran) == 3


def test_the_fourth_equal_call_is_refused():
    session = world()
    same = {"action": "file", "target_host": "web01"}
    session.run(*(proposes(call("pulsus_read", **same)) for _ in range(4)), answers("fine"))
    codes = [r["error"]["code"] for r in session.named("agent_tool_result") if not r["ok"]]
    assert codes == ["LOOP_DETECTED"]


def test_results_reach_the_model_as_short_text():
    session = world()
    session.run(proposes(call("pulsus_query", **SEARCH)), answers("fine"))
    (text,) = messages_of("tool", session.messages)
    assert text.splitlines()[:2] == ["ok", "resources (2): id"]


class RuledOut(FakeTool):
    """A tool that rules its call out."""

    def needs(self, args):
        return CallNeeds("restart", (WEB.id,), not_allowed="it has no Verify:")


def test_a_call_that_its_tool_rules_out_is_refused_with_the_reason():
    session = world()
    session.tools["pulsus_control"] = tool = RuledOut(CONTROL, fails)
    session.run(proposes(get()), proposes(restart()), answers("I could not."))
    assert tool.ran == []
    error = session.named("agent_tool_result")[1]["error"]
    assert (error["code"], error["message"]) == ("ACTION_NOT_ALLOWED", "it has no Verify:")


def test_a_stopped_run_asks_the_model_no_more_and_says_so():
    session = world()
    cancelled = Cancellation()
    cancelled.cancel("SIGINT")
    ended = session.run(answers("never"), cancellation=cancelled)
    assert ended.exit_status == 130
    assert session.model.asked == []
    assert session.named("agent_error") == [{"error": "it was stopped"}]


def test_a_stop_does_not_wait_for_the_answer_of_the_model():
    session = world()
    cancelled, released = Cancellation(), threading.Event()

    def answer_late(ask):
        cancelled.cancel("SIGINT")
        # The thread of the model ends after the run, as one that waits for a server does.
        threading.Timer(1.0, released.set).start()
        assert released.wait(PATIENCE_SECONDS)
        return answers("too late")

    started = time.monotonic()
    ended = session.run(answer_late, cancellation=cancelled)
    assert ended.exit_status == 130
    assert "too late" not in ended.summary
    assert session.ended_at - started < 0.9


def test_a_model_that_answers_after_its_run_raises_no_error_in_its_thread():
    session = world()
    cancelled, released, asked = Cancellation(), threading.Event(), []

    def answer_late(ask):
        asked.append(threading.current_thread())
        cancelled.cancel("SIGINT")
        assert released.wait(PATIENCE_SECONDS)
        return answers("too late")

    session.run(answer_late, cancellation=cancelled)
    released.set()
    # The event loop of the run is closed. An error in the thread would fail this test.
    asked[0].join(PATIENCE_SECONDS)
    assert not asked[0].is_alive()


@pytest.mark.parametrize(
    ("request_made", "consent"),
    [(SimpleNamespace(typed=""), "asked"), (SimpleNamespace(typed="nginx"), "typed")],
)
def test_an_approved_call_carries_how_it_was_confirmed(request_made, consent):
    seen = []

    def writing(args, context):
        seen.append(context.consent)
        return writes(args, context)

    session = world(control=writing)
    session.control = AllowAll(asked=("pulsus_control",), request=request_made)
    session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(restart()),
        proposes(call("pulsus_read", action="exec", target_resource_id=WEB.id)),
        answers("done"),
    )
    assert seen == [consent]


def test_a_further_request_keeps_what_was_said_and_its_own_system_message():
    transcript = Transcript("one", "first", keep_turns=2, min_chars=300, most_chars=10_000)
    transcript.add_proposal(answers("yes"), 1)
    transcript.begin_request("two", "second", 1, 10_000)
    sent = [(m.role, m.content) for m in transcript.messages(fresh_state())]
    assert sent == [
        ("system", "two"), ("user", "first"), ("assistant", "yes"), ("user", "second"),
    ]  # fmt: skip


def test_the_request_of_now_stays_when_earlier_ones_no_longer_fit():
    transcript = Transcript("s", "x" * 500, keep_turns=2, min_chars=300, most_chars=150)
    transcript.add_proposal(answers("y" * 200), 1)
    transcript.begin_request("s", "second", 1, 150)
    transcript.add_proposal(answers("third"), 2)
    assert [m.content for m in transcript.messages(fresh_state())] == ["s", "second", "third"]


def test_an_answer_without_a_look_is_sent_back_when_the_request_is_about_the_machine():
    session = world()
    session.looks_first = True
    end = session.run(
        answers("It has 4 cores."), proposes(call("pulsus_query", **SEARCH)), answers("fine")
    )
    assert session.named("agent_correction") == [{"reason": "nothing_read"}]
    assert end.summary == "fine"


def test_only_the_first_turn_has_the_hint_of_the_likely_call():
    session = world()
    session.looks_first, session.likely = True, call("pulsus_query", **SEARCH)
    session.run(proposes(call("pulsus_query", **SEARCH)), answers("fine"))
    first, second = (ask.messages for ask in session.model.asked)
    assert "suggests this first call" in first[-1].content
    assert not any("suggests this first call" in each.content for each in second)


def test_a_call_that_is_repeated_at_once_is_told_to_be_answered():
    session = world()
    again = [proposes(call("pulsus_query", **SEARCH)) for _ in range(2)]
    session.run(*again, answers("fine"))
    told = messages_of("user", session.messages)
    assert told == ["do it", "You have this result already. Answer from it, or make another call."]


def test_a_model_that_never_looks_ends_with_the_safe_message():
    session = world()
    session.looks_first = True
    end = session.run(answers("The disk is 99 % full."))
    reasons = [each["reason"] for each in session.named("agent_correction")]
    assert reasons == ["nothing_read", "nothing_read", "phantom"]
    assert "could not check" in end.summary


def test_a_number_that_no_result_has_is_sent_back_once():
    session = world()
    end = session.run(
        proposes(call("pulsus_query", **SEARCH)), answers("It has 16 GB."), answers("It has 32 GB.")
    )
    assert session.named("agent_correction") == [{"reason": "ungrounded", "figures": ["16"]}]
    assert end.summary == "It has 32 GB."


def test_a_correction_does_not_make_the_number_of_an_answer_grounded():
    transcript = Transcript("s", "how much", keep_turns=2, min_chars=10, most_chars=900)
    transcript.add_proposal(answers("It has 16 GB."), 1)
    transcript.add_correction("No tool result has 16.", 1)
    assert transcript.sources() == ("s", "how much")


def proposing(outcome):
    """Return a world whose control tool only proposes, with that outcome."""
    session = world(control=lambda args, context: outcome)
    tool: Any = session.tools["pulsus_control"]
    tool.needs = lambda args: CallNeeds("execute_migration", only_proposes=True)
    return session


def test_a_proposal_suspends_the_run_and_the_model_is_not_asked_again():
    waits = Suspension("apr-1", 2, "it waits for a person")
    session = proposing(CallOutcome(tool_success({"approval_id": "apr-1"}), suspended=waits))
    end = session.run(proposes(call("pulsus_query", **SEARCH)), proposes(restart()))
    assert session.named("agent_suspended") == [
        {"approval_id": "apr-1", "plan_count": 2, "message": "it waits for a person"}
    ]
    assert session.named("agent_final") == []
    assert (end.exit_status, end.state.gates.workflow.unverified) == (4, ())


def test_a_refused_proposal_does_not_suspend_the_run():
    session = proposing(CallOutcome(tool_blocked("INVALID_INPUT", "the plan has no actions")))
    end = session.run(
        proposes(call("pulsus_query", **SEARCH)), proposes(restart()), answers("I could not.")
    )
    assert session.named("agent_suspended") == []
    assert (end.exit_status, end.summary) == (0, "I could not.")


def test_a_proposal_that_no_person_can_decide_here_ends_the_run_with_4():
    session = proposing(CallOutcome(tool_blocked("APPROVAL_REQUIRED", "at pulsus serve")))
    end = session.run(proposes(call("pulsus_query", **SEARCH)), proposes(restart()))
    assert session.named("agent_suspended") == []
    assert (end.exit_status, end.summary) == (4, "at pulsus serve")


def test_a_nul_character_refuses_its_call_and_ends_nothing():
    session = world()
    session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(call("pulsus_read", action="exec", command="cat a\0b", target_host=HOST.name)),
        answers("I could not read it."),
    )
    assert session.tools["pulsus_read"].ran == []
    error = session.named("agent_tool_result")[1]["error"]
    assert error["code"] == "INVALID_INPUT"
    assert "command has a NUL" in error["message"]


def test_a_rule_that_fails_refuses_the_call_and_the_write_before_it_is_still_verified():
    class Failing(AllowAll):
        def refuse(self, draft):
            if draft.needs.command == "df":
                raise ValueError("embedded null byte")
            return super().refuse(draft)

    session = world(control=writes)
    session.control = Failing()
    session.run(
        proposes(call("pulsus_query", **SEARCH)),
        proposes(restart()),
        proposes(call("pulsus_read", action="exec", command="df", target_resource_id=WEB.id)),
        answers("It was restarted."),
        answers("It was restarted."),
    )
    results = session.named("agent_tool_result")
    assert results[2]["error"]["code"] == "INVALID_INPUT"
    assert "ValueError" in results[2]["error"]["message"]
    assert session.named("agent_final")
