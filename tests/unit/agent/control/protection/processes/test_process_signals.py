"""No call ends, traces or enters a process of Pulsus, in any way that names processes."""

import os
import subprocess
from dataclasses import replace

import pytest

from pulsus.agent.control.protection.processes.process_signals import OwnNames, find_ended
from pulsus.agent.control.protection.processes.terminal_programs import (
    find_opened_machine,
    find_typing,
)
from pulsus.commands.shell.script_parser import parse_command
from pulsus.infra.process_family import LivingFamily, ProcessFamily

FAMILY = ProcessFamily(
    frozenset({1, 4700, 4711, 4720}),
    groups=frozenset({4699}),
    names=frozenset({"python", "bash"}),
    lines=("/opt/venv/bin/python /opt/venv/bin/pulsus agent x",),
    users=frozenset({"ops", "1000"}),
    files=frozenset({"/srv/app", "/dev/pts/3"}),
    units=frozenset({"user.slice", "session-7.scope", "shop.service"}),
)
OWN = OwnNames(frozenset({"pulsus"}), frozenset({8765}))


def call(command):
    return parse_command(command).stages[0].words


@pytest.mark.parametrize(
    "command",
    [
        *("kill 4711", "kill -9 04711", "kill +4711", "kill -s KILL 4700", "kill -- -4699"),
        *("kill -9 1", "kill -9 -1", "kill 0", "kill -n 9 4720", "renice 19 4711"),
        *("gdb -p 4711", "gdb --pid=4711", "strace -p4711", "nsenter -t 4711 -a true"),
        *(
            "prlimit --pid 4711 --as=1",
            "taskset -p 1 4711",
            "chrt -p 1 4711",
            "py-spy dump -p 4711",
        ),
    ],
)
def test_a_process_of_pulsus_is_not_ended_by_its_number_in_any_spelling(command):
    assert find_ended(call(command), FAMILY, OWN)


@pytest.mark.parametrize(
    "command",
    [
        *("pkill python", "pkill -f pulsus", "pkill -u ops", "pkill -u 1000", "pkill -P 4700"),
        *("pkill -t pts/3", "pkill -v nginx", "pkill -F /run/x.pid", "pkill --newest"),
        *("slay ops", "skill ops", "snice +5 ops", "renice 19 -u 1000", "renice 19 -u bob ops"),
        *("killall -u ops", "killall python3.11", "killall5", "skill -u ops", "xkill"),
    ],
)
def test_a_process_of_pulsus_is_not_chosen_by_its_name_its_user_or_its_terminal(command):
    assert find_ended(call(command), FAMILY, OWN)


@pytest.mark.parametrize(
    "command",
    [
        *("fuser -k 8765/tcp", "fuser -k -n tcp 8765", "fuser -km /", "fuser -k /srv/app"),
        *("fuser --kill /dev/pts/3", "fuser -k ."),
    ],
)
def test_a_process_of_pulsus_is_not_ended_by_what_it_has_open(command):
    assert find_ended(call(command), FAMILY, OWN)


@pytest.mark.parametrize(
    "command",
    [
        *(
            "systemctl stop user.slice",
            "systemctl kill user@1000",
            "systemctl stop session-7.scope",
        ),
        *("systemctl restart shop.service", "systemctl stop 'user*'", "systemctl kill 'pul*'"),
        *("systemctl isolate rescue.target", "systemctl suspend", "systemctl freeze user.slice"),
        *("loginctl terminate-user ops", "loginctl kill-session 3", "init 6", "telinit 1"),
    ],
)
def test_the_unit_or_the_session_that_pulsus_is_in_is_not_ended(command):
    assert find_ended(call(command), FAMILY, OWN)


@pytest.mark.parametrize(
    "command",
    [
        *(
            "kill 99",
            "kill -HUP 99",
            "kill -1 99",
            "pkill nginx",
            "pkill -u bob",
            "pkill -u ops nginx",
        ),
        *("pkill -USR1 nginx", "killall -s HUP nginx", "fuser -k 8080/tcp", "fuser -v 8765/tcp"),
        *("systemctl restart nginx", "systemctl stop docker.service", "loginctl kill-user bob"),
        *("renice 5 99", "gdb -p 99", "systemctl status user@1000", "systemctl daemon-reload"),
    ],
)
def test_other_processes_may_be_ended_after_an_approval(command):
    assert find_ended(call(command), FAMILY, OWN) == ""


