"""No approval runs another call, and no grant covers a higher risk or another target."""

import json
from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import given

from pulsus.agent.control.call_approvals import CallApprovals
from pulsus.agent.control.call_question import plan_hash
from pulsus.agent.control.person_asker import CallDecision, PersonAsker
from pulsus.agent.control.session_grants import SessionGrants, grant_key
from pulsus.agent.loop.call_draft import AskPerson, RunCall
from tests.call_verdicts import NGINX, Clock, control, request_of, restart, write_command

NAMES = st.sampled_from(["nginx", "web", "db", "a b", "x;y", "", "ä"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | NAMES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
CALLS = st.tuples(
    NAMES, st.dictionaries(NAMES, VALUES, max_size=3), st.lists(NAMES, max_size=2), NAMES, NAMES
)
COMMANDS = st.builds(
    " ".join,
    st.tuples(
        st.sampled_from(["systemctl", "sudo systemctl", "docker"]),
        st.sampled_from(["restart", "stop", "start", "kill"]),
        st.sampled_from(["nginx", "web", "'nginx'", "-f nginx", "nginx web"]),
    ),
)


@given(CALLS, CALLS)
def test_two_calls_have_one_hash_only_if_they_are_the_same(one, other):
    # JSON tells 1 from true, and Python does not.
    equal = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (plan_hash(*one) == plan_hash(*other)) == equal


class Person:
    def decide_call(self, request):
        return CallDecision("session")


@given(COMMANDS, COMMANDS, st.booleans())
def test_an_approval_of_one_command_runs_no_other(approved, run, moved):
    rules = control(said="nginx and web")
    asker = PersonAsker(CallApprovals(Clock(), seconds=60), rules.grants, rules.hash_of, Person())
    asked = rules.decide(write_command(approved))
    assert isinstance(asked, AskPerson)
    assert asker.decide(asked).decision == "approved"
    other = write_command(run)
    if moved:
        other = replace(other, resources=(NGINX,))
    if approved != run or moved:
        assert asker.redeem(asked, other) is not None


@given(COMMANDS, COMMANDS, st.sampled_from(["nginx", "web"]))
def test_a_grant_covers_no_other_command_target_or_risk(granted, run, host):
    rules = control(said="nginx and web")
    first = request_of(rules.decide(write_command(granted)))
    rules.grants.add(first.grant_key, first.command, first.risk_level)
    other = write_command(run)
    other = replace(other, resources=(replace(other.resources[0], uid=host),))
    assert isinstance(rules.decide(other), AskPerson)
    again = rules.decide(write_command(run))
    if isinstance(again, RunCall):
        words = [text.replace("'", "") for text in (granted, run)]
        assert words[0] == words[1]


@given(NAMES, st.sampled_from(["low", "medium"]), st.sampled_from(["low", "medium", "high"]))
def test_a_grant_is_found_only_at_its_own_risk(text, risk, asked):
    grants = SessionGrants(Clock(), minutes=60)
    key = grant_key("t", {"x": text}, (), risk, "p")
    grants.add(key, "x", risk)
    assert (grants.find(key, asked) is not None) == (asked == risk)


def test_the_restart_of_a_service_is_granted_by_itself_only():
    rules = control(said="nginx")
    request = request_of(rules.decide(restart()))
    rules.grants.add(request.grant_key, request.command, request.risk_level)
    assert isinstance(rules.decide(restart()), RunCall)
    assert isinstance(rules.decide(write_command("systemctl restart nginx")), AskPerson)
