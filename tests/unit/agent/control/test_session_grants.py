"""Grants for a session are narrow, short, shown and recorded."""

import pytest

from pulsus.agent.control.session_grants import SessionGrants, grant_key
from tests.call_verdicts import Clock


def key(command="systemctl restart nginx", risk="medium", ids=("host:web01:m1",), version="p1"):
    return grant_key("pulsus_control", {"command": command}, ids, risk, version)


def test_a_grant_ends_after_its_minutes():
    clock, seen = Clock(), []
    grants = SessionGrants(clock, minutes=500, record=lambda change, grant: seen.append(change))
    grants.add(key(), "x", "medium")
    clock.now += 3599
    assert grants.find(key(), "medium")
    clock.now += 1
    assert grants.find(key(), "medium") is None
    assert seen == ["granted", "used", "expired"]
    assert grants.shown() == ()


@pytest.mark.parametrize(("text", "risk"), [("", "low"), ("k", "high")])
def test_high_risk_and_calls_without_a_key_get_no_grant(text, risk):
    assert SessionGrants(Clock(), minutes=60).add(text, "x", risk) is None


def test_no_grant_is_given_if_the_settings_say_zero_minutes():
    assert SessionGrants(Clock(), minutes=0).add("k", "x", "low") is None


def test_spaces_and_quotes_are_no_other_call():
    assert key("systemctl  restart 'nginx'") == key()


@pytest.mark.parametrize(
    "other",
    [
        key("systemctl restart nginx2"),
        key("systemctl restart nginx; id"),
        key("systemctl restart nginx > /tmp/x"),
        key("systemctl restart -f nginx"),
        key("sudo systemctl restart nginx"),
        key("A=1 systemctl restart nginx"),
        key("systemctl restart ngin*"),
        key(ids=("host:web02:m2",)),
        key(risk="low"),
        key(version="p2"),
    ],
)
def test_another_call_target_risk_or_policy_has_another_key(other):
    assert other != key()


def test_a_command_that_cannot_be_read_has_no_key():
    assert key("systemctl restart $X") == ""
