"""Containers of this machine, through the client of Docker or Podman.

Docker is asked if it is installed, else Podman. An engine that cannot be reached is EngineSilent
with the reason. A command in a container (`docker exec`) runs in `execution/run_gated_command.py`
as any other. At most 500 containers are listed. The agent's tool is `agent/tools/docker.py`.
Effect: starts that client.
"""

from __future__ import annotations

import json
from typing import Final

from pulsus.commands.execution_plan import find_program
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.infra.inventory import ResourceStatus
from pulsus.infra.local_command import LocalCommands, failure_line, output_text

CONTAINER_ACTIONS: Final = ("start", "stop", "restart")
ENGINES: Final = ("docker", "podman")

_MOST_CONTAINERS: Final = 500
_SHORT_ID: Final = 12


class EngineSilent(Exception):
    """No container engine can be asked; the text says why."""


@dataclass(frozen=True, slots=True)
class ContainerState:
    """A container as its engine lists it. `id` has 12 digits."""

    id: str
    name: str
    image: str
    status: ResourceStatus
    state: str
    ports: str


@dataclass(frozen=True, slots=True)
class ContainerEngine:
    """The engine whose client is installed: Docker, else Podman."""

    commands: LocalCommands

    def client(self) -> str:
        """Return the name of the client. Raises EngineSilent if none is installed."""
        for name in ENGINES:
            if find_program(name) is not None:
                return name
        raise EngineSilent("neither docker nor podman is installed")

    def containers(self) -> tuple[ContainerState, ...]:
        """Return all containers, also those that are stopped. Raises EngineSilent."""
        text = self.ask("ps", "--all", "--no-trunc", "--format", "{{json .}}")
        rows = (_read_object(line) for line in text.splitlines()[:_MOST_CONTAINERS])
        return tuple(_read_container(row) for row in rows if row)

    def inspect(self, name: str) -> dict[str, JsonValue]:
        """Return the engine's own record of a container. Raises EngineSilent."""
        records = json.loads(self.ask("inspect", "--type", "container", "--", name))
        return records[0] if isinstance(records, list) and records else {}

    def ask(self, *words: str, seconds: float = 5.0) -> str:
        """Return what the client prints. Raises EngineSilent if it fails."""
        client = self.client()
        result = self.commands.run((client, *words), seconds=seconds)
        if result is None:
            raise EngineSilent(f"{client} cannot be started")
        if result.status != 0:
            raise EngineSilent(f"{client}: {failure_line(result)}")
        return output_text(result)


def _read_object(line: str) -> dict[str, JsonValue]:
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


def _read_container(row: dict[str, JsonValue]) -> ContainerState:
    names = row.get("Names", "")
    name = str(names[0] if isinstance(names, list) and names else names).split(",")[0]
    state = str(row.get("State", "")).lower()
    return ContainerState(
        id=str(row.get("ID") or row.get("Id") or "")[:_SHORT_ID],
        name=name.lstrip("/"),
        image=str(row.get("Image", "")),
        status=_container_status(state, str(row.get("Status", ""))),
        state=str(row.get("Status") or state),
        ports=str(row.get("Ports") or ""),
    )


def _container_status(state: str, text: str) -> ResourceStatus:
    if state in {"running", "restarting", "paused"}:
        return "running" if state == "running" else "failed" if state == "restarting" else "stopped"
    return "failed" if state == "dead" or "unhealthy" in text else "stopped"
