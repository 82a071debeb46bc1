"""The bytes of a model's server (spec §14) are an answer or a documented failure.

The first byte chooses the reader, the second the size of the pieces in which bytes arrive.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from pulsus.core.compose.writing import caller_examples
from pulsus.core.compose.writing import module_from_answer as modules
from pulsus.errors import ModelAnswerInvalid, UsageError
from pulsus.llm.http import response
from pulsus.llm.http.anthropic import Anthropic
from pulsus.llm.http.exchange import HttpAnswer, WireFailed
from pulsus.llm.http.failures import ServerPlace, status_failure, wire_failure
from pulsus.llm.http.ollama import Ollama
from pulsus.llm.http.openai_compat import OpenAi
from pulsus.llm.http.response import AnswerReader
from pulsus.llm.http.retries import ExchangeFailure
from pulsus.llm.structured_answers import find_misfits, json_answer
from tests.fuzz import attempt, harmless

WORDS = (
    *(b"data: ", b"event: message\n", b"\n\n", b"data: [DONE]\n\n", b'"choices":[{', b'"delta":{'),
    *(b'"content":', b'"message":{', b'"finish_reason":"stop"', b'"usage":{', b'"prompt_tokens":'),
    *(b'"completion_tokens":', b'"error":{', b'"code":', b'"type":"content_block_delta"'),
    *(b'"type":"text_delta","text":', b'"type":"message_start"', b'"type":"message_delta"'),
    *(b'"stop_reason":"end_turn"', b'"model":', b"```json\n", b"```python\n", b"```\n"),
    *(b"</think>", b"def run(", b'{"module":', b" -> ", b" => ", b"{}", b"NaN", b"\\ud800"),
    *(b'"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}]',),
    *(b'"type":"content_block_start","index":0,"content_block":{"type":"tool_use"',),
    *(b'"type":"input_json_delta","partial_json":"{"', b'"done":true', b'"message":{"content":"'),
    *(b"model not found", b"context length", b"<html>", b"retry-after", b"insufficient_quota"),
)
_SCHEMA = {
    "type": "object",
    "properties": {"module": {"type": "string"}, "n": {"type": ["integer", "null"]}},
    "required": ["module"],
    "additionalProperties": False,
}
_PLACE = ServerPlace("http://localhost:1/v1", "m", "KEY", has_key=True, redact=lambda text: text)
_NOW = datetime(2026, 3, 1, tzinfo=UTC)
_MOST = 4096


def fuzz_one(data):
    kind, size, data = data[:1], data[1:2] or b"\1", data[2:]
    match kind:
        case b"j":
            _in_words(data.decode("utf-8", "surrogateescape"))
        case b"o":
            _heard(OpenAi(), data, 1 + size[0], "application/json")
        case b"a":
            _heard(Anthropic(), data, 1 + size[0], "text/event-stream")
        case b"w":
            _heard(Anthropic(), data, 1 + size[0], "application/json")
        case b"n":
            _heard(Ollama(), data, 1 + size[0], "application/x-ndjson")
        case b"e":
            _refused(data, 400 + size[0] % 200)
        case _:
            _heard(OpenAi(), data, 1 + size[0], "text/event-stream")


def _pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def _heard(dialect, data, size, kind):
    heard: list[str] = []
    reader = AnswerReader(dialect, _PLACE, lambda: _NOW)
    answer = HttpAnswer(200, {"content-type": kind}, _pieces(data, size))
    found, failure = attempt(
        (ExchangeFailure, WireFailed), reader.heard, answer, _MOST, heard.append
    )
    if failure:
        _told(failure)
    else:
        last = found.last_chunk
        assert last.text == "".join(heard)
        assert last.model is None or isinstance(last.model, str)
        assert last.finish in (None, "stop", "length", "other")
        for call in found.calls:
            assert call.name
            assert (call.name + call.call_id + call.arguments).encode("utf-8")
        _in_words(last.text)
    assert len("".join(heard).encode("utf-8")) <= _MOST
    events = list(response.read_events(_pieces(data, size)))
    assert events == list(response.read_events([data]))
    lines = list(response.read_json_lines(_pieces(data, size)))
    assert lines == list(response.read_json_lines([data]))


def _told(failure):
    failed = wire_failure(failure, _PLACE) if isinstance(failure, WireFailed) else failure
    assert harmless(failed.error.message)
    assert failed.error.hint
    assert failed.wait is None or failed.wait >= 0


def _refused(data, status):
    text = data.decode("utf-8", "replace")
    said = text.partition("\n")[0]
    _told(status_failure(status, {"retry-after": said}, text, _PLACE, _NOW))


def _in_words(text):
    """Read the JSON and the module in a model's text, and the examples in a person's."""
    found, failure = attempt(ModelAnswerInvalid, json_answer, text, _SCHEMA)
    if failure:
        assert harmless(failure.message)
    else:
        assert found in text
        assert not list(find_misfits(json.loads(found), _SCHEMA))
    module = modules.extract_module(text)
    assert module is None or module.strip()
    assert len(caller_examples.find_examples(text)) <= text.count("{")
    given, failure = attempt(UsageError, caller_examples.parse_examples, text)
    assert failure or caller_examples.dump_examples(given)
