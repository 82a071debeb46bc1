"""The asker: an approval runs exactly the call that was shown, once."""

from dataclasses import replace

import pytest

from pulsus.agent.control.call_approvals import CallApprovals
from pulsus.agent.control.person_asker import CallDecision, PersonAsker
from tests.call_verdicts import Clock, code_of, control, restart


class Person:
    """Answers as told, after some time."""

    def __init__(self, choice, clock, seconds=0.0):
        self.choice, self.clock, self.seconds = choice, clock, seconds

    def decide_call(self, request):
        self.clock.now += self.seconds
        return CallDecision(self.choice, "because")


def asker_and_question(choice="yes", seconds=0.0, *, attended=True):
    clock = Clock()
    rules = control(said="restart nginx", clock=clock)
    pending = CallApprovals(clock, seconds=600)
    person = Person(choice, clock, seconds) if attended else None
    asker = PersonAsker(pending, rules.grants, rules.hash_of, person)
    return rules, asker, rules.decide(restart())


def test_an_approved_call_runs_once():
    _, asker, asked = asker_and_question()
    assert asker.decide(asked).decision == "approved"
    assert asker.redeem(asked, asked.draft) is None
    assert code_of(asker.redeem(asked, asked.draft)) == "APPROVAL_REQUIRED"


def test_an_approval_does_not_run_another_call():
    _, asker, asked = asker_and_question()
    asker.decide(asked)
    assert code_of(asker.redeem(asked, restart(action="stop"))) == "APPROVAL_REQUIRED"
    moved = replace(asked.draft, resources=(replace(asked.draft.resources[0], uid="other"),))
    assert code_of(asker.redeem(asked, moved)) == "APPROVAL_REQUIRED"


def test_a_call_that_was_denied_does_not_run():
    _, asker, asked = asker_and_question("no")
    answer = asker.decide(asked)
    assert (answer.decision, answer.reason) == ("denied", "because")
    assert code_of(asker.redeem(asked, asked.draft)) == "APPROVAL_REQUIRED"


def test_an_answer_that_comes_too_late_counts_for_nothing():
    _, asker, asked = asker_and_question(seconds=601)
    assert asker.decide(asked).decision == "expired"
    assert code_of(asker.redeem(asked, asked.draft)) == "APPROVAL_REQUIRED"


def test_without_a_person_the_call_waits():
    _, asker, asked = asker_and_question(attended=False)
    assert asker.decide(asked).decision == "unattended"
    assert code_of(asker.redeem(asked, asked.draft)) == "APPROVAL_REQUIRED"


def test_a_session_grant_ends_the_questions_for_this_call():
    rules, asker, asked = asker_and_question("session")
    assert asker.decide(asked).decision == "approved"
    again = rules.decide(restart())
    assert again.grant
    assert again.draft.consent == "asked"


def test_a_revoked_grant_asks_again():
    rules, asker, asked = asker_and_question("session")
    asker.decide(asked)
    (grant,) = rules.grants.shown()
    assert rules.grants.revoke(grant.grant_id)
    assert not hasattr(rules.decide(restart()), "grant")


@pytest.mark.parametrize("field", ["approval_id", "command", "risk_level", "description"])
def test_the_event_has_the_fields_of_the_contract(field):
    _, asker, asked = asker_and_question()
    assert asker.describe(asked)[field]
