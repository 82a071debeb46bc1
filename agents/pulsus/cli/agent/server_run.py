"""`pulsus agent --server URL`: a running server runs the request, and people decide on its page.

If the connection breaks, it is tried again, ten times with a pause of a second. Timeouts and TLS
are in `cli/server_client.py`, the runs of the server in `web/agent_runs.py`.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Final
from urllib.parse import quote

from pulsus import errors
from pulsus.agent.agent_events import EVENT_NAMES, AgentEvent, EmitEvent
from pulsus.cli import console
from pulsus.cli.server_client import ServerClient
from pulsus.errors import PulsusError, ServerUnreachable

_TRIES: Final = 10
_PAUSE_SECONDS: Final = 1.0
STOPPED: Final = 130
_STATUSES: Final = {"agent_final": 0, "agent_max_turns": 1}


class ServerRun:
    """One run at a server. `status` is the exit status so far: 0 answered, 1 or more not."""

    def __init__(self, client: ServerClient, emit: EmitEvent) -> None:
        self._client, self._emit = client, emit
        self._seen = 0
        self.status = 1

    def start(self, request: str) -> None:
        """Start the run and follow it to its end.

        If the connection breaks, the run goes on at the server, and is followed again. Raises
        ServerUnreachable, ServerRefused.
        """
        path, tries = "/api/v1/agent", 0
        body: dict[str, str] | None = {"question": request}
        while True:
            before = self._seen
            try:
                self._hear(path, body)
                return
            except ServerUnreachable:
                tries = 0 if self._seen > before else tries + 1
                if not self._client.run_id or tries >= _TRIES:
                    raise
                time.sleep(_PAUSE_SECONDS)
                path, body = f"{self._path}/events", None

    def stop(self) -> None:
        """Ask the server to stop the run. A server that is away is no error: its run ended."""
        if self._client.run_id:
            with suppress(PulsusError):
                self._client.post(f"{self._path}/stop", {})

    @property
    def _path(self) -> str:
        return f"/api/v1/agent/runs/{quote(self._client.run_id, safe='')}"

    def _hear(self, path: str, body: dict[str, str] | None) -> None:
        for event in self._client.events(path, body, self._seen):
            self._seen = event.number or self._seen
            if event.name not in EVENT_NAMES:
                continue
            self.status = _STATUSES.get(event.name, self.status)
            if event.name == "agent_error":
                self.status = _error_status(str(event.fields.get("error", "")))
            self._emit(AgentEvent(event.name, event.fields))
            if event.name in ("approval_needed", "agent_suspended"):
                card = quote(str(event.fields.get("approval_id", "")), safe="")
                console.note(f"decide it at {self._client.address}/approvals#{card}")


def _error_status(text: str) -> int:
    """Return the exit status of the error code before the first colon; 1 for any other text."""
    code = text.partition(":")[0]
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    known = [each for each in kinds if issubclass(each, PulsusError) and each.code == code]
    return known[0].exit_status if known else 1


def run_on_server(client: ServerClient, request: str, emit: EmitEvent) -> int:
    """Return the exit status of the run; Ctrl-C stops it. Raises as `ServerRun.start`."""
    run = ServerRun(client, emit)
    try:
        run.start(request)
    except KeyboardInterrupt:
        run.stop()
        console.note("stopped")
        return STOPPED
    if run.status == errors.LlmNotConfigured.exit_status:
        console.note("the model is set where `pulsus serve` runs: model.base_url and model.name")
    return run.status
