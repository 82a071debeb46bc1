"""Replay a recorded agent run: decide its calls again, by the rules of now (spec §11; §32).

`pulsus runs replay` shows it for a run of the agent; that of a plan is
`routing/plans/replay_run.py`. Inputs are recorded by `agent/loop/verdict_inputs.py`, and the trace
is written by `core/telemetry/logging.py`. A digest that does not fit means that the trace was
changed, or that it held a secret.

The trace has the inputs of each verdict, secrets replaced by placeholders, and a keyed digest of
the inputs as they were. Equal digests mean that the inputs are whole: then the verdict is derived
again. Otherwise it is only compared by digest, and replay says so. Effect: makes the key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

from pulsus.agent.loop.call_draft import CallDraft, RunCall
from pulsus.agent.loop.check_calls import CallRules
from pulsus.agent.loop.run_ports import RunRecorder
from pulsus.agent.loop.verdict_inputs import derive_verdict, session_verdict
from pulsus.agent.tool_protocol import CallOutcome, ProposedCall
from pulsus.core.types import JsonValue
from pulsus.errors import storage_errors
from pulsus.fast_dataclass import dataclass
from pulsus.gates.gate_answer import GateAnswer
from pulsus.gates.tool_response import ToolResponse

VERDICT: Final = "verdict"
_MOST_INPUTS: Final = 40_000
"""Characters of inputs that a line of the trace holds. Longer ones are kept as their digest."""
_NO_READ: Final = "ACTION_NOT_ALLOWED"

ReplayState = Literal["same", "changed", "digest"]


@dataclass(frozen=True, slots=True)
class ReplayedVerdict:
    """One step of the trace. "digest" says that it could only be compared by its digest.

    `recorded` and `now` are verdicts: "run", "ask", "known", or the code of a refusal. `why` says
    why the verdict was not derived again.
    """

    step: int
    tool: str
    state: ReplayState
    recorded: str
    now: str
    why: str = ""


class KeyedRecord:
    """A RunRecord whose verdicts carry the keyed digest of their inputs."""

    def __init__(self, record: RunRecorder, key: bytes) -> None:
        self._record, self._key = record, key

    def event(self, phase: str, **fields: object) -> None:
        """Append one event."""
        if phase == VERDICT:
            fields["inputs_digest"] = _digest(self._key, fields)
            if len(json.dumps(fields["inputs"])) > _MOST_INPUTS:
                fields["inputs"] = None
        self._record.event(phase, **fields)


def replay_key(state_dir: Path) -> bytes:
    """Return the key of this project's digests. It is made once. Raises StorageUnwritable."""
    path = state_dir / "replay.key"
    with storage_errors(path):
        state_dir.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
            with os.fdopen(os.open(path, flags, 0o600), "w", encoding="ascii") as file:
                file.write(secrets.token_hex(32))
        return path.read_bytes()


def replay_trace(
    events: Sequence[Mapping[str, Any]],
    rules: CallRules,
    judge: Callable[[str], GateAnswer],
    key: bytes,
) -> tuple[ReplayedVerdict, ...]:
    """Return each recorded verdict beside that of now. `judge` is the command gate."""
    quiet = replace(rules, control=NoControl())
    return tuple(
        _replay(number, event, quiet, judge, key)
        for number, event in enumerate(events, 1)
        if event.get("phase") == VERDICT
    )


def _replay(
    step: int,
    event: Mapping[str, Any],
    rules: CallRules,
    judge: Callable[[str], GateAnswer],
    key: bytes,
) -> ReplayedVerdict:
    tool, recorded = str(event.get("tool")), str(event.get("decision"))

    def by_digest(why: str) -> ReplayedVerdict:
        return ReplayedVerdict(step, tool, "digest", recorded, recorded, why)

    if event.get("inputs") is None:
        return by_digest("its inputs are too long for the trace")
    if not hmac.compare_digest(_digest(key, event), str(event.get("inputs_digest"))):
        return by_digest("its inputs hold a secret, or the trace was changed")
    if recorded == "known":
        return by_digest("it was answered from facts, which the trace does not keep")
    call = ProposedCall("replay", tool, event["args"])
    checked = derive_verdict(rules, call, event["inputs"])
    session = session_verdict(checked)
    if session != event.get("session"):
        now = recorded if session == "allowed" and event.get("session") == "allowed" else session
        return ReplayedVerdict(step, tool, "changed", recorded, now)
    if not isinstance(checked, RunCall):
        return ReplayedVerdict(step, tool, "same", recorded, recorded)
    command = _command_verdict(checked.draft, judge)
    if recorded in ("run", "ask") and command == _NO_READ:
        return ReplayedVerdict(step, tool, "changed", recorded, command)
    if recorded == _NO_READ and command == "run":
        return ReplayedVerdict(step, tool, "changed", recorded, command)
    if recorded == "run" or (recorded == _NO_READ and command):
        return ReplayedVerdict(step, tool, "same", recorded, recorded)
    return by_digest("the control rules decided, by the words and the level of that session")


def _command_verdict(draft: CallDraft, judge: Callable[[str], GateAnswer]) -> str:
    """Return the verdict of the command gate on a read, or an empty text without a command."""
    if not draft.needs.command or draft.kind == "write":
        return ""
    answer = judge(draft.needs.command)
    return "run" if answer.verdict.allow or answer.rewrite else _NO_READ


def _digest(key: bytes, fields: Mapping[str, Any]) -> str:
    plain = {name: fields.get(name) for name in ("tool", "args", "inputs", "decision", "session")}
    text = json.dumps(plain, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


class NoControl:
    """Control rules that let every call pass: only the gates of the session are derived again."""

    def refuse(self, draft: CallDraft) -> ToolResponse | None:
        return None

    def rewrite(self, draft: CallDraft) -> str | None:
        return None

    def invented(self, draft: CallDraft) -> tuple[str, ...]:
        return ()

    def decide(self, draft: CallDraft) -> RunCall:
        return RunCall(draft)

    def hear(self, texts: object) -> None:
        pass

    def learn(self, outcome: CallOutcome) -> None:
        pass


def verdicts_to_json(found: Sequence[ReplayedVerdict]) -> list[JsonValue]:
    """Return the verdicts as JSON values."""
    return [
        {
            "step": each.step,
            "tool": each.tool,
            "state": each.state,
            "recorded": each.recorded,
            "now": each.now,
            "why": each.why,
        }
        for each in found
    ]
