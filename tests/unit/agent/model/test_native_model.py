"""A model with native tool calls drives the loop over real HTTP on loopback."""

import json
from dataclasses import replace

import pytest

from pulsus.agent.model.json_model import JsonModel
from pulsus.agent.model.native_model import NativeModel
from pulsus.agent.model.proposal import AgentMessage, TurnRequest
from pulsus.config.settings import ModelConfig
from pulsus.core.compose.model_protocol import Setup
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import ModelContextTooLong
from pulsus.llm.budgeted_model import BudgetedModel
from pulsus.llm.circuit_breaker import CircuitBreaker
from pulsus.llm.http.anthropic import Anthropic
from pulsus.llm.http.model_server import Server
from pulsus.llm.http.ollama import Ollama
from pulsus.llm.http.openai_compat import OpenAi
from tests.agent_runs import CONTROL, QUERY, READ, WEB, found, world
from tests.model_server import (
    breaks_off,
    calls_anthropic,
    calls_openai,
    playing,
    says,
    says_anthropic,
    says_ollama,
    status,
)

SECRET = "correct-horse-battery"
SEARCH = {"action": "search", "query": "nginx"}
SEARCHES = json.dumps(SEARCH)
TOOLS = (QUERY, READ, CONTROL)
CASES = [
    pytest.param(
        OpenAi(), "/v1", calls_openai(("a1", "pulsus_query", SEARCHES)), says("nginx is there"),
        id="openai",
    ),
    pytest.param(
        Anthropic(), "/v1", calls_anthropic(("a1", "pulsus_query", SEARCHES)),
        says_anthropic("nginx is there"), id="anthropic",
    ),
    pytest.param(
        Ollama(), "", says_ollama("", ("pulsus_query", SEARCH)), says_ollama("nginx is there"),
        id="ollama",
    ),
]  # fmt: skip


def budgeted(url, dialect=None, breaker=None, **changes):
    settings = ModelConfig(base_url=url, name="tiny", read_seconds=60, total_seconds=90, retries=0)
    setup = Setup(replace(settings, **changes), "", Redactor((SECRET,)).redact, 8192)
    return BudgetedModel(Server(setup, dialect or OpenAi()), setup, breaker=breaker)


def native(url, dialect=None, context_tokens=8192, **more):
    proposer = budgeted(url, dialect, **more)
    return NativeModel(proposer, temperature=0.1, max_tokens=400, context_tokens=context_tokens)


@pytest.mark.parametrize(("dialect", "base", "calls", "text"), CASES)
def test_a_search_runs_and_its_result_is_sent_with_the_id_of_the_call(dialect, base, calls, text):
    session = world(query=found(WEB))
    with playing(calls, text, base=base) as played:
        end = session.run(model=native(played.url, dialect), request="is nginx there?")
    assert (end.exit_status, end.summary, end.confidence) == (0, "nginx is there", "medium")
    assert session.tools["pulsus_query"].ran == [SEARCH]
    assert "".join(e["text"] for e in session.named("agent_token")) == "nginx is there"
    second = json.dumps(played.bodies[1]["messages"])
    assert WEB.id in second
    assert second.count("a1") == (0 if isinstance(dialect, Ollama) else 2)
    assert len(played.bodies[0]["tools"]) == 3


def test_leaked_markup_is_never_shown_in_whatever_pieces_it_arrives():
    leak = 'I look. <tool_call>{"name": "pulsus_query", "arguments": {}}</tool_call> It runs.'
    session = world()
    with playing(calls_openai(text=leak, finish="stop"), says("Nothing is known.")) as played:
        end = session.run(model=native(played.url))
    shown = "".join(e["text"] for e in session.named("agent_token"))
    assert shown == "I look.Nothing is known."
    assert session.named("agent_withdrawn") == [{"turn": 1, "reason": "artifact"}]
    assert session.named("agent_correction") == [{"reason": "malformed_json"}]
    assert end.summary == "Nothing is known."


def test_malformed_arguments_are_corrected_and_the_next_turn_goes_on():
    session = world(query=found(WEB))
    broken = calls_openai(("a1", "pulsus_query", '{"action": "sea'))
    good = calls_openai(("a2", "pulsus_query", SEARCHES))
    with playing(broken, good, says("nginx is there")) as played:
        end = session.run(model=native(played.url))
    assert end.summary == "nginx is there"
    assert session.tools["pulsus_query"].ran == [SEARCH]
    assert session.named("agent_correction") == [{"reason": "malformed_json"}]
    assert "no valid JSON object" in played.bodies[1]["messages"][-1]["content"]


def test_the_last_turn_forbids_calls_to_the_server_too():
    session = world(query=found(WEB))
    session.max_turns = 2
    with playing(calls_openai(("a1", "pulsus_query", SEARCHES)), says("done")) as played:
        session.run(model=native(played.url))
    assert [body["tool_choice"] for body in played.bodies] == ["auto", "none"]


def test_a_stream_that_breaks_off_after_text_ends_the_run_with_75():
    session = world()
    with playing(breaks_off("I ", "look")) as played:
        end = session.run(model=native(played.url))
    assert end.exit_status == 75
    assert len(played.bodies) == 1
    assert session.named("agent_error")


def test_runs_of_a_session_share_the_breaker():
    breaker = CircuitBreaker(2, 60.0, lambda: 100.0)
    with playing(status(503, "loading")) as played:
        ends = [world().run(model=native(played.url, breaker=breaker)) for _ in range(2)]
    assert [end.exit_status for end in ends] == [75, 75]
    assert len(played.bodies) == 2
    assert "the next attempt is in 60 s" in ends[1].summary


def test_a_secret_in_a_result_reaches_no_prompt():
    session = world(query=found(replace(WEB, uid=SECRET)))
    with playing(calls_openai(("a1", "pulsus_query", SEARCHES)), says("done")) as played:
        session.run(model=native(played.url))
    assert SECRET not in json.dumps(played.bodies)


def question(size):
    messages = (AgentMessage("system", "s"), AgentMessage("user", "x" * size))
    return TurnRequest(messages, TOOLS, text_only=False, turn=1)


@pytest.mark.parametrize("make", [NativeModel, JsonModel])
def test_a_question_that_leaves_no_room_for_the_answer_is_not_sent(make):
    with playing(says("{}")) as played:
        model = make(budgeted(played.url), temperature=0.1, max_tokens=400, context_tokens=2048)
        with pytest.raises(ModelContextTooLong) as caught:
            model.propose(question(7000), None)
        room = model.transcript_chars(TOOLS)
        assert 1000 < room < (2048 - 400) * 4
        model.propose(question(room - 100), None)
    assert len(played.bodies) == 1
    assert "agent.context_tokens = 2048" in caught.value.message
    assert played.bodies[0]["max_tokens"] == 400
    assert played.bodies[0]["temperature"] == 0.1


def test_the_prompt_of_native_calls_does_not_list_the_tools():
    prompt = native("http://127.0.0.1:1/v1").system_prompt(TOOLS, "Host: web01")
    assert "Host: web01" in prompt
    assert "pulsus_query" not in prompt
