"""A server on loopback that answers as a model would, from a script: real network, no model."""

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.patience import PATIENCE_SECONDS


@dataclass
class Played:
    """A running server: its address, and the requests it got, in order."""

    url: str
    asked: list = field(default_factory=list)
    """One dict a request: method, path, headers (lower case), body (parsed JSON or None)."""

    @property
    def bodies(self):
        """The documents that were posted."""
        return [one["body"] for one in self.asked if one["method"] == "POST"]


@contextmanager
def playing(*answers, models=("tiny",), base="/v1"):
    """A server that gives one answer a POST, the last one again and again.

    It lists `models` below `base`, and knows no other path than those of the dialects there.
    """
    handler = _handler(answers, models, base)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    played = handler.played
    played.url = f"http://127.0.0.1:{server.server_port}{base}"
    try:
        yield played
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_SECONDS)


def _handler(answers, models, base):
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        played = Played("")

        def log_message(self, *_):
            pass

        def _note(self, body):
            headers = {k.lower(): v for k, v in self.headers.items()}
            self.played.asked.append(
                {"method": self.command, "path": self.path, "headers": headers, "body": body}
            )

        def do_GET(self):
            self._note(None)
            if self.path == f"{base}/models" and models is not None:
                reply(
                    self, 200, {"data": [m if isinstance(m, dict) else {"id": m} for m in models]}
                )
            elif self.path == f"{base}/api/tags" and models is not None:
                reply(self, 200, {"models": [{"name": m, "size": 1} for m in models]})
            else:
                reply(self, 404, {"detail": "Not Found"})

        def do_POST(self):
            size = int(self.headers.get("content-length", 0))
            self._note(json.loads(self.rfile.read(size)))
            known = ("chat/completions", "messages", "api/chat")
            if self.path not in [f"{base}/{each}" for each in known]:
                reply(self, 404, {"detail": "Not Found"})
                return
            answer = left.pop(0) if len(left) > 1 else left[0]
            try:
                answer(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    return Handler


def reply(handler, status, document, headers=()):
    """Send one JSON document, or bytes as they are."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    handler.send_response(status)
    for name, value in headers:
        handler.send_header(name, value)
    if not any(name == "content-type" for name, _ in headers):
        handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def says(text, usage=True, finish="stop"):
    """Answer with this text, streamed word by word if the request asks for a stream."""

    def answer(handler):
        body = handler.played.asked[-1]["body"]
        counts = {"prompt_tokens": 11, "completion_tokens": 7}
        if body["stream"]:
            start_stream(handler)
            for piece in text.split(" "):
                event(handler, chunk(piece if piece == text.split(" ")[0] else " " + piece))
            event(handler, chunk("", finish))
            if usage:
                event(handler, {"choices": [], "model": "tiny-1", "usage": counts})
            handler.wfile.write(b"data: [DONE]\n\n")
            return
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
        document = {"choices": [choice], "model": "tiny-1"}
        reply(handler, 200, document | ({"usage": counts} if usage else {}))

    return answer


def says_anthropic(text):
    """The same in the other dialect."""

    def answer(handler):
        body = handler.played.asked[-1]["body"]
        if not body["stream"]:
            usage = {"input_tokens": 11, "output_tokens": 7}
            content = [{"type": "text", "text": text}]
            document = {"content": content, "model": "tiny-1", "stop_reason": "end_turn"}
            reply(handler, 200, {**document, "usage": usage})
            return
        start_stream(handler)
        usage = {"input_tokens": 11, "output_tokens": 1}
        event(handler, {"type": "message_start", "message": {"model": "tiny-1", "usage": usage}})
        event(handler, {"type": "ping"})
        for piece in text:
            delta = {"type": "text_delta", "text": piece}
            event(handler, {"type": "content_block_delta", "delta": delta})
        delta = {"stop_reason": "end_turn"}
        event(handler, {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}})
        event(handler, {"type": "message_stop"})

    return answer


def calls_openai(*calls, text="", finish="tool_calls", cut=4):
    """Answer with calls (id, tool, arguments text), streamed `cut` characters at a time."""

    def answer(handler):
        body = handler.played.asked[-1]["body"]
        usage = {"prompt_tokens": 11, "completion_tokens": 7}
        if not body["stream"]:
            made = [openai_call(*call) for call in calls]
            message = {"role": "assistant", "content": text or None, "tool_calls": made}
            choice = {"message": message, "finish_reason": finish}
            reply(handler, 200, {"choices": [choice], "model": "tiny-1", "usage": usage})
            return
        start_stream(handler)
        for document in openai_call_events(calls, text, finish, cut):
            event(handler, document)
        event(handler, {"choices": [], "usage": usage})
        handler.wfile.write(b"data: [DONE]\n\n")

    return answer


def openai_call(call_id, tool, arguments):
    """A call in OpenAI's form."""
    function = {"name": tool, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def openai_call_events(calls, text="", finish="tool_calls", cut=4):
    """The events of a stream with calls: the name first, then the arguments piece by piece."""

    def delta(**fields):
        return {"model": "tiny-1", "choices": [{"delta": fields, "finish_reason": None}]}

    yield from (chunk(piece) for piece in text)
    for index, (call_id, tool, arguments) in enumerate(calls):
        begun = {"index": index, **openai_call(call_id, tool, "")}
        yield delta(role="assistant", content=None, tool_calls=[begun])
        for at in range(0, len(arguments), cut):
            part = {"index": index, "function": {"arguments": arguments[at : at + cut]}}
            yield delta(tool_calls=[part])
    yield chunk("", finish)


def calls_anthropic(*calls, text="", cut=4):
    """The same in Anthropic's form."""

    def answer(handler):
        body = handler.played.asked[-1]["body"]
        if not body["stream"]:
            blocks = [{"type": "text", "text": text}] if text else []
            blocks += [
                {"type": "tool_use", "id": one, "name": tool, "input": json.loads(arguments)}
                for one, tool, arguments in calls
            ]
            usage = {"input_tokens": 11, "output_tokens": 7}
            document = {"content": blocks, "model": "tiny-1", "stop_reason": "tool_use"}
            reply(handler, 200, {**document, "usage": usage})
            return
        start_stream(handler)
        for document in anthropic_call_events(calls, text, cut):
            event(handler, document)

    return answer


def anthropic_call_events(calls, text="", cut=4):
    """The events of a stream with a text block and one block for each call."""
    usage = {"input_tokens": 11, "output_tokens": 1}
    yield {"type": "message_start", "message": {"model": "tiny-1", "usage": usage}}
    blocks = [({"type": "text", "text": ""}, "text_delta", "text", text)] if text else []
    for call_id, tool, arguments in calls:
        begun = {"type": "tool_use", "id": call_id, "name": tool, "input": {}}
        blocks.append((begun, "input_json_delta", "partial_json", arguments))
    for index, (begun, kind, key, whole) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        for at in range(0, len(whole), cut):
            delta = {"type": kind, key: whole[at : at + cut]}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": "tool_use" if calls else "end_turn"}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}}
    yield {"type": "message_stop"}


def says_ollama(text="", *calls, done="stop"):
    """Answer as Ollama does: newline-delimited JSON if the request asks for a stream."""

    def answer(handler):
        body = handler.played.asked[-1]["body"]
        documents = list(ollama_lines(text, calls, done))
        if not body["stream"]:
            made = [each for line in documents for each in line["message"].get("tool_calls", [])]
            message = {"role": "assistant", "content": text, "tool_calls": made}
            reply(handler, 200, {**documents[-1], "message": message})
            return
        start_stream(handler, "application/x-ndjson")
        for document in documents:
            handler.wfile.write(json.dumps(document).encode() + b"\n")
            handler.wfile.flush()

    return answer


def ollama_lines(text, calls, done="stop"):
    """The lines of a stream: the text word by word, each call whole, and the counts."""

    def line(content, **fields):
        message = {"role": "assistant", "content": content, **fields}
        return {"model": "tiny:1b", "created_at": "2026-03-01T00:00:00Z", "message": message}

    for n, word in enumerate(text.split(" ") if text else ()):
        yield {**line(f" {word}" if n else word), "done": False}
    for tool, arguments in calls:
        call = {"function": {"name": tool, "arguments": arguments}}
        yield {**line("", tool_calls=[call]), "done": False}
    counts = {"prompt_eval_count": 11, "eval_count": 7, "total_duration": 5}
    yield {**line(""), "done": True, "done_reason": done, **counts}


def status(number, message="", headers=(), **fields):
    """A failure with its message."""
    error = {"message": message, **fields}
    return lambda handler: reply(handler, number, {"error": error}, headers)


def raw(body, code=200, headers=(("content-type", "text/html"),)):
    """Any bytes."""
    return lambda handler: reply(handler, code, body, headers)


def breaks_off(*pieces):
    """A stream that ends in the middle."""

    def answer(handler):
        start_stream(handler)
        for piece in pieces:
            event(handler, chunk(piece))
        handler.close_connection = True

    return answer


def hangs(seconds=5.0):
    """No answer for a while."""

    def answer(handler):
        time.sleep(seconds)
        handler.close_connection = True

    return answer


def drips(seconds=5.0, every=0.05):
    """A header that never ends, one byte after the other."""

    def answer(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            handler.wfile.write(b"a")
            handler.wfile.flush()
            time.sleep(every)
        handler.close_connection = True

    return answer


def floods(streamed, megabytes=200):
    """Far more than anybody wants, without saying how much; or saying it is little."""

    def answer(handler):
        handler.send_response(200)
        kind = "text/event-stream" if streamed else "application/json"
        handler.send_header("content-type", kind)
        handler.end_headers()
        block = b"data: " + json.dumps(chunk("x" * 60_000)).encode() + b"\n\n"
        for _ in range(megabytes * 1_000_000 // len(block)):
            handler.wfile.write(block if streamed else b" " * len(block))
        handler.close_connection = True

    return answer


def start_stream(handler, kind="text/event-stream"):
    """The head of a stream that ends with the connection."""
    handler.send_response(200)
    handler.send_header("content-type", kind)
    handler.end_headers()
    handler.close_connection = True


def event(handler, document):
    """One event."""
    handler.wfile.write(b"data: " + json.dumps(document).encode() + b"\n\n")
    handler.wfile.flush()


def chunk(text, finish=None):
    """A piece in OpenAI's form."""
    return {
        "model": "tiny-1",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}],
    }
