"""The rules of control in a run: what a result names may be acted on, an invented name may not."""

import time
from dataclasses import replace

from pulsus.agent.control.call_approvals import CallApprovals
from pulsus.agent.control.person_asker import CallDecision, PersonAsker
from tests.agent_runs import WEB, answers, call, fresh_state, proposes, world
from tests.call_verdicts import Clock, control


def restart():
    return call("pulsus_control", type="service", action="restart", target_resource_id=WEB.id)


def search():
    return call("pulsus_query", action="search", query="nginx")


def get():
    return call("pulsus_query", action="get", target_resource_id=WEB.id)


class Yes:
    def decide_call(self, request):
        return CallDecision("yes")


def run(rules, *proposals, person=None, state=None):
    pending = CallApprovals(Clock(), seconds=60)
    asker = PersonAsker(pending, rules.grants, rules.hash_of, person)
    session = replace(world(), control=rules, state=state, asker=asker)
    return session, session.run(*proposals)


def test_a_target_that_nobody_named_is_corrected_and_not_changed():
    state = fresh_state(WEB)
    resources = state.gates.resources.add([WEB], time.monotonic())
    known = replace(state, gates=replace(state.gates, resources=resources))
    session, _ = run(control(), proposes(restart()), answers("I could not."), state=known)
    assert session.tools["pulsus_control"].ran == []
    assert {"reason": "ungrounded"} in session.named("agent_correction")
    error = session.named("agent_tool_result")[0]["error"]
    assert error["code"] == "INVALID_INPUT"


def test_a_discovered_target_is_changed_after_a_yes():
    steps = (proposes(search()), proposes(restart()), proposes(get()), answers("It runs again."))
    session, ended = run(control(), *steps, person=Yes())
    assert len(session.tools["pulsus_control"].ran) == 1
    assert session.named("agent_correction") == []
    assert ended.exit_status == 0


def test_read_only_changes_nothing_and_suggests_the_call():
    steps = (proposes(search()), proposes(restart()), answers("I suggest a restart."))
    session, ended = run(control("read_only"), *steps, person=Yes())
    assert session.tools["pulsus_control"].ran == []
    (suggested,) = ended.suggested
    assert suggested["tool"] == "pulsus_control"


def test_without_a_person_the_run_ends_waiting():
    steps = (proposes(search()), proposes(restart()), answers("done"))
    session, ended = run(control(), *steps)
    assert session.tools["pulsus_control"].ran == []
    assert ended.exit_status == 4


def test_what_the_user_adds_meanwhile_may_be_acted_on():
    rules = control()
    assert not rules.words.is_known("nginx")
    rules.hear(["I mean nginx"])
    assert rules.words.is_known("nginx")
