"""Restarts and reloads of real services in a throw-away root; systemd by its command alone.

systemd cannot be started in a container. So its command is proven, and not its effect.
"""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.catalogue.conftest import import_tool
from tests.changes import change, unverified
from tests.throwaway_root import in_throwaway_root

RESTART = "services/control/restart_service"
UPTIME = "services/status/service_uptime"
LOOP = (
    "trap 'echo reloaded >> /run/said' HUP; echo started >> /run/said; while :; do sleep 0.05; done"
)


def wait_for(condition):
    limit = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < limit, "the condition was not met in 20 s"
        time.sleep(0.05)


def said():
    path = Path("/run/said")
    return path.read_text(encoding="utf-8").split() if path.exists() else []


def uptime(name):
    return import_tool(UPTIME).run(name)


def start_runit():
    folder = Path("/etc/service/worker")
    folder.mkdir(parents=True)
    (folder / "run").write_text(f"#!/bin/sh\n{LOOP}\n", encoding="utf-8")
    (folder / "run").chmod(0o755)
    supervisor = subprocess.Popen(["runsv", str(folder)], start_new_session=True)
    wait_for(said)
    return supervisor


def restart_and_reload(manager, name):
    tool = import_tool(RESTART)
    first = uptime(name)
    assert (first["manager"], first["state"], first["ok"]) == (manager, "running", True)
    shown = tool.run(name, dry_run=True)
    assert (shown["changed"], uptime(name)["pid"]) == (False, first["pid"])
    result = change(RESTART, name=name)
    assert result["argv"] == shown["argv"]
    second = uptime(name)
    assert second["pid"] != first["pid"]
    change(RESTART, name=name, action="reload")
    wait_for(lambda: said()[-1] == "reloaded")
    assert uptime(name)["pid"] == second["pid"]
    # The restart itself cannot be confirmed by the process that ran before it.
    late = {**result, "started_after": "2999-01-01T00:00:00+00:00"}
    reason = unverified(RESTART, {"name": name}, late)
    assert reason is not None
    return said()


def under_runit():
    if shutil.which("runsv") is None:
        pytest.skip("runit is not installed")
    start_runit()
    return restart_and_reload("runit", "worker")


@pytest.mark.seconds
def test_a_service_under_runit_gets_a_new_process_by_a_restart_only():
    assert in_throwaway_root(under_runit) == ["started", "started", "reloaded"]


def stopped_under_runit():
    if shutil.which("runsv") is None:
        pytest.skip("runit is not installed")
    start_runit()
    pid = uptime("worker")["pid"]
    subprocess.run(["sv", "down", "/etc/service/worker"], check=True)
    wait_for(lambda: uptime("worker")["state"] == "stopped")
    assert pid is not None
    return uptime("worker")


@pytest.mark.seconds
def test_a_stopped_service_is_not_reported_as_up():
    found = in_throwaway_root(stopped_under_runit)
    assert (found["ok"], found["pid"], found["error"]) == (False, None, "worker is stopped")


def under_supervisord():
    if shutil.which("supervisord") is None:
        pytest.skip("supervisord is not installed")
    Path("/run/loop.sh").write_text(LOOP, encoding="utf-8")
    Path("/etc/supervisord.conf").write_text(
        "[supervisord]\nnodaemon=true\nlogfile=/run/supervisord.log\n"
        "[unix_http_server]\nfile=/run/supervisor.sock\n"
        "[supervisorctl]\nserverurl=unix:///run/supervisor.sock\n"
        "[rpcinterface:supervisor]\n"
        "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n"
        "[program:worker]\ncommand=sh /run/loop.sh\nstartsecs=0\nstopasgroup=true\n",
        encoding="utf-8",
    )
    # supervisorctl reads the same file: the folder of Debian would come first.
    shutil.rmtree("/etc/supervisor", ignore_errors=True)
    subprocess.Popen(["supervisord", "-c", "/etc/supervisord.conf"], cwd="/")
    wait_for(lambda: uptime("worker")["state"] == "running" and said())
    return restart_and_reload("supervisord", "worker")


@pytest.mark.seconds
def test_a_service_under_supervisord_gets_a_new_process_by_a_restart_only():
    assert in_throwaway_root(under_supervisord) == ["started", "started", "reloaded"]


