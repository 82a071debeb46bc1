"""Every write tool is applied as a plan in a throw-away root, verified, and undone by its `Undo:`.

The project is the one of a user: `pulsus init` made it, and what changes the machine is the
installed command. The commands that only look run in the process of the root, which imports Pulsus
once. A root sees the project of the machine, and keeps what it writes there to itself.
"""

import json
import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.catalogue.test_container_cleanup import engine, need_engine
from tests.catalogue.test_service_restart import start_runit, uptime, wait_for
from tests.changes import tree
from tests.integration.test_terminal import talk
from tests.project import pulsus, pulsus_here
from tests.shipped import TOOLS
from tests.throwaway_root import in_throwaway_root

pytestmark = pytest.mark.slow
DATA = Path("/srv/data")
WRITES = {tool.id: tool for tool in TOOLS if tool.kind == "write"}
DAY_S = 86_400


@dataclass(frozen=True)
class Change:
    """The inputs of one write, and a look at what it changes, as a JSON value."""

    inputs: dict[str, Any]
    look: Callable[[], Any]


def files(**texts):
    """Write files below DATA, a day old, and return a look at the folder."""
    DATA.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        path = DATA / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return lambda: {name: repr(found) for name, found in tree(DATA).items()}


def without_backups(look):
    """Return the look without the copies that a tool keeps beside what it replaces."""
    return lambda: {name: each for name, each in look().items() if not name.endswith(".bak")}


def need(program, package):
    if shutil.which(program) is None:
        pytest.skip(f"{package} is not installed")


def plot():
    return Change({"summary": {"matrix": [[0, 1]]}, "figure_path": f"{DATA}/a.png"}, files())


def report():
    return Change({"markdown": "hello", "path": f"{DATA}/a.md"}, files())


def back_up():
    return Change({"folder": "/etc/pam.d", "archive": f"{DATA}/a.tgz"}, files())


def restore():
    look = files(site__x="1", empty__y="2")
    subprocess.run(["tar", "-czf", "a.tgz", "site"], cwd=DATA, check=True)
    return Change({"path": f"{DATA}/a.tgz", "folder": f"{DATA}/empty"}, look)


def edit():
    look = without_backups(files(a_conf="port 1\n"))
    return Change({"path": f"{DATA}/a.conf", "key": "port", "value": "2"}, look)


def give_back():
    look = without_backups(files(a_conf="new", a_conf_1_bak="old"))
    return Change({"path": f"{DATA}/a.conf", "backup": f"{DATA}/a.conf.1.bak"}, look)


def rotate():
    return Change({"path": f"{DATA}/a.log"}, files(a_log="one\n"))


def compress():
    return Change({"path": f"{DATA}/a.sql"}, files(a_sql="one\n" * 99))


def decompress():
    look = files(a_sql="one\n" * 99)
    subprocess.run(["gzip", "-n", f"{DATA}/a.sql"], check=True)
    return Change({"path": f"{DATA}/a.sql.gz"}, lambda: sorted(look()))


def delete():
    look = files(old_log="1", new_log="2")
    then = time.time() - 40 * DAY_S
    os.utime(DATA / "old.log", (then, then))
    return Change({"folder": str(DATA), "days": 30}, look)


def permit():
    look = files(key_pem="secret")
    inputs = {"path": f"{DATA}/key.pem", "mode": "0600", "owner": "daemon", "group": "daemon"}
    return Change(inputs, look)


def permit_again():
    look = files(key_pem="secret")
    row = {"path": f"{DATA}/key.pem", "mode": "0600", "owner": "daemon", "group": "daemon"}
    return Change({"rows": [row]}, look)


def crontab():
    need("crontab", "cron")

    def look():
        listed = subprocess.run(["crontab", "-l"], capture_output=True, text=True, check=False)
        return [line for line in listed.stdout.splitlines() if not line.startswith("#")]

    return look


def schedule():
    return Change({"schedule": "15 3 * * *", "command": "/opt/dump.sh"}, crontab())


def unschedule():
    look = crontab()
    subprocess.run(["crontab", "-"], input=b"15 3 * * * /opt/dump.sh\n@daily /opt/x\n", check=True)
    return Change({"command": "/opt/dump.sh"}, look)


def restart():
    need("runsv", "runit")
    start_runit()
    return Change({"name": "worker"}, lambda: uptime("worker")["pid"])


def stop():
    sleeper = subprocess.Popen(["sleep", "600"])
    return Change({"pid": sleeper.pid, "name": "sleep"}, sleeper.poll)


def remount():
    DATA.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(DATA)], check=True)
    inputs = {"mount_point": str(DATA), "mode": "read-only"}
    return Change(inputs, lambda: bool(os.statvfs(DATA).f_flag & os.ST_RDONLY))


def clean():
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not here")
    folder = Path("/var/cache/apt/archives")
    (folder / "tree_2.1.0-1_amd64.deb").write_bytes(b"x" * 1000)
    return Change({"manager": "apt"}, lambda: [path.name for path in folder.glob("tree_*.deb")])


def prune():
    need_engine()
    old = engine("create", "--network=none", "--name", "job", "tiny:1", "/bin/true")
    subprocess.run(["podman", "start", "--attach", old], capture_output=True, check=False)
    if engine("inspect", "--format", "{{.State.Status}}", "job") != "exited":
        pytest.skip("no container engine starts here: a container does not start")
    inputs = {"older_than_hours": 0, "engine": "podman"}
    return Change(inputs, lambda: engine("ps", "--all", "--format", "{{.Names}}"))


