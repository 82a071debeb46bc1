"""Set up the self-protection of an agent session: what Pulsus is on this machine.

The rules are in `agent/control/protection/self_protection.py`. Effect: reads names of this machine.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pulsus
from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.agent.control.protection.files.startup_files import (
    StartupFiles,
    import_folders,
    program_folders,
    scheduled_paths,
    startup_paths,
)
from pulsus.agent.control.protection.own_address import OwnAddress, names_of_hosts_file
from pulsus.agent.control.protection.processes.own_process import OwnProcess
from pulsus.agent.control.protection.self_protection import SelfProtection
from pulsus.agent.tools.all_tools import protected_folders
from pulsus.infra.processes import own_addresses

if TYPE_CHECKING:
    from pulsus.bootstrap.app import App


def make_self_protection(app: App, own_ports: Sequence[int]) -> SelfProtection:
    """Return the rules that keep Pulsus from being a target of its own agent."""
    folders = protected_folders(app)
    home = None
    with suppress(RuntimeError):  # a user without a home folder
        home = Path.home()
    places = ProtectedPlaces(folders, folder=Path.cwd(), project=app.project, home=home)
    programs = [sys.argv[0], str(Path(pulsus.__file__).parent), shutil.which("pulsus") or ""]
    ports, tables = (app.settings.serve.port, *own_ports), app.commands.context.tables
    own = OwnProcess([each for each in programs if each], ports=ports)
    names = [socket.gethostname(), socket.getfqdn(), *own_addresses()]
    with suppress(OSError):
        named = Path("/etc/hosts").read_text(encoding="utf-8", errors="replace")
        names += names_of_hosts_file(named, own_addresses())
    address = OwnAddress(tables, hosts=names, ports=ports, services=_service_names(ports))
    startup = _startup_files(app.project, home)
    return SelfProtection(places, own, address, tables, startup)


def _startup_files(project: Path, home: Path | None) -> StartupFiles:
    """Return the places that the next process of Pulsus, or a program of it, runs or reads."""
    start, later = (
        ProtectedPlaces(paths, folder=Path.cwd(), project=project, home=home)
        for paths in (startup_paths(home, os.environ), scheduled_paths(home))
    )
    return StartupFiles(
        start,
        later,
        programs=program_folders(home, os.environ),
        pids=(os.getpid(), os.getppid()),
        imported=import_folders(os.environ),
        home=home,
    )


def _service_names(ports: Sequence[int]) -> Mapping[str, int]:
    """Return the names that this machine's list of services gives to `ports`."""
    found: dict[str, int] = {}
    for port in ports:
        with suppress(OSError, OverflowError):
            found[socket.getservbyport(port).casefold()] = port
    return found
