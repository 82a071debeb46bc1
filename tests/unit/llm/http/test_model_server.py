"""Asking a model's server: real HTTP on loopback, every way it can fail."""

import json
import time
from dataclasses import replace

import pytest

from pulsus.config.settings import ModelConfig
from pulsus.core.compose.model_protocol import Message, Setup
from pulsus.core.telemetry.redaction import redact
from pulsus.errors import (
    ModelAnswerInvalid,
    ModelBusy,
    ModelContextTooLong,
    ModelError,
    ModelNotFound,
    ModelRefused,
    ModelRequestRefused,
    ModelUnreachable,
    ModelUrlWrong,
)
from pulsus.llm.http.anthropic import Anthropic
from pulsus.llm.http.model_server import Server
from pulsus.llm.http.openai_compat import OpenAi
from tests.model_server import (
    breaks_off,
    chunk,
    drips,
    event,
    floods,
    hangs,
    playing,
    raw,
    reply,
    says,
    says_anthropic,
    start_stream,
    status,
)
from tests.patience import HANG_SECONDS, PATIENCE_SECONDS

ASK = [Message("system", "Be brief."), Message("user", "Say it.")]
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
BASE = ModelConfig(
    name="tiny", connect_seconds=60, read_seconds=60, total_seconds=90, retries=2, max_answer_kb=64
)


def server(url, dialect=None, key="", **changes):
    waits: list[float] = []
    settings = replace(BASE, base_url=url, **changes)
    made = Server(Setup(settings, key, redact), dialect or OpenAi(), sleep=waits.append)
    return made, waits


def failure(kind, answer, url=None, **changes):
    """The error of one question to a server that answers so, and what that server was asked."""
    with playing(answer) as played:
        made, waits = server(url or played.url, **changes)
        with pytest.raises(kind) as caught:
            made.complete(ASK)
    assert type(caught.value) is kind
    assert caught.value.hint
    return caught.value, played, waits


@pytest.mark.parametrize(
    ("dialect", "answer", "text"),
    [
        pytest.param(OpenAi(), says("it is so"), "it is so", id="openai"),
        pytest.param(Anthropic(), says_anthropic("it is so"), "it is so", id="anthropic"),
    ],
)
def test_an_answer_has_text_usage_model_and_finish(dialect, answer, text):
    with playing(answer) as played:
        made, _ = server(played.url, dialect)
        found = made.complete(ASK)
    assert (found.text, found.model, found.finish, found.dropped) == (text, "tiny-1", "stop", ())
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (11, 7)


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        pytest.param(OpenAi(), says("it is so"), id="openai"),
        pytest.param(Anthropic(), says_anthropic("it is so"), id="anthropic"),
    ],
)
def test_streamed_pieces_are_the_answer(dialect, answer):
    pieces: list[str] = []
    with playing(answer) as played:
        made, _ = server(played.url, dialect)
        found = made.complete(ASK, on_text=pieces.append)
    assert len(pieces) > 1
    assert "".join(pieces) == found.text == "it is so"
    assert (found.usage.completion_tokens, found.finish) == (7, "stop")


def test_a_request_carries_what_was_asked_and_never_tools():
    with playing(says("{}")) as played:
        made, _ = server(played.url)
        made.complete(ASK, schema=SCHEMA, temperature=0.0, max_tokens=9, seed=4)
    (body,) = played.bodies
    assert body["messages"] == [{"role": m.role, "content": m.content} for m in ASK]
    assert (body["model"], body["temperature"], body["max_tokens"], body["seed"]) == (
        "tiny",
        0.0,
        9,
        4,
    )
    assert body["response_format"]["json_schema"] == {
        "name": "answer",
        "schema": SCHEMA,
        "strict": True,
    }
    assert "tools" not in body
    assert "authorization" not in played.asked[0]["headers"]


