"""The supervisors of services on this machine: systemd, supervisord, runit and init scripts.

Each lists its services with their status, and names the command that controls (restarts) one. One
that is silent or not installed gives the reason. The agent controls a service by
`agent/tools/control_tool.py`. Effect: starts their clients.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Protocol

from pulsus.commands.execution_plan import find_program
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.infra.inventory import ResourceStatus
from pulsus.infra.local_command import LocalCommands, failure_line, output_text

SERVICE_ACTIONS: Final = ("start", "stop", "restart", "reload")
"""The actions that every supervisor here has, but for those in its `lacks`."""

_MOST_SERVICES: Final = 500
_SECONDS: Final = 10.0
"""supervisorctl is a Python program, which takes seconds to start on a busy machine."""


@dataclass(frozen=True, slots=True)
class ServiceState:
    """A service of one supervisor. `name` is the one that its client takes."""

    name: str
    status: ResourceStatus
    details: Mapping[str, JsonValue]


class Supervisor(Protocol):
    """One supervisor of services."""

    @property
    def name(self) -> str: ...
    @property
    def lacks(self) -> tuple[str, ...]:
        """Return actions of SERVICE_ACTIONS that it does not have."""
        ...

    def unavailable(self) -> str:
        """Return why it cannot be asked here, or an empty text."""
        ...

    def services(self) -> tuple[ServiceState, ...]:
        """Return its services. Raises SupervisorSilent if it does not answer."""
        ...

    def control(self, action: str, service: str) -> tuple[str, ...]:
        """Return the command that does `action` to `service`."""
        ...


class SupervisorSilent(Exception):
    """A supervisor gave no usable answer; the text says why."""


@dataclass(frozen=True, slots=True)
class Systemd:
    """systemd, if it is the init of this machine."""

    commands: LocalCommands
    runtime: Path = Path("/run/systemd/system")
    name: str = "systemd"
    lacks: tuple[str, ...] = ()

    def unavailable(self) -> str:
        """Return why it cannot be asked here, or an empty text."""
        if find_program("systemctl") is None:
            return "systemctl is not installed"
        return "" if self.runtime.is_dir() else "systemd is not the init of this machine"

    def services(self) -> tuple[ServiceState, ...]:
        """Return the loaded service units."""
        listed = ("list-units", "--type=service", "--all", "--plain", "--no-legend", "--full")
        text = _ask(self.commands, ("systemctl", "--no-ask-password", *listed))
        return tuple(_read_units(text))[:_MOST_SERVICES]

    def control(self, action: str, service: str) -> tuple[str, ...]:
        """Return the `systemctl` command."""
        return ("systemctl", "--no-ask-password", action, f"{service}.service")


def _read_units(text: str) -> Iterator[ServiceState]:
    for line in text.splitlines():
        words = line.lstrip("●○×*↻ \t").split(None, 4)
        if len(words) < 4 or not words[0].endswith(".service"):
            continue
        unit, load, active, sub = words[:4]
        if load == "not-found":
            continue
        description = words[4].strip() if len(words) > 4 else ""
        details: dict[str, JsonValue] = {"state": f"{active} ({sub})", "description": description}
        yield ServiceState(unit.removesuffix(".service"), _unit_status(active, sub), details)


def _unit_status(active: str, sub: str) -> ResourceStatus:
    if active == "failed":
        return "failed"
    return "running" if active in {"active", "reloading"} and sub != "exited" else "stopped"


_SOCKET: Final = re.compile(
    r"^\[unix_http_server\][^[]*?^file *= *(?P<path>/[^\s;%]+)", re.MULTILINE
)

_SUPERVISORD_STATUS: Final[Mapping[str, ResourceStatus]] = {
    "RUNNING": "running",
    "STARTING": "running",
    "STOPPED": "stopped",
    "EXITED": "stopped",
    "STOPPING": "stopped",
    "FATAL": "failed",
    "BACKOFF": "failed",
}


@dataclass(frozen=True, slots=True)
class Supervisord:
    """supervisord, through `supervisorctl` and the settings of the system."""

    commands: LocalCommands
    settings: tuple[Path, ...] = (
        Path("/etc/supervisor/supervisord.conf"),
        Path("/etc/supervisord.conf"),
    )
    name: str = "supervisord"
    lacks: tuple[str, ...] = ("reload",)

    def unavailable(self) -> str:
        """Return why it cannot be asked here, or an empty text."""
        if find_program("supervisorctl") is None:
            return "supervisorctl is not installed"
        if self._settings is None:
            return "supervisord has no settings in /etc"
        # Its client takes a second to start, so a missing socket is looked for first.
        found = _SOCKET.search(self._settings.read_text(encoding="utf-8", errors="replace"))
        return (
            f"supervisord does not run: there is no {found['path']}"
            if found and not Path(found["path"]).exists()
            else ""
        )

    @property
    def _settings(self) -> Path | None:
        return next((path for path in self.settings if path.is_file()), None)

    def services(self) -> tuple[ServiceState, ...]:
        """Return its programs; those of a group are named `group:program`."""
        # A status of 3 says that a program is not running.
        text = _ask(self.commands, (*self._client, "status"), fine=(0, 3))
        found = []
        for line in text.splitlines()[:_MOST_SERVICES]:
            words = line.split(None, 2)
            if len(words) > 1 and words[1].isupper():
                status = _SUPERVISORD_STATUS.get(words[1], "unknown")
                found.append(ServiceState(words[0], status, {"state": " ".join(words[1:])}))
        return tuple(found)

    def control(self, action: str, service: str) -> tuple[str, ...]:
        """Return the `supervisorctl` command."""
        return (*self._client, action, service)

    @property
    def _client(self) -> tuple[str, ...]:
        # Named, because it would prefer a file of the current folder.
        return ("supervisorctl", "-c", str(self._settings))


_SV_LINE: Final = re.compile(r"(?P<state>\w+): (?P<folder>/[^:]+): ?(?P<rest>.*)")
_UNSUPERVISED: Final = "supervise/ok: file does not exist"
"""No process looks after the folder: it is prepared, but no service."""

_SV_STATUS: Final[Mapping[str, ResourceStatus]] = {
    "run": "running",
    "down": "stopped",
    "finish": "stopped",
    "fail": "failed",
}


@dataclass(frozen=True, slots=True)
class Runit:
    """runit, through `sv` and the folder of services."""

    commands: LocalCommands
    folders: tuple[Path, ...] = (Path("/etc/service"), Path("/var/service"), Path("/service"))
    name: str = "runit"
    lacks: tuple[str, ...] = ()

    def unavailable(self) -> str:
        """Return why it cannot be asked here, or an empty text."""
        if find_program("sv") is None:
            return "sv is not installed"
        return "" if self._list_folders() else "runit supervises no service here"

    def _list_folders(self) -> list[str]:
        try:
            return sorted(
                str(each)
                for folder in self.folders
                if folder.is_dir()
                for each in folder.iterdir()
                if (each / "run").exists()
            )[:_MOST_SERVICES]
        except OSError:
            return []

    def services(self) -> tuple[ServiceState, ...]:
        """Return its services by the names of their folders."""
        folders = self._list_folders()
        # The status counts services that are down or not supervised: the lines say which.
        text = _ask(self.commands, ("sv", "status", *folders), fine=tuple(range(len(folders) + 1)))
        found = []
        for line in text.splitlines():
            part = _SV_LINE.match(line.replace("warning: ", "fail: "))
            if part and _UNSUPERVISED not in part["rest"]:
                status = _SV_STATUS.get(part["state"], "unknown")
                details: dict[str, JsonValue] = {"state": f"{part['state']}: {part['rest']}"}
                found.append(ServiceState(Path(part["folder"]).name, status, details))
        return tuple(found)

    def control(self, action: str, service: str) -> tuple[str, ...]:
        """Return the `sv` command; it waits until the service is in the wanted state."""
        paths = (path for path in self._list_folders() if Path(path).name == service)
        return ("sv", "-w", "15", action, next(paths, service))


_INIT_LINE: Final = re.compile(r" *\[ (?P<mark>[-+?]) \] +(?P<name>\S+)")
_INIT_STATUS: Final[Mapping[str, ResourceStatus]] = {"+": "running", "-": "stopped"}


@dataclass(frozen=True, slots=True)
class InitScripts:
    """The scripts of /etc/init.d, through `service`. systemd runs them where it is the init."""

    commands: LocalCommands
    folder: Path = Path("/etc/init.d")
    systemd: Path = Path("/run/systemd/system")
    name: str = "init scripts"
    lacks: tuple[str, ...] = ()

    def unavailable(self) -> str:
        """Return why they cannot be asked here, or an empty text."""
        if self.systemd.is_dir():
            return "systemd controls the init scripts of this machine"
        if find_program("service") is None:
            return "service is not installed"
        return "" if self.folder.is_dir() else f"there is no {self.folder}"

    def services(self) -> tuple[ServiceState, ...]:
        """Return the scripts, with the state that each reports."""
        result = self.commands.run(("service", "--status-all"), seconds=_SECONDS)
        if result is None:
            raise SupervisorSilent("service cannot be started")
        # Scripts without a status go to standard error.
        lines = (result.output + result.errors).decode("utf-8", "replace").splitlines()
        found = []
        for line in lines[:_MOST_SERVICES]:
            if part := _INIT_LINE.match(line):
                status = _INIT_STATUS.get(part["mark"], "unknown")
                found.append(ServiceState(part["name"], status, {"state": status}))
        return tuple(found)

    def control(self, action: str, service: str) -> tuple[str, ...]:
        """Return the `service` command."""
        return ("service", service, action)


def all_supervisors(commands: LocalCommands) -> tuple[Supervisor, ...]:
    """Return every supervisor that Pulsus knows; the first that has a service controls it."""
    return (Systemd(commands), Supervisord(commands), Runit(commands), InitScripts(commands))


def _ask(commands: LocalCommands, argv: tuple[str, ...], fine: tuple[int, ...] = (0,)) -> str:
    result = commands.run(argv, seconds=_SECONDS)
    if result is None:
        raise SupervisorSilent(f"{argv[0]} cannot be started")
    if result.status not in fine:
        raise SupervisorSilent(f"{argv[0]}: {failure_line(result)}")
    return output_text(result)
