"""A candidate may send its host any bytes (spec §17). Only a whole, ordered answer behind the
secret make a success, nothing raises, and no more is kept than may be.

The first byte says what is sent and where, the second in pieces of which size; the rest is it.
"""

import json
import marshal
import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from io import FileIO

from pulsus.config.settings import SandboxConfig
from pulsus.core.sandbox import job
from pulsus.core.sandbox.harness import wire_protocol
from pulsus.core.sandbox.harness.audit_hook import MOST
from pulsus.core.sandbox.observation import observed_effects
from pulsus.core.sandbox.output_channels import Pipes
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.sandbox.sandbox_session import MESSAGE_BYTES, SandboxSession
from pulsus.errors import PulsusError
from pulsus.execution import run_report
from pulsus.execution.workers.child_pipes import Bounds, Pump
from tests.fuzz import attempt, harmless
from tests.ranking import tool

WORDS = (
    *(b'"ok": true', b'"result":', b'"type": "ValueError"', b'"own": true', b'"file":'),
    *(b'{"phase": "ready"}\n', b'{"phase": "imported", "ms": 1}\n', b'"phase": "done"'),
    *(b'{"value": 1, "threads": [], "phase": "returned"}\n', b'{"phase": "joined"}\n'),
    *(b'{"ms": 2, "threads": ["x"], "phase": "done"}\n', b'"phase": "failed"'),
    *(b'"phase": "unsafe"', b'"kind":', b'"message":', b'"trace":', b'"stage":', b'"value":'),
    *(b'"ms":', b"NaN", b"Infinity", b"1e999", b"-0.0", b"\\ud800", b"\\u001b[2J", b"\\u0000"),
    *(b"0123456789abcdef0123456789abcdef ", b"p /etc/passwd\n", b"h 10.0.0.1:80\n", b"c sh\n"),
    *(
        b"p ~/x\n",
        b"p /tmp/../etc\n",
        b"\x1b]0;",
        b"\xff\xfe",
        b"[[[[[[[[",
        b'{"a":',
    ),
)
NONCE = "0123456789abcdef" * 2
LIMITS = replace(
    SandboxLimits.of(SandboxConfig(), import_seconds=60.0),
    run_seconds=60.0,
    result_bytes=2048,
    output_bytes=512,
)
_CAP = LIMITS.result_bytes + MESSAGE_BYTES
_EFFECT_BYTES = 1024
KNOWS_SECRET, PRINTS, REPORTS, FLOODS = 1, 2, 4, 8
with FileIO("/dev/null") as _NULL:  # a pipe that nobody reads
    pass
_TOOL = tool("d/a/t", "Sum.")
_NO_SUCH_PID = 2**31 - 1
_MOST_PIECES = 16  # each is a turn of the loop


def fuzz_one(data):
    mode, size, body = (*data[:2], *b"\0\0")[0], data[1:2], data[2:]
    sent = _behind_secret(body) if mode & KNOWS_SECRET else body
    if mode & FLOODS and sent:
        sent *= 2 * _CAP // len(sent) + 1
    piece = max(1 + 64 * (size or b"\1")[0], len(sent) // _MOST_PIECES + 1)
    outcome, pipes = _played(_Sends(sent, piece, mode))
    _holds(outcome, sent)
    for channel in pipes.all():
        assert len(channel.data) <= channel.keep
    _reported(body)
    _answered(body)
    _ordered(body)


def _behind_secret(body):
    return b"".join(f"{NONCE} ".encode() + line for line in body.splitlines(keepends=True))


@dataclass
class _Sends:
    """A sandbox that sends the given bytes, piece by piece, and ends."""

    sent: bytes
    size: int
    mode: int
    pid: int = _NO_SUCH_PID
    returncode: int | None = None
    fds: list[int] = field(default_factory=list)

    def poll(self):
        piece = self.sent[: self.size]
        if not piece:
            self.returncode = 0
            return 0
        with suppress(BlockingIOError):  # a pipe is full: it is read before the next try
            self.sent = self.sent[os.write(self.fds[0], piece) :]
            for fd in self.fds[1:]:
                os.write(fd, piece)
        return None

    def wait(self):
        return 0


class _Unwatched(SandboxSession):
    """A session without a process to watch."""

    def _start_watching(self, calls):
        return True


def _played(process):
    with ExitStack() as stack:
        pipes = Pipes.open(stack, _CAP, _EFFECT_BYTES, LIMITS.output_bytes)
        others = {PRINTS: (pipes.stdout, pipes.stderr), REPORTS: (pipes.effects,)}
        used = [pipes.result, *(c for bit, cs in others.items() if process.mode & bit for c in cs)]
        for channel in used:
            fd = os.dup(channel.theirs.fileno())
            stack.callback(os.close, fd)
            os.set_blocking(fd, False)
            process.fds.append(fd)
        session = _Unwatched(process, pipes, LIMITS, NONCE)
        try:
            session.loop()
        finally:
            session.end()
        return session.outcome(), pipes


def _holds(outcome, sent):
    if outcome.status == "ok":
        *lines, _ = sent.split(b"\n")
        said = [json.loads(line.removeprefix(f"{NONCE} ".encode())) for line in lines]
        assert all(line.startswith(NONCE.encode()) for line in lines)
        phases = [message["phase"] for message in said]
        assert phases[:3] == ["ready", "imported", "returned"]
        assert phases[3:-1] == ["joined"] * (len(phases) - 4)
        assert phases[-1] == "done"
        assert outcome.value == said[2].get("value")
        wire_protocol.check_json(outcome.value)
        json.dumps(outcome.value, allow_nan=False).encode("utf-8")
    else:
        assert outcome.message
        assert outcome.value is None
    assert len(outcome.message) < 400
    assert harmless(outcome.message)
    assert len(outcome.trace) <= _CAP
    assert len(outcome.output) <= 2 * LIMITS.output_bytes + 40
    for text in (outcome.trace, outcome.output):
        assert harmless(text, lines=True)
    assert 0 <= outcome.run_ms < 10**9
    assert 0 <= outcome.import_ms < 10**9


def _reported(body):
    found = observed_effects.parse_effects(body, len(body))
    for kind in (found.paths, found.hosts, found.commands):
        assert len(kind) <= MOST + 1
        assert all(item and harmless(item) for item in kind)
    assert observed_effects.join_effects((found, found)) == found


def _answered(body):
    """Read any bytes as the report of a promoted tool, which can overwrite its own report."""
    pump = Pump(_NULL, (_NULL, _NULL), _NULL, Bounds(1, 1, 1.0), answer=body, ended=True)
    value, failure = attempt(
        PulsusError, run_report.parse_report, _TOOL, pump, 0, 1.0, {"path": "/a"}
    )
    if failure:
        assert failure.message
        assert failure.hint
    else:
        assert json.loads(body) == {**json.loads(body), "ok": True, "result": value}


def _ordered(body):
    """A job with such inputs arrives as it was sent, and such a result goes back as it is."""
    try:
        value = json.loads(body)
        wire_protocol.check_json(value)
    except (ValueError, RecursionError):
        return
    assert json.loads(wire_protocol.encode(value)) == value
    inputs = value if isinstance(value, dict) else {"x": value}
    task = job.Job(body, "x", "run", inputs)
    order = job.to_harness(task, NONCE, (3, 4, 5), LIMITS.inside(), {}, {})
    assert marshal.loads(marshal.dumps(order)) == order
    assert order["inputs"] == inputs