def test_anthropic_gets_system_apart_and_a_schema_in_words():
    with playing(says_anthropic("{}")) as played:
        made, _ = server(played.url, Anthropic(), key="k-123")
        found = made.complete(ASK, schema=SCHEMA, seed=4)
    (body,) = played.bodies
    assert [m["role"] for m in body["messages"]] == ["user"]
    assert body["system"].startswith("Be brief.")
    assert json.dumps(SCHEMA) in body["system"]
    assert played.asked[0]["headers"]["x-api-key"] == "k-123"
    assert played.asked[0]["headers"]["anthropic-version"]
    assert set(found.dropped) == {"seed", "schema"}


@pytest.mark.parametrize(
    ("message", "fields", "dropped", "gone"),
    [
        pytest.param(
            "response_format is not supported",
            {},
            ("schema",),
            "response_format",
            id="schema in words",
        ),
        pytest.param("Unsupported value", {"param": "seed"}, ("seed",), "seed", id="by parameter"),
        pytest.param(
            "'temperature' does not support 0.3", {}, ("temperature",), "temperature", id="fixed"
        ),
        pytest.param(
            "Unsupported parameter: 'max_tokens'", {}, (), "max_tokens", id="renamed limit"
        ),
    ],
)
def test_a_field_that_a_server_refuses_is_left_out_and_reported(message, fields, dropped, gone):
    with playing(status(400, message, **fields), says('{"n": 1}')) as played:
        made, _ = server(played.url)
        found = made.complete(ASK, schema=SCHEMA, seed=1)
        made.complete(ASK, schema=SCHEMA, seed=1)
    first, second, third = played.bodies
    assert gone in first
    assert gone not in second
    assert gone not in third, "it is remembered"
    assert found.dropped == dropped
    if gone == "max_tokens":
        assert second["max_completion_tokens"] == first["max_tokens"]
    if gone == "response_format":
        assert json.dumps(SCHEMA) in second["messages"][0]["content"]


def test_a_repeated_refusal_ends_the_retries():
    _, played, _ = failure(ModelRequestRefused, status(400, "temperature is not supported"))
    assert len(played.bodies) == 2


@pytest.mark.parametrize("code", [429, 500, 502, 503, 529])
def test_a_transient_failure_is_retried(code):
    with playing(status(code, "loading"), status(code, "loading"), says("done")) as played:
        made, waits = server(played.url)
        assert made.complete(ASK).text == "done"
    assert waits == [0.5, 1.0]


def test_retries_have_an_end():
    error, played, waits = failure(ModelBusy, status(429, "slow down"))
    assert len(played.bodies) == 3
    assert len(waits) == 2
    assert error.exit_status == 75


def test_retry_after_is_honoured():
    with playing(status(429, "", [("retry-after", "2")]), says("done")) as played:
        made, waits = server(played.url)
        assert made.complete(ASK).text == "done"
    assert waits == [2.0]


def test_half_a_character_from_a_server_is_not_in_messages():
    error, _, _ = failure(ModelBusy, status(429, "later\ud800 or now"))
    assert error.message.encode("utf-8").endswith(b"later? or now")