SCRIPT = """#!/bin/sh
case "$1" in
start) sh -c "$(cat /run/loop.sh)" >/dev/null 2>&1 & echo $! > /run/worker.pid;;
stop) kill -9 "$(cat /run/worker.pid)";;
restart) "$0" stop; "$0" start;;
reload) kill -HUP "$(cat /run/worker.pid)";;
status) kill -0 "$(cat /run/worker.pid)";;
esac
"""


def under_sysv():
    if shutil.which("service") is None:
        pytest.skip("the command `service` is not installed")
    Path("/run/loop.sh").write_text(LOOP, encoding="utf-8")
    script = Path("/etc/init.d/worker")
    script.write_text(SCRIPT, encoding="utf-8")
    script.chmod(0o755)
    subprocess.run([str(script), "start"], check=True)
    wait_for(said)
    return restart_and_reload("sysv", "worker")


@pytest.mark.seconds
def test_a_service_of_system_v_gets_a_new_process_by_a_restart_only():
    assert in_throwaway_root(under_sysv, real_root=True) == ["started", "started", "reloaded"]


def refused_by_runit():
    if shutil.which("runsv") is None:
        pytest.skip("runit is not installed")
    supervisor = start_runit()
    supervisor.kill()
    # Until it is gone, it still takes the order of sv, which then ends with 0.
    supervisor.wait(timeout=10)
    with pytest.raises(RuntimeError, match=r"sv -w 2 restart .*failed with status"):
        import_tool(RESTART).run("worker", timeout_seconds=2)


@pytest.mark.seconds
def test_a_restart_that_its_manager_refuses_is_an_error():
    in_throwaway_root(refused_by_runit)


@pytest.mark.parametrize(
    ("inputs", "argv"),
    [
        ({"name": "nginx"}, ["systemctl", "restart", "nginx.service"]),
        ({"name": "nginx.service", "action": "reload"}, ["systemctl", "reload", "nginx.service"]),
        ({"name": "getty@tty1"}, ["systemctl", "restart", "getty@tty1.service"]),
        ({"name": "fstrim.timer"}, ["systemctl", "restart", "fstrim.timer"]),
    ],
)
def test_systemd_gets_the_full_name_of_the_unit(load, inputs, argv):
    result = load(RESTART).run(**inputs, manager="systemd", dry_run=True)
    assert (result["name"], result["argv"]) == (argv[-1], argv)


def test_the_service_manager_that_knows_the_service_is_picked(load, monkeypatch, tmp_path):
    fake = tmp_path / "supervisorctl"
    fake.write_text('#!/bin/sh\necho "$2 RUNNING pid 7, uptime 0:00:05"\n', encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin:/bin")
    tool = load(RESTART)
    monkeypatch.setattr(tool, "_CONFIGS", (str(tmp_path / "nosuch.conf"),))
    with pytest.raises(ValueError, match="knows this service here"):
        tool.run("nosuch:worker", dry_run=True)
    monkeypatch.setattr(tool, "_CONFIGS", (str(fake),))
    result = tool.run("nosuch:worker", dry_run=True)
    assert (result["manager"], result["argv"][0]) == ("supervisord", "supervisorctl")


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"name": "--all"}, "name '--all' is no service name"),
        ({"name": "a/../b"}, "is no service name"),
        ({"name": "nginx", "action": "stop"}, "action 'stop' is not known"),
        ({"name": "nginx", "manager": "upstart"}, "manager 'upstart' is not known"),
        ({"name": "nginx", "timeout_seconds": 0}, "timeout_seconds 0 is out of range"),
        ({"name": "nosuchservice"}, "knows this service here"),
    ],
)
def test_a_service_that_cannot_be_restarted_is_refused(load, inputs, reason):
    with pytest.raises(ValueError, match=reason):
        load(RESTART).run(**inputs, dry_run=True)


def test_service_uptime_refuses_a_time_or_manager_that_it_cannot_read(load):
    with pytest.raises(ValueError, match="started_after 'soon' is no time"):
        load(UPTIME).run("nginx", started_after="soon")
    with pytest.raises(ValueError, match="manager 'upstart' is not known"):
        load(UPTIME).run("nginx", manager="upstart")
