"""Tool protocol: types between the gates of the agent and its tools (assistant architecture §3).

A tool says first what a call needs, without any effect; gates decide on that alone. Only then it
runs. Types only.

The built-in tools are in `agent/tools/`, the errors of an envelope in `gates/tool_response.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Protocol

from pulsus.agent.call_digest import call_digest
from pulsus.approvals.run_consent import RunConsent
from pulsus.core.types import JsonValue
from pulsus.execution.cancellation import Cancellation
from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.tool_response import ToolResponse


@dataclass(frozen=True)
class ProposedCall:
    """One tool call as a model proposed it. `call_id` is unique in a run."""

    call_id: str
    tool: str
    args: Mapping[str, JsonValue]

    @cached_property
    def digest(self) -> str:
        """Return the identity of the call (`call_digest`). Every gate of a turn asks for it."""
        return call_digest(self.tool, self.args)


@dataclass(frozen=True, slots=True)
class CallNeeds:
    """The facts about a call that gates need, before it runs.

    `action` is the verb that is checked against a resource's allowed actions ("exec", "write",
    "restart", "search", …). `targets` are the names or ids of resources that it acts on, as the
    call names them: all of them have to be resolved for a write. `command` is a shell command that
    it would run. `paths` are absolute paths that it opens. `checks_routing` is True for calls that
    must not reach a parent while its child is meant: file, exec and command calls. `written` are
    values that a write would set, by argument name. `unavailable` is a reason why no backend can
    run the call here (EXECUTION_CONTEXT_UNAVAILABLE), `not_allowed` a reason why the agent may
    never make it (ACTION_NOT_ALLOWED); both are empty for most calls. `only_proposes` is True for a
    write that has no effect of its own: it makes a request, which a person decides later.
    `subjects` are names, beside command and paths, of what it changes or shows inside its targets.
    """

    action: str
    targets: tuple[str, ...] = ()
    command: str = ""
    paths: tuple[str, ...] = ()
    checks_routing: bool = False
    written: Mapping[str, JsonValue] = field(default_factory=dict)
    unavailable: str = ""
    not_allowed: str = ""
    only_proposes: bool = False
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallContext:
    """The circumstances of one allowed call.

    `resources` are the resolved targets, in the order of `CallNeeds.targets`. `cancellation` ends
    the call early. `timeout_s` is the time that is left for it. `consent` says how a call that may
    write, or that needed an approval, was confirmed: a write without it does not run.
    """

    resources: tuple[ResolvedResource, ...]
    cancellation: Cancellation
    timeout_s: float
    consent: RunConsent | None = None


@dataclass(frozen=True, slots=True)
class Suspension:
    """A request that a person decides after the run has ended (contracts, `agent_suspended`)."""

    approval_id: str
    plan_count: int
    message: str


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The result of one call.

    `found` are resources that it discovered; only query and discovery tools, and the prefetcher,
    may return some. `single` is True if the call asked for exactly one resource: that marks an
    explicit access. `read` are the ids of resources whose state the result shows, `wrote` of those
    that it changed. `suspended` ends the run: what it asked for waits for a person. `unchanged` is
    True for a write that failed before its first effect, and only if its tool knows that for
    certain: after a timeout or an unknown failure it stays False, and the write is verified.
    """

    response: ToolResponse
    found: tuple[ResolvedResource, ...] = ()
    single: bool = False
    read: tuple[str, ...] = ()
    wrote: tuple[str, ...] = ()
    suspended: Suspension | None = None
    unchanged: bool = False


class AgentTool(Protocol):
    """One tool of the agent. `needs` is pure; `run` is called in a thread of its own."""

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's name, schema and kinds."""
        ...

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return what the call would do. The arguments fit the schema. Has no effect."""
        ...

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Run the call. A failure is an envelope; any exception counts as EXECUTION_FAILED."""
        ...
