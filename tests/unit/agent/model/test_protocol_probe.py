"""`doctor --model` finds the way in which a model calls tools."""

import pytest

from pulsus.agent.model.proposal import TurnProposal
from pulsus.agent.model.protocol_probe import probe_protocols
from pulsus.errors import ConfigError, ModelRequestRefused
from tests.agent_runs import ScriptedModel, call

RIGHT = TurnProposal("", calls=(call("read_file", path="/var/log/syslog", lines=20),))
OTHER_TOOL = TurnProposal("", calls=(call("disk_usage", path="/"),))
AS_TEXT = TurnProposal("", calls=(call("read_file", path="/var/log/syslog", lines="20"),))
TWICE = TurnProposal("", calls=RIGHT.calls * 2)
PROSE = TurnProposal("I would read it.", text="I would read it.")
REFUSED = ModelRequestRefused("it takes no tools", hint="set the other")
UNABLE = ConfigError("no native calls", hint="set the other", key="agent.protocol")


def probed(by_json, natively, configured="json"):
    told: list[str] = []
    models = (ScriptedModel(by_json), ScriptedModel(natively))
    found = list(probe_protocols(*models, configured, told.append))
    assert [f.name for f in found] == ["json calls", "native calls", "protocol"]
    assert not any(f.required for f in found)
    assert len(told) == 2
    assert all(len(m.asked[0].tools) == 3 for m in models)
    return found


@pytest.mark.parametrize("miss", [OTHER_TOOL, AS_TEXT, TWICE, PROSE, REFUSED, UNABLE])
def test_a_model_that_only_writes_json_is_asked_by_json(miss):
    json_calls, native_calls, protocol = probed(RIGHT, miss)
    assert (json_calls.ok, native_calls.ok) == (True, False)
    assert native_calls.hint
    assert (protocol.ok, protocol.protocol) == (True, "json")


def test_a_setting_that_the_model_cannot_follow_is_reported_with_the_right_one():
    *_, protocol = probed(RIGHT, PROSE, "native")
    assert not protocol.ok
    assert protocol.hint == 'set agent.protocol = "json"'


def test_a_model_that_can_do_both_is_told_of_the_better_one():
    *_, protocol = probed(RIGHT, RIGHT)
    assert (protocol.ok, protocol.protocol) == (True, "native")
    assert 'set agent.protocol = "native"' in protocol.found


def test_a_model_that_calls_nothing_gets_no_protocol():
    *_, protocol = probed(PROSE, PROSE)
    assert (protocol.ok, protocol.protocol) == (False, None)
    assert "neither" in protocol.found