def renew():
    need("openssl", "openssl")
    look = without_backups(files())
    made = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
    options = ("-nodes", "-keyout", "a.key", "-out", "a.pem", "-days", "2", "-subj", "/CN=a")
    subprocess.run([*made, *options], cwd=DATA, check=True, capture_output=True)
    return Change({"path": f"{DATA}/a.pem", "key": f"{DATA}/a.key"}, look)


def accounts():
    names = ("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow")
    return {name: sorted(Path(name).read_text(encoding="utf-8").splitlines()) for name in names}


def create():
    return Change({"user": "deploy"}, accounts)


def with_account(**more):
    subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", "ada"], check=True)
    subprocess.run(["chpasswd"], input=b"ada:secret-words", check=True)
    return Change({"user": "ada", **more}, accounts)


def disable():
    return with_account()


def enable():
    change = with_account(shell="/bin/bash")
    options = ("--lock", "--expiredate", "1", "--shell", "/usr/sbin/nologin")
    subprocess.run(["usermod", *options, "ada"], check=True)
    return change


def remove():
    change = with_account()
    return Change(change.inputs, lambda: any(user.pw_name == "ada" for user in pwd.getpwall()))


CHANGES = {
    "analysis/visualise/plot_matrix": plot,
    "backup/create/create_backup": back_up,
    "backup/restore/restore_backup": restore,
    "config/edit/restore_config": give_back,
    "config/edit/set_config_line": edit,
    "containers/cleanup/prune_containers": prune,
    "logs/rotate/rotate_log": rotate,
    "process/control/stop_process": stop,
    "services/control/restart_service": restart,
    "services/schedule/remove_cron_entry": unschedule,
    "services/schedule/set_cron_entry": schedule,
    "shared/save/save_report": report,
    "storage/cleanup/delete_old_files": delete,
    "storage/compress/compress_file": compress,
    "storage/compress/decompress_file": decompress,
    "storage/mounts/remount": remount,
    "storage/access/restore_permissions": permit_again,
    "storage/access/set_permissions": permit,
    "system/packages/clean_package_cache": clean,
    "system/users/create_user": create,
    "system/users/disable_user": disable,
    "system/users/enable_user": enable,
    "system/users/remove_user": remove,
    "web/tls/renew_certificate": renew,
}
"""How to prepare a machine for each write tool."""


def test_every_write_tool_is_applied_here():
    assert WRITES.keys() == CHANGES.keys()


def apply(project, plan, typed):
    """Apply a plan of one write, as the person that its contract asks for. Return the run."""
    if typed is None:
        done = pulsus(project, "apply", plan, "--yes", "--output", "json")
        assert done.code == 0, done.out + done.err
        run_id = done.json["run_id"]
    else:
        code, shown = talk(project, ["apply", plan], (f"{typed}: ", f"{typed}\n"))
        assert code == 0, shown
        run_id = pulsus_here(project, "runs", "list", "--output", "json").json["runs"][0]["run_id"]
    shown = pulsus_here(project, "runs", "show", run_id, "--output", "json").json
    (step,) = shown["steps"]
    assert (shown["state"], step["state"]) == ("done", "done")
    assert step["verified"] is True
    assert step["verification"]["ok"] is True
    return run_id


def typed_by(tool_id, inputs):
    """Return what the approver of this call types, or None if `--yes` is enough."""
    spec = WRITES[tool_id]
    if spec.approval != "approver":
        return None
    return " ".join(str(inputs[name]) for name in spec.target)


def apply_and_undo(tool_id, folder):
    spec, project = WRITES[tool_id], Path(folder)
    change = CHANGES[tool_id]()
    before = change.look()
    given = [f"--input={name}:={json.dumps(value)}" for name, value in change.inputs.items()]
    dry = ("--input=dry_run=true", "--output", "json")
    shown = pulsus_here(project, "run", tool_id, *given, *dry)
    assert (shown.code, change.look()) == (0, before), shown.out
    step = {"id": "s1", "tool": tool_id, "inputs": change.inputs, "outputs": {}}
    text = yaml.safe_dump({"plan": {"steps": [step]}, "io": {"params": [], "returns": []}})
    (project / "hand.yaml").write_text(text, encoding="utf-8")
    made = pulsus_here(project, "plan", "--file", "hand.yaml", "-o", "plan.yaml")
    assert made.code == 0, made.err
    run_id = apply(project, "plan.yaml", typed_by(tool_id, change.inputs))
    wait_for(lambda: change.look() != before)
    undone = pulsus_here(project, "runs", "undo", run_id, "-o", "undo.yaml")
    assert undone.code == (5 if spec.undo is None else 0), undone.out + undone.err
    if spec.undo is not None:
        apply(project, "undo.yaml", typed_by(spec.undo.tool, change.inputs))
        assert change.look() == before
    return spec.undo is not None


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """A new project with the starter catalogue, and the caches of a first plan."""
    folder = tmp_path_factory.mktemp("applied") / "project"
    assert pulsus(folder.parent, "init", folder).code == 0
    assert pulsus(folder, "plan", "how full are the disks").code == 0
    return folder


@pytest.mark.parametrize("tool_id", sorted(WRITES))
def test_a_plan_with_a_write_is_verified_and_its_undo_gives_the_old_state_back(tool_id, project):
    undone = in_throwaway_root(apply_and_undo, tool_id, str(project), real_root=True)
    assert undone is (WRITES[tool_id].undo is not None)
