"""Carry out migrations with `qm` and `pvesh` of this machine (§32.4). Effect: starts programs.

Each command is a list of arguments. No text of a model is ever part of a shell line. An action has
a timeout of 600 s. With `migrations.executor = "dry-run"` nothing is moved.
"""

from __future__ import annotations

import ipaddress
import json
from dataclasses import field
from typing import Any, Final

from pulsus.execution.cancellation import Cancellation
from pulsus.execution.run_gated_command import CommandResult
from pulsus.fast_dataclass import dataclass
from pulsus.infra.local_command import LocalCommands, failure_line, output_text
from pulsus.placement.cluster import PlacementAction

EXECUTION_SECONDS: Final = 600.0
"""The longest time that one action may take (the chapter's limit for a whole approval)."""

_ASK_SECONDS: Final = 15.0
_MISSING: Final = "is not installed on this machine"


@dataclass(frozen=True, slots=True)
class ProxmoxExecutor:
    """Runs `qm migrate` and `pvesh` here. `network` is the CIDR for migrations, or empty.

    Raises ValueError for text that is no network.
    """

    commands: LocalCommands
    network: str = ""
    seconds: float = EXECUTION_SECONDS
    dry: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Check the network: it becomes an argument of a command."""
        if self.network:
            ipaddress.ip_network(self.network)

    def carry_out(self, action: PlacementAction, cancellation: Cancellation) -> str:
        """Run the command of one action. Return why it failed, or an empty text."""
        argv = self.command(action)
        done = self.commands.run(argv, seconds=self.seconds, cancellation=cancellation)
        return _failure(argv[0], done)

    def command(self, action: PlacementAction) -> tuple[str, ...]:
        """Return the argument list of an action."""
        if action.action == "start":
            return ("pvesh", "create", f"/nodes/{action.target}/qemu/{action.vmid}/status/start")
        network = ("--migration_network", self.network) if self.network else ()
        return ("qm", "migrate", str(action.vmid), action.target, "--online", *network)

    def is_there(self, action: PlacementAction, cancellation: Cancellation) -> str:
        """Ask the target node for the state of the guest. Return why it is not running there."""
        path = f"/nodes/{action.target}/qemu/{action.vmid}/status/current"
        argv = ("pvesh", "get", path, "--output-format", "json")
        done = self.commands.run(argv, seconds=_ASK_SECONDS, cancellation=cancellation)
        failure = _failure(argv[0], done)
        if failure or done is None:
            return f"node {action.target} does not report vmid {action.vmid}: {failure}"
        return _not_running(output_text(done), action)


@dataclass(frozen=True, slots=True)
class DryRunExecutor:
    """Carries out nothing, and says so. It stands in where no Proxmox is configured."""

    dry: bool = field(default=True, init=False)

    def carry_out(self, action: PlacementAction, cancellation: Cancellation) -> str:
        """Do nothing."""
        return ""

    def is_there(self, action: PlacementAction, cancellation: Cancellation) -> str:
        """Verify nothing: nothing was done."""
        return "a dry run verifies nothing"


def _failure(program: str, done: CommandResult | None) -> str:
    if done is None:
        return f"{program} {_MISSING}"
    return "" if done.status == 0 else f"{program}: {failure_line(done)}"


def _not_running(text: str, action: PlacementAction) -> str:
    where = f"vmid {action.vmid} on node {action.target}"
    try:
        found: Any = json.loads(text)
    except ValueError:
        return f"the answer about {where} is no JSON"
    if not isinstance(found, dict) or str(found.get("vmid")) != str(action.vmid):
        return f"the answer is not about {where}"
    status = found.get("status")
    return "" if status == "running" else f"{where} is {status!r}, not running"
