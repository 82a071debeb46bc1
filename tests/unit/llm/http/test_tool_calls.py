"""Native tool calls over real HTTP on loopback, in each dialect (tool calling chapter, §32)."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pulsus.config.settings import ModelConfig
from pulsus.core.compose.model_protocol import Setup
from pulsus.core.compose.tool_calling_protocol import ChatMessage, OfferedTool, ToolUse
from pulsus.core.telemetry.redaction import redact
from pulsus.errors import (
    ModelAnswerInvalid,
    ModelBusy,
    ModelContextTooLong,
    ModelRefused,
    ModelRequestRefused,
    ModelUnreachable,
    ModelUrlWrong,
)
from pulsus.llm.http.anthropic import Anthropic
from pulsus.llm.http.exchange import HttpAnswer, WireFailed
from pulsus.llm.http.failures import ServerPlace
from pulsus.llm.http.model_server import Server
from pulsus.llm.http.ollama import Ollama
from pulsus.llm.http.openai_compat import OpenAi
from pulsus.llm.http.response import AnswerReader
from pulsus.llm.http.retries import ExchangeFailure
from tests.model_server import (
    anthropic_call_events,
    breaks_off,
    calls_anthropic,
    calls_openai,
    event,
    ollama_lines,
    openai_call_events,
    playing,
    reply,
    says,
    says_ollama,
    start_stream,
    status,
)

PATH = '{"path": "/var/log/sýslog", "n": 20}'
LIST = '{"action": "list"}'
ARGUMENTS = [json.loads(PATH), json.loads(LIST)]
TOOLS = (
    OfferedTool("read", "Read a file.", {"type": "object", "properties": {"path": {}, "n": {}}}),
    OfferedTool("docker", "Containers.", {"type": "object", "properties": {"action": {}}}),
)
HISTORY = (
    ChatMessage("system", "Be brief."),
    ChatMessage("user", "Look twice."),
    ChatMessage("assistant", "", (ToolUse("c1", "read", PATH), ToolUse("c2", "docker", LIST))),
    ChatMessage("tool", '{"ok": true}', call_id="c1", tool="read"),
    ChatMessage("tool", '{"ok": false}', call_id="c2", tool="docker"),
    ChatMessage("user", "Sum up."),
)
BASE = ModelConfig(
    name="tiny", connect_seconds=60, read_seconds=60, total_seconds=90, retries=1, max_answer_kb=64
)
OPENAI = calls_openai(("c1", "read", PATH), ("c2", "docker", LIST), text="Looking.")
ANTHROPIC = calls_anthropic(("c1", "read", PATH), ("c2", "docker", LIST), text="Looking.")
OLLAMA = says_ollama("Looking.", ("read", ARGUMENTS[0]), ("docker", ARGUMENTS[1]))
CASES = [
    pytest.param(OpenAi(), OPENAI, "/v1", ["c1", "c2"], id="openai"),
    pytest.param(Anthropic(), ANTHROPIC, "/v1", ["c1", "c2"], id="anthropic"),
    pytest.param(Ollama(), OLLAMA, "", ["", ""], id="ollama"),
]


def server(url, dialect=None, context=0, **changes):
    settings = replace(BASE, base_url=url, **changes)
    setup = Setup(settings, "", redact, context)
    return Server(setup, dialect or OpenAi(), sleep=lambda seconds: None)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize(("dialect", "answer", "base", "ids"), CASES)
def test_text_and_calls_come_with_ids_names_and_whole_arguments(
    dialect, answer, base, ids, streamed
):
    shown: list[str] = []
    with playing(answer, base=base) as played:
        made = server(played.url, dialect)
        found = made.complete_with_tools(HISTORY, TOOLS, on_text=shown.append if streamed else None)
    assert found.text == "Looking."
    assert [call.call_id for call in found.calls] == ids
    assert [call.name for call in found.calls] == ["read", "docker"]
    assert [json.loads(call.arguments) for call in found.calls] == ARGUMENTS
    assert found.finish == "stop"
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (11, 7)
    assert "".join(shown) == ("Looking." if streamed else "")


def sent(dialect, base="/v1", choice="auto", context=0):
    answer = says_ollama("fine") if isinstance(dialect, Ollama) else says("fine")
    if isinstance(dialect, Anthropic):
        answer = calls_anthropic(text="fine")
    with playing(answer, base=base) as played:
        made = server(played.url, dialect, context)
        made.complete_with_tools(HISTORY, TOOLS, choice=choice, temperature=0.1, max_tokens=400)
    (body,) = played.bodies
    return body


def test_openai_gets_calls_results_and_tools_in_its_form():
    body = sent(OpenAi())
    assert [m["role"] for m in body["messages"]] == [m.role for m in HISTORY]
    call = body["messages"][2]["tool_calls"][0]
    assert (call["id"], call["type"], call["function"]["name"]) == ("c1", "function", "read")
    assert json.loads(call["function"]["arguments"]) == ARGUMENTS[0]
    assert body["messages"][4]["tool_call_id"] == "c2"
    assert [tool["function"]["name"] for tool in body["tools"]] == ["read", "docker"]
    assert body["tools"][0]["function"]["parameters"] == TOOLS[0].parameters
    assert body["tool_choice"] == "auto"
    assert sent(OpenAi(), choice="none")["tool_choice"] == "none"


def test_anthropic_gets_all_results_of_a_turn_in_one_message():
    body = sent(Anthropic())
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]
    uses, results = body["messages"][1]["content"], body["messages"][2]["content"]
    assert [use["type"] for use in uses] == ["tool_use", "tool_use"]
    assert uses[0]["input"] == ARGUMENTS[0]
    assert [block["type"] for block in results] == ["tool_result", "tool_result", "text"]
    assert [block["tool_use_id"] for block in results[:2]] == ["c1", "c2"]
    assert body["tools"][1]["input_schema"] == TOOLS[1].parameters
    assert body["tool_choice"] == {"type": "auto"}
    assert sent(Anthropic(), choice="none")["tool_choice"] == {"type": "none"}


def test_ollama_gets_the_context_length_and_no_tools_where_calls_are_forbidden():
    body = sent(Ollama(), "", context=8192)
    assert body["options"] == {"temperature": 0.1, "num_predict": 400, "num_ctx": 8192}
    assert body["messages"][2]["tool_calls"][1]["function"]["arguments"] == ARGUMENTS[1]
    assert body["messages"][3]["tool_name"] == "read"
    assert len(body["tools"]) == 2
    assert "tools" not in sent(Ollama(), "", choice="none")


def heard(dialect, data, size, kind):
    place = ServerPlace("http://localhost:1", "m", "", has_key=False, redact=str)
    reader = AnswerReader(dialect, place, lambda: datetime(2026, 3, 1, tzinfo=UTC))
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    shown: list[str] = []
    return reader.heard(HttpAnswer(200, {"content-type": kind}, pieces), 65536, shown.append)


def as_events(documents):
    return b"".join(
        b"data: " + json.dumps(d, ensure_ascii=False).encode() + b"\n\n" for d in documents
    )


@pytest.mark.parametrize(
    ("dialect", "data", "kind"),
    [
        pytest.param(
            OpenAi(),
            as_events(openai_call_events([("c1", "read", PATH)], "Löök.")),
            "text/event-stream",
            id="openai",
        ),
        pytest.param(
            Anthropic(),
            as_events(anthropic_call_events([("c1", "read", PATH)], "Löök.")),
            "text/event-stream",
            id="anthropic",
        ),
        pytest.param(
            Ollama(),
            b"".join(
                json.dumps(d, ensure_ascii=False).encode() + b"\r\n"
                for d in ollama_lines("Löök.", [("read", ARGUMENTS[0])])
            ),
            "application/x-ndjson",
            id="ollama",
        ),
    ],
)
def test_a_stream_split_at_any_byte_gives_the_same_answer(dialect, data, kind):
    whole = heard(dialect, data, len(data), kind)
    assert whole.last_chunk.text == "Löök."
    assert [json.loads(call.arguments) for call in whole.calls] == ARGUMENTS[:1]
    assert all(heard(dialect, data, size, kind) == whole for size in range(1, 80))
    for end in range(len(data) // 2):
        with pytest.raises((WireFailed, ExchangeFailure)):
            heard(dialect, data[:end], 64, kind)


def openai_delta(**call):
    delta = {"tool_calls": [{"index": 0, **call}]}
    return {"choices": [{"delta": delta, "finish_reason": None}]}


def streams_documents(*documents):
    def answer(handler):
        start_stream(handler)
        for document in documents:
            event(handler, document)
        event(handler, {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})

    return answer


def asked(answer, on_text=None, dialect=None, base="/v1", **changes):
    with playing(answer, base=base) as played:
        made = server(played.url, dialect, **changes)
        found = made.complete_with_tools(HISTORY[:2], TOOLS, on_text=on_text or (lambda _: None))
    return found, played


def test_two_calls_that_share_an_index_stay_two_calls():
    found, _ = asked(
        streams_documents(
            openai_delta(id="a", function={"name": "read", "arguments": "{}"}),
            openai_delta(id="b", function={"name": "docker", "arguments": "{"}),
            openai_delta(function={"arguments": "}"}),
        )
    )
    assert [(c.call_id, c.name, c.arguments) for c in found.calls] == [
        ("a", "read", "{}"),
        ("b", "docker", "{}"),
    ]


def test_a_server_that_repeats_id_and_name_in_each_piece_gives_one_call():
    pieces = [
        openai_delta(id="a", function={"name": "read", "arguments": part}) for part in ("{", "}")
    ]
    found, _ = asked(streams_documents(*pieces))
    assert [call.arguments for call in found.calls] == ["{}"]


def test_arguments_that_are_an_object_are_taken_as_text():
    found, _ = asked(
        streams_documents(openai_delta(id="a", function={"name": "read", "arguments": {"n": 1}}))
    )
    assert json.loads(found.calls[0].arguments) == {"n": 1}


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(openai_delta(function={"arguments": "{}"}), id="no name"),
        pytest.param(openai_delta(id=7, function={"name": "read"}), id="a number for an id"),
        pytest.param(openai_delta(function={"name": "read", "arguments": [1]}), id="a list"),
        pytest.param({"choices": [{"delta": {"tool_calls": 3}}]}, id="a number for calls"),
    ],
)
def test_a_malformed_call_is_an_error_and_no_call(document):
    with pytest.raises(ModelAnswerInvalid):
        asked(streams_documents(document))


def test_arguments_without_end_are_cut_off_with_an_error():
    big = calls_openai(("c1", "read", "x" * 200_000), cut=1000)
    with pytest.raises(ModelAnswerInvalid, match="longer"):
        asked(big)


def test_a_call_that_breaks_off_is_asked_for_again_because_nothing_was_shown():
    def broken(handler):
        start_stream(handler)
        event(handler, openai_delta(id="a", function={"name": "read", "arguments": '{"pa'}))
        handler.close_connection = True

    found, played = asked_twice(broken, calls_openai(("b", "read", LIST)))
    assert [call.call_id for call in found.calls] == ["b"]
    assert len(played.bodies) == 2


def asked_twice(*answers):
    with playing(*answers) as played:
        made = server(played.url)
        found = made.complete_with_tools(HISTORY[:2], TOOLS, on_text=lambda _: None)
    return found, played


def test_an_answer_whose_text_was_shown_is_not_repeated():
    with pytest.raises(ModelUnreachable):
        asked_twice(breaks_off("Loo"), says("fine"))


def test_a_server_without_tool_choice_gets_none_and_the_tools_still():
    found, played = asked_twice(status(400, "unknown field tool_choice"), OPENAI)
    assert len(found.calls) == 2
    assert "tool_choice" not in played.bodies[1]
    assert played.bodies[1]["tools"]


@pytest.mark.parametrize(
    ("answer", "kind", "hint"),
    [
        pytest.param(
            status(400, "tiny does not support tools"),
            ModelRequestRefused,
            'agent.protocol = "json"',
            id="model without tools",
        ),
        pytest.param(
            status(500, "tools param requires --jinja flag"),
            ModelRequestRefused,
            'agent.protocol = "json"',
            id="llama.cpp without a template",
        ),
        pytest.param(status(401, "no"), ModelRefused, "key", id="key"),
        pytest.param(status(400, "prompt is too long"), ModelContextTooLong, "context", id="long"),
        pytest.param(status(503, "loading"), ModelBusy, "try again", id="busy"),
    ],
)
def test_an_error_of_the_server_says_what_to_do(answer, kind, hint):
    with pytest.raises(kind) as caught:
        asked(answer)
    assert hint in caught.value.hint


def test_ollama_lists_its_models_and_names_a_base_url_that_ends_in_v1():
    with playing(says_ollama("fine"), models=("a:1b", "b:2b"), base="") as played:
        assert [m.name for m in server(played.url, Ollama()).models()] == ["a:1b", "b:2b"]
        with pytest.raises(ModelUrlWrong, match="no such model server") as caught:
            server(f"{played.url}/other", Ollama()).complete_with_tools(HISTORY[:2], TOOLS)
    assert "without /v1" in caught.value.hint


def test_an_error_within_the_stream_of_ollama_is_reported():
    def fails(handler):
        start_stream(handler, "application/x-ndjson")
        handler.wfile.write(b'{"error": "the runner has stopped"}\n')

    with pytest.raises(ModelUnreachable, match="the runner has stopped"):
        asked(fails, dialect=Ollama(), base="")


def test_ollama_without_a_final_line_is_no_whole_answer():
    def breaks(handler):
        start_stream(handler, "application/x-ndjson")
        handler.wfile.write(b'{"message": {"content": "Loo"}, "done": false}\n')

    shown: list[str] = []
    with pytest.raises(ModelUnreachable):
        asked(breaks, shown.append, Ollama(), "")
    assert shown == ["Loo"]


def test_a_web_page_in_place_of_a_model_is_named():
    with pytest.raises(ModelUrlWrong, match="web page"):
        asked(lambda handler: reply(handler, 200, b"<html>"), dialect=Ollama(), base="")
