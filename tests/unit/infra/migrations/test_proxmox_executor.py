"""Migrations run as argument lists of `qm` and `pvesh`: here programs that only look like them."""

import json
import os
import stat

import pytest

from pulsus.commands import execution_plan
from pulsus.execution.cancellation import Cancellation
from pulsus.infra.local_command import LocalCommands
from pulsus.infra.migrations.proxmox_executor import ProxmoxExecutor
from pulsus.placement.cluster import PlacementAction

MOVE = PlacementAction("migrate", 101, "pve2", "pve1")
START = PlacementAction("start", 102, "pve3")

LOOK_ALIKE = """#!/bin/sh
printf '%s\\n' "$(basename "$0") $*" >> "{log}"
case "$*" in
  *"status/current"*) cat "{answer}" ;;
  *) {action} ;;
esac
"""


class FakeNode:
    """`qm` and `pvesh` that note their arguments and answer with the text of a file."""

    def __init__(self, folder, action="true"):
        self.log, self.answer = folder / "log", folder / "answer"
        for name in ("qm", "pvesh"):
            path = folder / name
            path.write_text(LOOK_ALIKE.format(log=self.log, answer=self.answer, action=action))
            path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)

    def says(self, **state):
        self.answer.write_text(json.dumps(state))

    @property
    def ran(self):
        return self.log.read_text().splitlines()


@pytest.fixture
def make_node(tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(execution_plan, "PATH", (str(folder), *execution_plan.PATH))
    return lambda **options: FakeNode(folder, **options)


@pytest.fixture
def cancellation():
    made = Cancellation()
    yield made
    made.close()


def executor(network=""):
    return ProxmoxExecutor(LocalCommands(os.environ), network)


def test_a_move_is_one_argument_list_with_the_network_of_the_settings(make_node, cancellation):
    node = make_node()
    assert executor("10.40.0.0/24").carry_out(MOVE, cancellation) == ""
    assert executor().carry_out(START, cancellation) == ""
    assert node.ran == [
        "qm migrate 101 pve2 --online --migration_network 10.40.0.0/24",
        "pvesh create /nodes/pve3/qemu/102/status/start",
    ]


def test_a_guest_counts_as_moved_once_the_target_reports_it_running(make_node, cancellation):
    node = make_node()
    node.says(vmid=101, status="running")
    assert executor().is_there(MOVE, cancellation) == ""
    node.says(vmid=101, status="stopped")
    assert "'stopped', not running" in executor().is_there(MOVE, cancellation)
    node.says(vmid=102, status="running")
    assert "not about vmid 101" in executor().is_there(MOVE, cancellation)
    node.answer.write_text("500 no such vm")
    assert "no JSON" in executor().is_there(MOVE, cancellation)


def test_the_reason_of_a_failed_command_is_reported(make_node, cancellation):
    make_node(action="echo 'no quorum' >&2; exit 255")
    assert executor().carry_out(MOVE, cancellation) == "qm: status 255: no quorum"


def test_a_machine_without_proxmox_fails_with_the_name_of_the_program(cancellation, monkeypatch):
    monkeypatch.setattr(execution_plan, "PATH", ())
    assert executor().carry_out(MOVE, cancellation) == "qm is not installed on this machine"


def test_a_network_that_is_none_never_becomes_an_argument():
    with pytest.raises(ValueError, match="--force"):
        executor("--force")
