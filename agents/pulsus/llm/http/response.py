"""Read a model's text from an HTTP answer, whole or streamed. Pure but for reading the answer.

A stream that breaks off, an answer that is too long, a web page and text that is no JSON are
refused here. Why an answer ended (finish reason: `length` if it was cut short) is read by each
dialect: `openai_compat.py`, `anthropic.py`, `ollama.py`. `llm/budgeted_model.py` acts on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from pulsus.core.compose.model_protocol import OnText, ServedModel
from pulsus.core.compose.tool_calling_protocol import ToolUse
from pulsus.fast_dataclass import dataclass
from pulsus.llm.http import failures
from pulsus.llm.http.dialect import AnswerChunk, CallAssembly, Dialect
from pulsus.llm.http.exchange import HttpAnswer, WireFailed
from pulsus.llm.http.failures import ServerPlace
from pulsus.llm.http.retries import ExchangeFailure

ERROR_BYTES = 64 * 1024
_MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """An answer that was read to its end: the last values of its chunks, and its calls."""

    last_chunk: AnswerChunk
    calls: tuple[ToolUse, ...]


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

    def heard(self, answer: HttpAnswer, most: int, tell: OnText) -> WholeAnswer:
        """Return the answer, and call `tell` with each piece of its text.

        Text and calls together have at most `most` bytes. Raises ExchangeFailure and WireFailed.
        """
        self.check(answer)
        whole, texts, calls = AnswerChunk(), [], CallAssembly()
        for piece in self._read_chunks(answer):
            whole = whole.then(piece)
            text = _plain_unicode(piece.text)
            most -= len(text.encode("utf-8"))
            for part in piece.calls:
                most -= _CALL_BYTES + len(part.call_id) + len(part.name) + len(part.arguments)
            if most < 0:
                raise WireFailed("too_long", "the answer is longer than is taken")
            self._assemble(calls, piece)
            if text:
                texts.append(text)
                tell(text)
        return WholeAnswer(whole.saying("".join(texts)), calls.whole())

    def _assemble(self, calls: CallAssembly, piece: AnswerChunk) -> None:
        for part in piece.calls:
            try:
                calls.add(
                    replace(
                        part,
                        call_id=_plain_unicode(part.call_id),
                        name=_plain_unicode(part.name),
                        arguments=_plain_unicode(part.arguments),
                    )
                )
            except ValueError as error:
                unread = failures.unreadable_answer(self.place, str(error))
                raise ExchangeFailure(unread) from None

    def _read_chunks(self, answer: HttpAnswer) -> Iterator[AnswerChunk]:
        """Yield the answer piece by piece: one piece if the server does not stream."""
        kind = answer.headers.get("content-type", "")
        if "event-stream" in kind:
            parts = read_events(answer.chunks)
        elif "ndjson" in kind:
            parts = read_json_lines(answer.chunks)
        else:
            text = b"".join(answer.chunks).decode("utf-8", "replace")
            yield self._read_document(text, self.dialect.whole)
            return
        ended = False
        for data in parts:
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


def _plain_unicode(text: str) -> str:
    """Return the text without lone surrogates, which no file and no request could hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


_CALL_BYTES = 16
"""Bytes that each part of a call counts beside its texts, so that empty parts have a limit too."""

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


def read_json_lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield each line of newline-delimited JSON; a last one without a line break is left out.

    Raises WireFailed for a line longer than MAX_EVENT.
    """
    for line in _split_lines(chunks):
        if line.strip():
            yield line.decode("utf-8", "replace")


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


def parse_models(text: str, dialect: Dialect) -> tuple[ServedModel, ...] | None:
    """Return the models in a server's list, or None for another text."""
    try:
        return dialect.served(json.loads(text))
    except _MALFORMED:
        return None