def test_the_family_has_the_processes_above_and_those_that_this_one_started():
    child = subprocess.Popen(["/bin/sleep", "30"])
    try:
        family = LivingFamily()
        assert {os.getpid(), os.getppid(), child.pid} <= family.pids
    finally:
        child.kill()
        child.wait()
    assert os.getpgrp() in family.groups
    assert str(os.getuid()) in family.users


@pytest.mark.parametrize(
    "command",
    [
        *(
            "tmux send-keys -t 0 y Enter",
            "tmux send y",
            "tmux -L x kill-server",
            "tmux ls ';' send y",
        ),
        *("tmux run-shell x", "screen -X stuff y", "screen -S a -p 0 -X stuff y", "screen -dRX a"),
        *("ttyecho -n /dev/pts/0 y", "xdotool key Return", "conspy 1", "reptyr 99"),
    ],
)
def test_no_call_answers_for_a_person_at_a_terminal(command):
    assert find_typing(call(command))


@pytest.mark.parametrize("command", ["tmux new-session -d -s work", "tmux ls", "screen -ls"])
def test_looking_at_terminals_is_no_false_alarm(command):
    assert find_typing(call(command)) == ""


@pytest.mark.parametrize(
    "command",
    [
        *(
            "docker run --privileged alpine",
            "docker run --pid=host alpine",
            "podman run --pid host a",
        ),
        *("docker run -v /:/h alpine", "docker run -v/:/h alpine", "docker run -v /proc:/p alpine"),
        *("docker run --volume=/dev/pts:/t alpine", "docker run --device /dev/tty alpine"),
        *("docker run --mount type=bind,source=/,target=/h a", "docker exec --privileged web ls"),
        *("docker run -v /var/run/docker.sock:/s alpine", "nerdctl run --cap-add SYS_PTRACE a"),
    ],
)
def test_no_container_gets_the_processes_or_devices_of_this_machine(command):
    assert find_opened_machine(call(command))


@pytest.mark.parametrize(
    "command",
    [
        "docker run -v /srv/data:/data alpine",
        "docker run -v data:/data alpine",
        "docker restart web",
    ],
)
def test_a_container_with_a_folder_of_its_own_is_no_false_alarm(command):
    assert find_opened_machine(call(command)) == ""


def test_a_link_to_a_file_that_pulsus_has_open_is_followed(tmp_path):
    (tmp_path / "open").touch()
    (tmp_path / "python").symlink_to(tmp_path / "open")
    family = replace(FAMILY, files=frozenset({str(tmp_path / "open")}))
    assert find_ended(call(f"fuser -k {tmp_path}/python"), family, OWN)
    assert not find_ended(call(f"fuser -k {tmp_path}/other"), family, OWN)


def test_the_family_has_the_libraries_that_it_maps():
    assert any(".so" in file for file in LivingFamily().files)


@pytest.mark.parametrize(
    "command",
    [
        *("supervisorctl stop all", "supervisorctl shutdown", "supervisorctl signal KILL x"),
        *("supervisorctl stop status", "supervisorctl shutdown status"),
        *("ip link set lo down", "ip link set dev lo down", "ifconfig lo down", "ifdown lo"),
        *("tc qdisc add dev lo root netem loss 100%", "ip addr flush dev lo", "telinit 6"),
    ],
)
def test_a_supervisor_and_the_own_interface_end_no_process_of_pulsus(command):
    family = replace(FAMILY, names=frozenset({"python", "supervisord"}))
    assert find_ended(call(command), family, OWN)


@pytest.mark.parametrize(
    "command",
    [
        *("supervisorctl stop web", "monit stop all", "renice 19 -p 77", "renice 19 -u bob"),
        *("ip link set eth1 down", "tc qdisc show dev lo", "ip addr show lo", "slay bob"),
    ],
)
def test_a_supervisor_of_others_and_another_user_are_left_to_a_person(command):
    assert not find_ended(call(command), FAMILY, OWN)
