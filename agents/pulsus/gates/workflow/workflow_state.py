"""The FSM (finite state machine) of a session: its states and what each lets happen (§7, §8).

This is the rule that each change is verified: after a write (VERIFYING) there is no answer and no
other write before a read of the same resource (`may_answer`, `may_run`). RESOLVING → READING →
WRITING → VERIFYING → READING. The state is computed from what is open, so no flag can stay behind
after a cycle. Every function is pure. A write without a discovered resource, a write after an
unverified one, and an answer without verification are blocked here (FSM_BLOCKED). If a read shows
what was written is found in `gates/subjects/command_subjects.py`; `agent/verify_without_model.py`
verifies when the model has not.

Gate 1 is asked by `agent/loop/check_calls.py`, gate 2 by `agent/loop/agent_loop.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass, replace
from pulsus.gates.tool_descriptors import CallKind
from pulsus.gates.tool_response import ToolResponse, tool_blocked

WorkflowName = Literal["RESOLVING", "READING", "WRITING", "VERIFYING"]
Required = Literal["discover", "verify"]


@dataclass(frozen=True, slots=True)
class RunningWrite:
    """A write that was let through and has not ended: its tool and the ids of its resources.

    `subjects` are the names of the things inside them that it changes, if its words say so.
    """

    tool: str
    resources: tuple[str, ...]
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnverifiedWrite:
    """A resource that was written and not read since. `ended` is in seconds, monotonic.

    With `subjects` only a read that shows one of them verifies the write: a machine has many parts.
    """

    resource_id: str
    tool: str
    ended: float
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkflowState:
    """The state of a session.

    `found` is True once a call found or read something. `unverified` are written resources that no
    read has confirmed, in the order of their writes. `writes` counts the writes that ended since
    the last reset.
    """

    found: bool = False
    running: RunningWrite | None = None
    unverified: tuple[UnverifiedWrite, ...] = ()
    writes: int = 0

    @property
    def name(self) -> WorkflowName:
        """Return the state's name."""
        if self.running is not None:
            return "WRITING"
        if self.unverified:
            return "VERIFYING"
        return "READING" if self.found else "RESOLVING"

    def may_run(self, kind: CallKind) -> bool:
        """Return True if gate 1 lets a call of this kind run. Repeating a call changes nothing."""
        return kind != "write" or self.name == "READING"

    def may_answer(self) -> bool:
        """Return True if gate 2 lets the session give its final answer."""
        return self.running is None and not self.unverified

    def after_read(
        self,
        kind: CallKind,
        read: Iterable[str],
        *,
        started: float,
        single: bool = False,
        subjects: Iterable[str] = (),
        within: Iterable[str] = (),
    ) -> WorkflowState:
        """Return the state after a call of kind "resolve" or "read" that ran and succeeded.

        `read` are the ids of the resources whose state it showed. A written resource counts as
        verified if the call started later than the write ended. Of the calls that find resources,
        only one that asked for a `single` resource verifies. Do not call this for an answer from
        known facts, a refusal or a failure.

        `subjects` are the names of what the call showed. `within` are the ids of the machines that
        contain the shown resources: a service that has the name of a subject shows it.

        Raises ValueError for a write.
        """
        if kind == "write":
            raise ValueError("a write ends with after_write")
        shown = set(read) if kind == "read" or single else set()
        around = set(within) if shown else set()
        named = set(subjects)
        still_open = tuple(
            write
            for write in self.unverified
            if started <= write.ended or not _shows(write, shown, around, named)
        )
        return replace(self, found=True, unverified=still_open)

    def begin_write(
        self, tool: str, resources: Iterable[str], subjects: Iterable[str] = ()
    ) -> WorkflowState:
        """Return the state while an allowed write on `resources` (ids) runs.

        `subjects` are the names of what it changes inside them, the one to read first.

        Raises ValueError without a resource, because no read could verify such a write.
        """
        ids = tuple(dict.fromkeys(resources))
        if not ids or not all(ids):
            raise ValueError(f"the write of {tool} names no resource, so no read could verify it")
        return replace(self, running=RunningWrite(tool, ids, tuple(subjects)))

    def after_write(
        self, wrote: Iterable[str] = (), *, ended: float, changed: bool = True
    ) -> WorkflowState:
        """Return the state after the running write has ended.

        Its resources, and those of `wrote`, now wait for a read. `changed` is False only for a
        write that had no effect for certain. One that failed half-way waits for a read too.

        Raises ValueError if no write is running.
        """
        if self.running is None:
            raise ValueError("no write is running")
        if not changed:
            return replace(self, running=None)
        ids = dict.fromkeys((*self.running.resources, *filter(None, wrote)))
        earlier = tuple(write for write in self.unverified if write.resource_id not in ids)
        tool, subjects = self.running.tool, self.running.subjects
        new = tuple(UnverifiedWrite(one, tool, ended, subjects) for one in ids)
        return WorkflowState(True, None, earlier + new, self.writes + 1)

    def reset(self, *, keep_found: bool) -> WorkflowState:
        """Return the first state of a new episode: READING if resources remain, else RESOLVING.

        Call it through `SessionGates.reset`, which resets the resources as well.
        """
        return WorkflowState(found=keep_found)


