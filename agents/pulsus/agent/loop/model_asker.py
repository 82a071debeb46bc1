"""One question to the model: it ends with the run's time, and at once if the run is stopped.

Secrets are removed from a question, and its token budget is checked, in `llm/budgeted_model.py`. A
busy or absent server is retried once here, before the deadline of the run. Retries of one HTTP
request are in `llm/http/retries.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

import anyio

from pulsus.agent.agent_events import EmitEvent, agent_event
from pulsus.agent.loop.model_thread import run_abandonable
from pulsus.agent.loop.run_ports import RunRecorder
from pulsus.agent.model.proposal import TurnModel, TurnProposal, TurnRequest
from pulsus.core.compose.model_protocol import OnText
from pulsus.errors import ModelBudget, ModelError
from pulsus.execution.cancellation import Cancellation

_AWAY: Final = 75
"""The exit status of failures that pass: the model's server is busy or away."""


class AskerPorts(Protocol):
    """The ports of the loop that a question uses."""

    @property
    def emit(self) -> EmitEvent: ...
    @property
    def record(self) -> RunRecorder: ...
    @property
    def clock(self) -> Callable[[], float]: ...


class ModelAsker:
    """Asks the model of one run."""

    def __init__(self, model: TurnModel, cancellation: Cancellation, ports: AskerPorts) -> None:
        self._model, self._cancellation, self._ports = model, cancellation, ports

    async def ask(self, request: TurnRequest, deadline: float) -> TurnProposal | None:
        """Return the model's proposal, or None if the run was stopped while the model was asked.

        A failure is tried once more if nothing was shown yet. Raises ModelError, and TimeoutError
        at the deadline, a time of the run's clock.
        """
        shown = False

        def show(piece: str) -> None:
            nonlocal shown
            shown = True
            self._ports.emit(agent_event("agent_token", text=piece))

        for attempt in (1, 2):
            left = deadline - self._ports.clock()
            try:
                with anyio.fail_after(max(left, 0.0)):
                    return await self._ask_once(request, show)
            except ModelBudget:
                raise
            except ModelError as error:
                if attempt == 2 or shown or error.exit_status != _AWAY:
                    raise
                self._ports.record.event("model_retry", decision=error.code, artifacts=[])
        raise AssertionError("the second attempt returns or raises")

    async def _ask_once(self, request: TurnRequest, show: OnText) -> TurnProposal | None:
        """Return the proposal, or None if the run was stopped meanwhile. Raises ModelError."""
        waited_for = True

        def show_now(piece: str) -> None:
            if waited_for:  # a model that was given up may still send text
                show(piece)

        try:
            return await run_abandonable(
                lambda: self._model.propose(request, show_now), self._cancellation
            )
        finally:
            waited_for = False
