"""Every shipped tool gives the same result confined as unconfined (ADR 28)."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from pulsus.errors import PulsusError
from pulsus.execution.confinement.choose_confinement import RunLimits, plan_confinement
from pulsus.execution.confinement.kernel_support import find_support
from pulsus.execution.tool_process import UNCONFINED, run_tool
from tests.confined import USERS, interpreter, need_confinement
from tests.shipped import TOOLS

pytestmark = pytest.mark.slow

ATTEMPTS = 5
UNDECIDED = {
    "containers/cleanup/prune_containers": "starts the programs docker and podman",
    "logs/rotate/rotate_log": "asks the kernel for a lease, which the filter refuses",
    "process/control/stop_process": "declares the program kill",
    "services/control/restart_service": "starts the program of the service manager",
    "services/schedule/remove_cron_entry": "starts the program crontab",
    "services/schedule/set_cron_entry": "starts the program crontab",
    "storage/mounts/remount": "starts the program mount",
    "storage/access/restore_permissions": "its paths are in rows",
    "storage/access/set_permissions": "sets set-uid bits, which a confined write may not",
    "system/packages/clean_package_cache": "starts the program of the package manager",
    "system/users/create_user": "starts the program useradd",
    "system/users/disable_user": "starts the program usermod",
    "system/users/enable_user": "starts the program usermod",
    "system/users/remove_user": "starts the program userdel",
    "web/tls/renew_certificate": "starts the program openssl",
}
"""Tools that write in places or ways that the confinement cannot decide before the run. They have
no limits but those of memory and files. All others are confined."""
BEGUN = time.time()
DRIFT = {
    "storage/usage/disk_usage": {
        **{"used_bytes": 2**26, "free_bytes": 2**26, "used_percent": 0.5},
        **{"inodes_used": 5000, "inodes_used_percent": 0.5},
    },
    "system/load/load_average": {"running": 50, "total": 50},
}
"""Figures of the machine, and how far others, or the confinement's own processes and files, may
move them while they are compared. Every other figure is the same one."""


def placed(value, folder):
    """The same inputs, with the paths of the examples below `folder`."""
    match value:
        case str():
            return value.replace("/tmp", str(folder), 1) if value.startswith("/tmp") else value
        case list():
            return [placed(item, folder) for item in value]
        case dict():
            return {key: placed(item, folder) for key, item in value.items()}
        case _:
            return value


def run(tool, inputs, *, confined, python):
    """The result, or the error without the times it names."""
    reads = tool.kind != "write"
    limits = RunLimits()
    planned = (
        plan_confinement([tool], inputs, limits, find_support(), reads=reads)
        if confined
        else UNCONFINED
    )
    source = tool.path.read_bytes()
    try:
        done = run_tool(
            tool, source, inputs, steps={}, timeout_s=60.0, planned=planned, python=python
        )
    except PulsusError as error:
        return {"error": error.message}
    if confined:
        wanted = ("undecided",) if tool.id in UNDECIDED else ("landlock", "supervised")
        assert done.confinement["files"] in wanted, done.confinement
    return done.result


def differs(before, after, confined, drift, at="result"):
    """Return the first place where the confined result differs from the other two."""
    if type(before) is not type(confined):
        return f"{at}: {before!r} and {confined!r}"
    if isinstance(before, dict) and isinstance(after, dict):
        if before.keys() != confined.keys():
            return f"{at}: keys {sorted(before)} and {sorted(confined)}"
        each = (differs(before[k], after.get(k), confined[k], drift, f"{at}.{k}") for k in before)
        return next(filter(None, each), None)
    if isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            return None
        if len(before) != len(confined):
            return f"{at}: {len(before)} and {len(confined)} items"
        rows = enumerate(zip(before, after, confined, strict=True))
        each = (differs(a, b, c, drift, f"{at}[{n}]") for n, (a, b, c) in rows)
        return next(filter(None, each), None)
    moves = drift.get(at.rpartition(".")[2])
    if moves is not None and before is not None and abs(before - confined) <= moves:
        return None
    return f"{at}: {before!r} and {confined!r}" if before == after != confined else None


def shape(value):
    """The keys and types of a result; of rows those of the first."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value[:1]]
    return type(value).__name__


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("tool", TOOLS, ids=lambda t: t.id)
def test_a_shipped_tool_gives_the_same_result_confined(tool, user, tmp_path):
    need_confinement()
    for folder in (tmp_path, *tmp_path.parents):
        if folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(0o755)
    python = interpreter(user, tmp_path)
    for number, example in enumerate(tool.examples):
        found = None
        for _ in range(ATTEMPTS):
            results = []
            for confined in (False, True, False):
                folder = tmp_path / "files"
                subprocess.run(["rm", "-rf", str(folder)], check=True)
                folder.mkdir()
                folder.chmod(0o777)
                for file in example.files:
                    path = Path(placed(file.path, folder))
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(file.content)
                    age = 0.0 if file.age_s is None else file.age_s
                    os.utime(path, (BEGUN - age, BEGUN - age))
                inputs = placed(dict(example.inputs), folder)
                results.append(run(tool, inputs, confined=confined, python=python))
            if "/proc" in tool.effects.paths and not example.files:
                results = [shape(each) for each in results]  # of a machine that others use, too
            drift = {} if example.files else DRIFT.get(tool.id, {})
            found = differs(results[0], results[2], results[1], drift)
            if found is None:
                break
        assert found is None, f"example {number}: {found}"


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("tool_id", ["process/files/open_files", "network/ports/listening_ports"])
def test_a_confined_tool_still_sees_the_open_files_of_other_processes(tool_id, user, tmp_path):
    tool = next(tool for tool in TOOLS if tool.id == tool_id)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(0o755)
    python = interpreter(user, tmp_path)
    plain, held = (run(tool, {}, confined=c, python=python) for c in (False, True))
    assert abs(len(plain["rows"]) - len(held["rows"])) <= 3
    known = [row for row in plain["rows"] if row.get("pid") or row.get("open_files")]
    assert bool(known) == bool([r for r in held["rows"] if r.get("pid") or r.get("open_files")])
