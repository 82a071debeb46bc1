"""Runs of the agent that the server started: their events, for every client that follows one.

Four runs may be at work at the same time; `begin` refuses one more. Each has a thread of its own.
Its events are kept in memory until a while after its end, so that a client whose connection broke
reads on where it stopped. The model gets the last ten exchanges of a conversation again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from pulsus.agent.agent_events import AgentEvent, agent_event
from pulsus.core.types import JsonValue
from pulsus.errors import PulsusError
from pulsus.execution.cancellation import Cancellation
from pulsus.fast_dataclass import dataclass
from pulsus.web.refusals import Refused

MOST_RUNS: Final = 4
"""Runs at the same time."""

_KEPT_RUNS: Final = 50
_MOST_EVENTS: Final = 20_000
_MOST_EARLIER: Final = 10
"""Exchanges of a conversation that the model gets again."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A question to the agent. `user` asks, and is the requester of what needs an approval.

    `earlier` are the questions and answers of the conversation that it goes on with.
    """

    user: str
    question: str
    mentions: tuple[Mapping[str, JsonValue], ...] = ()
    earlier: tuple[tuple[str, str], ...] = ()


class StartAgent(Protocol):
    """Runs one request of the agent to its end, in the calling thread."""

    def __call__(
        self,
        run_id: str,
        request: RunRequest,
        emit: Callable[[AgentEvent], None],
        cancellation: Cancellation,
    ) -> None:
        """Send every event to `emit`. Raises PulsusError for a run that could not start."""
        ...


_ANNOUNCED: Final = frozenset(
    {
        *("agent_start", "approval_needed", "agent_suspended"),
        *("agent_final", "agent_error", "agent_max_turns"),
    }
)
"""Events of a run that every page hears of, by the id of the run only: a run is its user's."""

Announce = Callable[[str, Mapping[str, JsonValue]], None]


class AgentRun:
    """The events of one run. `number` of an event counts from 1, `status` names the last one.

    `answer` is empty until the run has answered.
    """

    def __init__(self, run_id: str, request: RunRequest) -> None:
        self.run_id, self.user, self.question = run_id, request.user, request.question
        self._earlier = request.earlier
        self.status = self.answer = ""
        self.cancellation = Cancellation()
        self._events: list[AgentEvent] = []
        self._changed = threading.Condition()
        self.ended = False

    @property
    def conversation(self) -> tuple[tuple[str, str], ...]:
        """Return the questions and answers up to this run, for a run that follows it."""
        own = ((self.question, self.answer),) if self.answer else ()
        return (*self._earlier, *own)[-_MOST_EARLIER:]

    def add(self, event: AgentEvent) -> None:
        """Add an event, and wake who waits for it."""
        with self._changed:
            if len(self._events) < _MOST_EVENTS:
                self._events.append(event)
            self._changed.notify_all()

    def end(self) -> None:
        """Mark the run as ended."""
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def after(self, number: int, seconds: float) -> list[tuple[int, AgentEvent]]:
        """Return the events after `number`, waiting so long for the first of them.

        An empty list means that none came in time, or that there will be none (`ended`).
        """
        with self._changed:
            if len(self._events) <= number and not self.ended:
                self._changed.wait(seconds)
            return [(n + 1, event) for n, event in enumerate(self._events) if n >= number]


class AgentRuns:
    """All runs of one server."""

    def __init__(self, start: StartAgent, new_id: Callable[[], str], announce: Announce) -> None:
        self._start, self._new_id, self._announce = start, new_id, announce
        self._runs: OrderedDict[str, AgentRun] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, request: RunRequest) -> AgentRun:
        """Start a run, and return it at once. Raises Refused if too many run already."""
        with self._lock:
            running = sum(not each.ended for each in self._runs.values())
            if running >= MOST_RUNS:
                raise Refused(
                    429, "TOO_MANY_RUNS", f"{running} runs are at work", "wait until one has ended",
                    retry_after=10.0,
                )  # fmt: skip
            run = AgentRun(self._new_id(), request)
            self._runs[run.run_id] = run
            for old in [each for each in self._runs.values() if each.ended][:-_KEPT_RUNS]:
                del self._runs[old.run_id]
        threading.Thread(
            target=self._work, args=(run, request), name=f"agent-{run.run_id}", daemon=True
        ).start()
        return run

    def get(self, run_id: str) -> AgentRun:
        """Return a run. Raises Refused for one that is unknown here."""
        run = self._runs.get(run_id)
        if run is None:
            raise Refused(
                404,
                "RUN_NOT_FOUND",
                f"this server has no run {run_id[:80]!r}",
                "the page /runs lists those since its start",
            )
        return run

    def all(self) -> tuple[AgentRun, ...]:
        """Return all runs that are still known, the oldest first."""
        return tuple(self._runs.values())

    def close(self) -> None:
        """Cancel every run that is at work."""
        for run in self.all():
            if not run.ended:
                run.cancellation.cancel("the server ends")

    def _work(self, run: AgentRun, request: RunRequest) -> None:
        def hear(event: AgentEvent) -> None:
            run.status = event.name
            if event.name == "agent_final":
                run.answer = str(event.fields.get("summary", ""))
            run.add(event)
            if event.name in _ANNOUNCED:
                self._announce(event.name, {"run_id": run.run_id})

        try:
            self._start(run.run_id, request, hear, run.cancellation)
        except PulsusError as error:
            hear(agent_event("agent_error", error=f"{error.code}: {error.message}"))
        except BaseException:
            hear(agent_event("agent_error", error="INTERNAL: the run ended with a fault"))
            raise
        finally:
            run.end()
            run.cancellation.close()
