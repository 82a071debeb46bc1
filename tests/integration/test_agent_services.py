"""The agent's tools find and restart real services in a throw-away root.

systemd cannot be started in a container. So its listing and its command are proven by a client that
prints a saved listing, and not its effect.
"""

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests import project as projects
from tests.agent_calls import call, code, data, tools_in
from tests.throwaway_root import in_throwaway_root

LOOP = "echo started >> /run/said; while :; do sleep 0.05; done"


def wait_for(condition):
    limit = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < limit, "the condition was not met in 20 s"
        time.sleep(0.05)


def starts():
    path = Path("/run/said")
    return path.read_text(encoding="utf-8").count("started") if path.exists() else 0


def restart_through_the_agent(supervisor):
    """Find the service `worker`, restart and stop it, and return what a query says at the end."""
    tools = tools_in(projects.make(Path("/tmp/agent-project"), warm=False))
    found = call(tools, "pulsus_query", {"action": "get", "target_host": "worker"})
    shown = data(found)
    assert (shown["status"], shown["supervisor"]) == ("running", supervisor)
    (service,) = found.found
    restart = {"type": "service", "action": "restart", "target_resource_id": service.id}
    assert code(call(tools, "pulsus_control", restart, on=[service])) == "APPROVAL_REQUIRED"
    assert starts() == 1
    outcome = call(tools, "pulsus_control", restart, on=[service], consent="yes")
    assert data(outcome)["success"] is True
    assert outcome.wrote == (service.id,)
    wait_for(lambda: starts() == 2)
    stop = {"type": "service", "action": "stop", "target_resource_id": service.id}
    data(call(tools, "pulsus_control", stop, on=[service], consent="yes"))
    get = {"action": "get", "target_resource_id": service.id}
    wait_for(lambda: data(call(tools, "pulsus_query", get))["status"] == "stopped")
    return call(tools, "pulsus_query", get).read


def under_runit():
    if shutil.which("runsv") is None:
        pytest.skip("runit is not installed")
    folder = Path("/etc/service/worker")
    folder.mkdir(parents=True)
    (folder / "run").write_text(f"#!/bin/sh\n{LOOP}\n", encoding="utf-8")
    (folder / "run").chmod(0o755)
    subprocess.Popen(["runsv", str(folder)], start_new_session=True)
    wait_for(starts)
    return restart_through_the_agent("runit")


@pytest.mark.seconds
def test_a_service_under_runit_is_found_restarted_and_read_again():
    (read,) = in_throwaway_root(under_runit)
    assert read.startswith("service:")
    assert read.endswith(":worker")


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
    shutil.rmtree("/etc/supervisor", ignore_errors=True)
    subprocess.Popen(["supervisord", "-c", "/etc/supervisord.conf"], cwd="/")
    wait_for(lambda: starts() and Path("/run/supervisor.sock").exists())
    return restart_through_the_agent("supervisord")


@pytest.mark.seconds
def test_a_service_under_supervisord_is_found_restarted_and_read_again():
    (read,) = in_throwaway_root(under_supervisord)
    assert read.endswith(":worker")


SCRIPT = f"""#!/bin/sh
### BEGIN INIT INFO
# Provides: worker
### END INIT INFO
case "$1" in
start) setsid sh -c '{LOOP}' >/dev/null 2>&1 & echo $! > /run/worker.pid;;
stop) kill -9 "$(cat /run/worker.pid)";;
restart) "$0" stop; "$0" start;;
status) kill -0 "$(cat /run/worker.pid)" 2>/dev/null && echo running;;
esac
"""


def under_init_scripts():
    if shutil.which("service") is None:
        pytest.skip("the command `service` is not installed")
    script = Path("/etc/init.d/worker")
    script.parent.mkdir(exist_ok=True)
    script.write_text(SCRIPT, encoding="utf-8")
    script.chmod(0o755)
    subprocess.run(["service", "worker", "start"], check=True)
    wait_for(starts)
    return restart_through_the_agent("init scripts")


@pytest.mark.seconds
def test_a_service_of_an_init_script_is_found_restarted_and_read_again():
    (read,) = in_throwaway_root(under_init_scripts)
    assert read.endswith(":worker")


