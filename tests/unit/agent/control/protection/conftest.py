"""The rules for what runs later, on a machine that is made up."""

from pathlib import Path

import pytest

from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.agent.control.protection.files.startup_files import (
    StartupFiles,
    program_folders,
    scheduled_paths,
    startup_paths,
)

HOME, PROJECT = Path("/home/ops"), Path("/srv/app")
ENVIRON = {"PATH": "/opt/tools:/usr/bin", "PYTHONSTARTUP": "/home/ops/begin.py"}


@pytest.fixture(scope="module")
def startup():
    start, later = (
        ProtectedPlaces(paths, folder=PROJECT, project=PROJECT, home=HOME)
        for paths in (startup_paths(HOME, ENVIRON), scheduled_paths(HOME))
    )
    programs = program_folders(HOME, ENVIRON)
    return StartupFiles(start, later, programs=programs, pids=(4711,), home=HOME)