@pytest.mark.parametrize("value", ["600", "99999999999999999999", "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_a_wait_longer_than_the_deadline_is_not_begun(value):
    error, played, waits = failure(ModelBusy, status(429, "later", [("retry-after", value)]))
    assert (len(played.bodies), waits) == (1, [])
    assert "s" in error.hint


@pytest.mark.parametrize(
    "value", ["soon", "-1", "nan", "Fri, 99 Foo 2100", "Thu, 01 Jan 26 9999999990:00 GMT"]
)
def test_an_invalid_retry_after_is_ignored(value):
    _, _, waits = failure(ModelBusy, status(429, "", [("retry-after", value)]))
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize(
    ("kind", "answer", "said"),
    [
        pytest.param(ModelRefused, status(401, "bad key"), "PULSUS_LLM_API_KEY", id="401"),
        pytest.param(ModelRefused, status(403, "no"), "PULSUS_LLM_API_KEY", id="403"),
        pytest.param(
            ModelRefused, status(400, "API key not valid."), "PULSUS_LLM_API_KEY", id="400 on a key"
        ),
        pytest.param(
            ModelRefused,
            status(429, "quota", code="insufficient_quota"),
            "billing",
            id="no money is not transient",
        ),
        pytest.param(
            ModelContextTooLong,
            status(400, "the request exceeds the available context size", code=400),
            "longer context",
            id="llama.cpp context",
        ),
        pytest.param(
            ModelContextTooLong,
            status(400, "This model's maximum context length is 4096 tokens"),
            "longer context",
            id="vLLM context",
        ),
        pytest.param(
            ModelContextTooLong, status(413, "Request too large"), "longer context", id="413"
        ),
        pytest.param(
            ModelRequestRefused,
            status(400, "tiny does not support tools"),
            "native tools",
            id="tools",
        ),
        pytest.param(ModelUrlWrong, raw(b"<html>hello</html>"), "model.base_url", id="a web page"),
        pytest.param(ModelAnswerInvalid, raw(b"nonsense"), "model.base_url", id="not JSON"),
        pytest.param(ModelAnswerInvalid, raw(b'{"choices": []}'), "model.base_url", id="no choice"),
        pytest.param(ModelAnswerInvalid, raw(b"[" * 100_000), "model.base_url", id="deep JSON"),
        pytest.param(
            ModelAnswerInvalid,
            raw(b'{"choices": [{"message": {"content": {"a": 1}}}]}'),
            "model.base_url",
            id="text that is none",
        ),
        pytest.param(
            ModelAnswerInvalid,
            raw(b"x", headers=[("content-encoding", "gzip"), ("content-type", "text/plain")]),
            "model.base_url",
            id="compressed",
        ),
    ],
)
def test_a_lasting_failure_is_reported_once_with_cause_and_fix(kind, answer, said):
    error, played, waits = failure(kind, answer)
    assert said in error.hint
    assert (len(played.bodies), waits) == (1, [])


def test_a_key_that_is_refused_is_named_by_its_variable_and_never_shown():
    error, _, _ = failure(
        ModelRefused,
        status(401, "Incorrect API key provided: sk-abcdef0123456789abcd"),
        key="sk-abcdef0123456789abcd",
    )
    assert "sk-abcdef" not in error.message + error.hint
    assert "not accepted" in error.hint


def test_an_unknown_model_error_lists_the_existing_ones():
    answer = status(404, "The model `tiny` does not exist", code="model_not_found")
    with playing(answer, models=("alpha", "beta")) as played:
        made, _ = server(played.url)
        with pytest.raises(ModelNotFound, match="'tiny'") as caught:
            made.complete(ASK)
    assert "alpha, beta" in caught.value.hint
    assert caught.value.details["served"] == ["alpha", "beta"]


def test_a_missing_v1_in_the_address_is_reported():
    with playing(says("x")) as played:
        made, _ = server(played.url.removesuffix("/v1"))
        with pytest.raises(ModelUrlWrong) as caught:
            made.complete(ASK)
    assert f"set model.base_url to {'that'}" in caught.value.hint
    assert played.url in caught.value.hint


def test_a_server_of_the_other_dialect_is_reported():
    with playing(status(404, "Not Found"), models=("tiny",)) as played:
        made, _ = server(played.url)
        with pytest.raises(ModelUrlWrong) as caught:
            made.complete(ASK)
    assert "model.provider" in caught.value.hint


def test_a_key_does_not_follow_a_redirect():
    with playing(says("caught")) as other:
        answer = raw(b"", 307, [("location", f"{other.url}/chat/completions")])
        error, _, _ = failure(ModelUrlWrong, answer, key="k-123")
    assert other.asked == []
    assert "redirect" in error.message


def test_a_missing_server_is_unreachable():
    with playing(says("x")) as played:
        url = played.url
    made, waits = server(url)
    with pytest.raises(ModelUnreachable, match="cannot connect") as caught:
        made.complete(ASK)
    assert caught.value.exit_status == 75
    assert len(waits) == 2


def test_silence_ends_at_the_read_limit_and_is_not_retried():
    began = time.monotonic()
    _, played, _ = failure(ModelUnreachable, hangs(HANG_SECONDS), read_seconds=0.3)
    assert time.monotonic() - began < PATIENCE_SECONDS
    assert len(played.bodies) == 1


def test_a_header_that_drips_ends_at_the_total_limit():
    began = time.monotonic()
    error, _, _ = failure(ModelUnreachable, drips(HANG_SECONDS), total_seconds=0.5)
    assert time.monotonic() - began < PATIENCE_SECONDS
    assert "model.total_seconds" in error.hint


def test_a_stream_that_drips_ends_at_the_total_limit():
    def answer(handler):
        start_stream(handler)
        for _ in range(20 * HANG_SECONDS):
            event(handler, chunk("a"))
            time.sleep(0.05)

    pieces: list[str] = []
    with playing(answer) as played:
        made, _ = server(played.url, total_seconds=0.5)
        began = time.monotonic()
        with pytest.raises(ModelUnreachable):
            made.complete(ASK, on_text=pieces.append)
    assert time.monotonic() - began < PATIENCE_SECONDS
    assert pieces


def test_a_broken_stream_is_not_retried_after_text_was_shown():
    pieces: list[str] = []
    with playing(breaks_off("one", " two"), says("anew")) as played:
        made, _ = server(played.url)
        with pytest.raises(ModelUnreachable, match="middle of the answer"):
            made.complete(ASK, on_text=pieces.append)
    assert pieces == ["one", " two"]
    assert len(played.bodies) == 1


def test_a_broken_stream_is_retried_before_any_text():
    pieces: list[str] = []
    with playing(breaks_off(), says("it is")) as played:
        made, _ = server(played.url)
        assert made.complete(ASK, on_text=pieces.append).text == "it is"
    assert "".join(pieces) == "it is"
    assert len(played.bodies) == 2


@pytest.mark.parametrize("streamed", [True, False])
def test_a_flood_is_not_read_to_its_end(streamed):
    with playing(floods(streamed)) as played:
        made, _ = server(played.url)
        with pytest.raises(ModelAnswerInvalid, match="longer than is taken") as caught:
            made.complete(ASK, on_text=(lambda _: None) if streamed else None)
    assert "model.max_answer_kb" in caught.value.hint


def test_an_error_inside_a_stream_is_reported():
    def answer(handler):
        start_stream(handler)
        event(handler, {"error": {"message": "context length exceeded", "code": 400}})

    with playing(answer) as played:
        made, _ = server(played.url)
        with pytest.raises(ModelContextTooLong):
            made.complete(ASK, on_text=lambda _: None)


def test_a_server_that_does_not_stream_is_supported():
    def answer(handler):
        choice = {"message": {"content": "whole"}, "finish_reason": "length"}
        reply(handler, 200, {"choices": [choice]})

    pieces: list[str] = []
    with playing(answer) as played:
        made, _ = server(played.url)
        found = made.complete(ASK, on_text=pieces.append)
    assert (pieces, found.text, found.finish, found.model) == (["whole"], "whole", "length", "tiny")


def test_a_lone_surrogate_does_not_leave_the_client():
    body = b'{"choices": [{"message": {"content": "a\\ud800b"}, "finish_reason": "stop"}]}'
    with playing(raw(body)) as played:
        made, _ = server(played.url)
        made.complete(ASK).text.encode("utf-8")


def test_the_models_are_listed_with_their_context():
    rows = [{"id": "a", "max_model_len": 4096}, {"id": "b", "meta": {"n_ctx": 8192}}, {"id": "c"}]
    with playing(says("x"), models=rows) as played:
        made, _ = server(played.url)
        assert [(m.name, m.context) for m in made.models()] == [("a", 4096), ("b", 8192), ("c", 0)]


def test_an_invalid_list_of_models_is_an_error():
    with playing(says("x"), models=None) as played:
        made, _ = server(played.url)
        with pytest.raises(ModelError):
            made.models()


def test_an_exception_of_the_caller_s_callback_is_passed_on():
    def tell(_):
        raise RuntimeError("the terminal is gone")

    with playing(says("it is so")) as played:
        made, _ = server(played.url)
        with pytest.raises(RuntimeError, match="terminal"):
            made.complete(ASK, on_text=tell)


def test_requests_to_this_machine_use_no_proxy(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with playing(says("direct")) as played:
        made, _ = server(played.url)
        assert made.complete(ASK).text == "direct"