SYSTEMCTL = """#!/bin/sh
echo "$*" >> /run/asked
[ "$2" = list-units ] && cat <<'X'
  nginx.service   loaded    active   running A web server
* db.service      loaded    failed   failed  A database
  once.service    loaded    active   exited  A job
  gone.service    not-found inactive dead    gone.service
X
exit 0
"""


def under_systemd():
    Path("/run/systemd/system").mkdir(parents=True)
    client = Path("/usr/local/sbin/systemctl")
    client.write_text(SYSTEMCTL, encoding="utf-8")
    client.chmod(0o755)
    tools = tools_in(projects.make(Path("/tmp/agent-project"), warm=False))
    found = call(tools, "pulsus_query", {"action": "list", "kind": "service"})
    rows = {each["name"]: each["status"] for each in data(found)["services"]}
    nginx = next(each for each in found.found if each.name == "nginx")
    restart = {"type": "service", "action": "restart", "target_resource_id": nginx.id}
    data(call(tools, "pulsus_control", restart, on=[nginx], consent="yes"))
    alerts = data(call(tools, "pulsus_alerts", {"action": "list"}))["alerts"]
    failed = [each["resource_name"] for each in alerts if each["type"] == "service_failed"]
    asked = Path("/run/asked").read_text(encoding="utf-8").splitlines()
    return [rows, failed, [line for line in asked if "restart" in line]]


@pytest.mark.seconds
def test_services_of_systemd_are_listed_and_controlled_by_their_unit():
    rows, failed, asked = in_throwaway_root(under_systemd)
    assert rows == {"nginx": "running", "db": "failed", "once": "stopped"}
    assert failed == ["db"]
    assert asked == ["--no-ask-password restart nginx.service"]


DOCKER = """#!/bin/sh
echo "$*" >> /run/asked
case "$1" in
ps) echo '{"ID":"0123456789abcdef","Names":"web","Image":"nginx:1","State":"running",'\
'"Status":"Up 2 hours","Ports":"80/tcp"}'
    echo '{"ID":"fedcba9876543210","Names":"db","Image":"pg:1","State":"dead","Status":"Dead"}';;
inspect) echo '[{"State":{"Status":"running","ExitCode":0},"LogPath":"/x/log",'\
'"Config":{"Env":["DB_PASSWORD=hunter2hunter2"]},"NetworkSettings":{"Ports":'\
'{"80/tcp":[{"HostPort":"8080"}]}},"Mounts":[{"Type":"bind","Source":"/srv/web",'\
'"Destination":"/web","RW":false}]}]';;
logs) echo out; echo err >&2;;
esac
"""


def with_containers():
    client = Path("/usr/local/sbin/docker")
    client.write_text(DOCKER, encoding="utf-8")
    client.chmod(0o755)
    tools = tools_in(projects.make(Path("/tmp/agent-project"), warm=False))
    get = {"action": "get", "target_host": "web"}
    found = call(tools, "pulsus_discovery", get)
    (web,) = found.found
    logs = call(tools, "pulsus_read", {"action": "logs", "lines": 5}, on=[web])
    stop = {"action": "control", "operation": "stop", "target_resource_id": web.id}
    stopped = call(tools, "pulsus_docker", stop, on=[web], consent="yes")
    asked = Path("/run/asked").read_text(encoding="utf-8").splitlines()
    return [
        web.id,
        web.parent == tools.system.host.id,
        data(found),
        data(logs)["entries"],
        list(stopped.wrote),
        [line for line in asked if line.startswith("stop")],
    ]


@pytest.mark.seconds
def test_containers_are_discovered_with_their_mounts_and_without_their_environment():
    uid, below, facts, entries, wrote, asked = in_throwaway_root(with_containers)
    assert uid.startswith("docker_container:")
    assert uid.endswith(":0123456789ab")
    assert below
    assert facts["ports"] == [{"port": 80, "protocol": "tcp", "published": ["8080"]}]
    assert facts["bind_mounts"] == [
        {"source": "/srv/web", "destination": "/web", "read_only": True}
    ]
    assert "hunter2" not in str(facts)
    assert sorted(entries) == ["err", "out"]
    assert wrote == [uid]
    assert asked == ["stop 0123456789ab"]