def refuse_call(
    state: WorkflowState, tool: str, kind: CallKind, targets: Iterable[str] = ()
) -> ToolResponse | None:
    """Return the refusal of gate 1, or None if the call may go on.

    `targets` are the resources as the call names them.
    """
    if state.may_run(kind):
        return None
    name = state.name
    if name == "RESOLVING":
        target = next(iter(targets), "")
        return _blocked(
            state,
            tool,
            "discover",
            target,
            f"{tool} may change something, and no resource was discovered in this session",
            "Use pulsus_query action=search to discover the resource, then retry",
        )
    resource, writer, subject = _open_write(state)
    seen = "is still running" if name == "WRITING" else "was not verified"
    return _blocked(
        state,
        tool,
        "verify",
        resource,
        f"{tool} may change something, but the write of {writer} to {resource} {seen}",
        f"{_verifying_step(resource, subject)}, then retry",
        subject,
    )


def refuse_answer(state: WorkflowState) -> ToolResponse | None:
    """Return the refusal of gate 2, or None if the session may give its final answer."""
    if state.may_answer():
        return None
    resource, writer, subject = _open_write(state)
    return _blocked(
        state,
        writer,
        "verify",
        resource,
        f"the write of {writer} to {resource} was not verified",
        f"{_verifying_step(resource, subject)}, then answer",
        subject,
    )


def verification_hint(state: WorkflowState) -> dict[str, JsonValue]:
    """Return what a read that verified nothing of an open write has to name; empty without one."""
    if state.running is not None or not state.unverified:
        return {}
    resource, _, subject = _open_write(state)
    step = _verifying_step(resource, subject)
    return {"target_resource_id": resource, "subject": subject, "recovery_hint": step}


def _shows(write: UnverifiedWrite, shown: set[str], around: set[str], named: set[str]) -> bool:
    """Return True if a read of these ids and names shows what was written."""
    if not write.subjects:
        return write.resource_id in shown
    seen = named.intersection(write.subjects)
    if write.resource_id in shown:
        return bool(seen)
    # A guest has files and lists of its own: the same path in it is another file. Only a service
    # has a name without a slash or a blank, and stands for itself.
    return write.resource_id in around and any("/" not in n and " " not in n for n in seen)


def _verifying_step(resource: str, subject: str) -> str:
    if subject:
        return f"Use a read of {resource} that names {subject}, such as a status or the file"
    return f"Use pulsus_query action=get target_resource_id='{resource}' or another read of it"


def _open_write(state: WorkflowState) -> tuple[str, str, str]:
    """Return resource, tool and first subject of the write that is running or not verified."""
    write = state.running
    if write is not None:
        return write.resources[0], write.tool, next(iter(write.subjects), "")
    first = state.unverified[0]
    return first.resource_id, first.tool, next(iter(first.subjects), "")


def _blocked(
    state: WorkflowState,
    tool: str,
    required: Required,
    target: str,
    message: str,
    hint: str,
    subject: str = "",
) -> ToolResponse:
    named: dict[str, JsonValue] = {"subject": subject} if subject else {}
    return tool_blocked(
        "FSM_BLOCKED",
        message,
        state=state.name,
        tool=tool,
        required=required,
        target_resource_id=target,
        recovery_hint=hint,
        auto_recoverable=True,
        **named,
    )
