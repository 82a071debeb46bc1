"""Read a model's text from an HTTP answer, whole or streamed. Pure but for reading the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from pulsus.core.compose.model_protocol import OnText, ServedModel
from pulsus.core.telemetry.sanitize import one_line
from pulsus.fast_dataclass import dataclass
from pulsus.llm.http import failures
from pulsus.llm.http.dialect import AnswerChunk, Dialect
from pulsus.llm.http.exchange import HttpAnswer, WireFailed
from pulsus.llm.http.failures import ServerPlace
from pulsus.llm.http.retries import ExchangeFailure

ERROR_BYTES = 64 * 1024
_MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """Reads answers in a dialect. `place` and `now` are for messages about failures."""

    dialect: Dialect
    place: ServerPlace
    now: Callable[[], datetime]

    def check(self, answer: HttpAnswer) -> None:
        """Raise ExchangeFailure for any status but 200."""
        if answer.status != 200:
            body = read_text(answer, ERROR_BYTES)
            status, headers = answer.status, answer.headers
            raise failures.status_failure(status, headers, body, self.place, self.now())

    def heard(self, answer: HttpAnswer, most: int, tell: OnText) -> AnswerChunk:
        """Return at most `most` bytes of the model's text, and call `tell` with each piece.

        Raises ExchangeFailure and WireFailed.
        """
        self.check(answer)
        whole, texts = AnswerChunk(), []
        for piece in self._read_chunks(answer):
            whole = whole.then(piece)
            text = piece.text.encode("utf-8", "replace").decode("utf-8")
            if not text:
                continue
            most -= len(text.encode("utf-8"))
            if most < 0:
                raise WireFailed("too_long", "the answer is longer than is taken")
            texts.append(text)
            tell(text)
        return whole.saying("".join(texts))

    def _read_chunks(self, answer: HttpAnswer) -> Iterator[AnswerChunk]:
        """Yield the answer piece by piece: one piece if the server does not stream."""
        if "event-stream" not in answer.headers.get("content-type", ""):
            text = b"".join(answer.chunks).decode("utf-8", "replace")
            yield self._read_document(text, self.dialect.whole)
            return
        ended = False
        for data in read_events(answer.chunks):
            if data.strip() == "[DONE]":
                return
            heard = self._read_document(data, self.dialect.piece)
            ended = ended or heard.finish is not None
            yield heard
        if not ended:
            raise WireFailed("dropped", "the stream ended in the middle of the answer")

    def _read_document(
        self, text: str, form: Callable[[Mapping[str, Any]], AnswerChunk]
    ) -> AnswerChunk:
        try:
            document = json.loads(text)
            if not document.get("error"):
                return form(document)
        except _MALFORMED:
            if text.lstrip().startswith("<"):
                web = failures.wrong_url(self.place, "it answers with a web page")
                raise ExchangeFailure(web) from None
            said = failures.quote_answer(text, self.place)
            raise ExchangeFailure(failures.unreadable_answer(self.place, said)) from None
        raise self._failure_in_answer(document["error"], text)

    def _failure_in_answer(self, error: Any, text: str) -> ExchangeFailure:
        """Return the failure in an HTTP 200 answer. Gateways and broken streams send this."""
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
        return failures.status_failure(status, {}, text, self.place, self.now())


def read_text(answer: HttpAnswer, most: int) -> str:
    """Return the body's first `most` bytes. Raises WireFailed."""
    body = bytearray()
    for chunk in answer.chunks:
        body += chunk
        if len(body) > most:
            break
    return bytes(body[:most]).decode("utf-8", "replace")


MAX_EVENT = 1 << 20
"""Bytes of one event. An event with a piece of text has about a hundred."""


def read_events(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield the data of each server-sent event (WHATWG HTML, 9.2).

    An event that the end of the stream cuts off is left out. Raises WireFailed for an event longer
    than MAX_EVENT.
    """
    data: list[str] = []
    size = 0
    for line in _split_lines(chunks):
        if not line:
            if data:
                yield "\n".join(data)
            data, size = [], 0
            continue
        name, _, value = line.partition(b":")
        if name == b"data":
            size += len(value)
            if size > MAX_EVENT:
                raise WireFailed("too_long", "one event of the stream is longer than is taken")
            data.append(value.removeprefix(b" ").decode("utf-8", "replace"))


def _split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines that end with LF or CR LF. No model server ends a line with CR alone."""
    begun: list[bytes] = []
    size = 0
    for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield b"".join((*begun, line)).removesuffix(b"\r")
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
        if size > MAX_EVENT:
            raise WireFailed("too_long", "one event of the stream is longer than is taken")


_CONTEXT = ("n_ctx", "max_model_len", "context_length", "context_window", "max_input_tokens")
"""The keys of llama.cpp, vLLM, OpenRouter, Groq and Anthropic.

`n_ctx_train` of llama.cpp is not among them: the server may run with less.
"""


def parse_models(text: str) -> tuple[ServedModel, ...] | None:
    """Return the models that a server lists under `/v1/models`, or None for another text."""
    try:
        rows = json.loads(text)["data"]
        return tuple(_served_model(row) for row in rows)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _served_model(row: Mapping[str, Any]) -> ServedModel:
    stated = {**(row.get("meta") or {}), **row}
    lengths = [stated[name] for name in _CONTEXT if isinstance(stated.get(name), int)]
    return ServedModel(one_line(str(row["id"])), max([0, *lengths]))
