"""An approved migration through a running server, with programs that look like `qm` and `pvesh`."""

from __future__ import annotations

import pytest

from tests.clusters import SICK
from tests.migration_story import card, decide, migration_server, propose, reveal, write_facts
from tests.proxmox_node import ProxmoxNode

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytest.importorskip("ortools")
pytestmark = pytest.mark.slow

PROXMOX = {
    "PULSUS_MIGRATIONS__EXECUTOR": "proxmox",
    "PULSUS_MIGRATIONS__NETWORK": "10.40.0.0/24",
}
FULL = {
    "nodes": [
        {"name": "pve1", "health": "nominal", "ram_mib": 8192, "cpu_mc": 8000},
        {"name": "pve2", "health": "nominal", "ram_mib": 16384, "cpu_mc": 8000},
        {"name": "pve3", "health": "degraded", "ram_mib": 16384, "cpu_mc": 8000},
    ],
    "alerts": SICK["alerts"],
    "vms": [
        {"vmid": 202, "host": "pve3", "ram_mib": 15872, "cpu_mc": 1000},
        {"vmid": 203, "host": "pve2", "ram_mib": 6144, "cpu_mc": 1000},
        {"vmid": 204, "host": "pve3", "ram_mib": 1024, "cpu_mc": 1000},
    ],
}
"""VM 202 fits only on pve2, once VM 203 has left it. VM 204 fits on pve1 only, at any time."""


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    return ProxmoxNode(tmp_path_factory.mktemp("node") / "bin")


@pytest.fixture(scope="module")
def server(node, tmp_path_factory):
    folder = tmp_path_factory.mktemp("proxmox") / "project"
    with migration_server(folder, program=node.start, **PROXMOX) as made:
        made.ada = made.first_user()
        yield made


def carry_out(client):
    """Propose the story's plan and approve it. Return the plan, the answer, and the card after."""
    card_id = propose(client)
    waiting = card(client, card_id)
    assert (waiting["status"], waiting["executor"]) == ("pending", "proxmox")
    status, done = decide(client, card_id, "approve", reveal(client, card_id))
    assert status == 200, done
    assert done["dry_run"] is False
    return waiting["plan"], done, card(client, card_id)


def moves(calls):
    return [line for line in calls if line.startswith("qm ")]


def test_an_approved_plan_moves_each_vm_by_one_command_and_asks_its_target(server, node):
    node.let("fails")
    plan, done, after = carry_out(server.ada)
    assert (done["executed"], after["status"]) == (2, "done")
    assert all(each["verified"] for each in done["actions"])
    assert done["results"] == [f"OK vmid={each['vmid']} -> {each['target']}" for each in plan]
    network = "--migration_network 10.40.0.0/24"
    expected = []
    for each in plan:
        vmid, target = each["vmid"], each["target"]
        path = f"/nodes/{target}/qemu/{vmid}/status/current"
        expected.append(f"qm migrate {vmid} {target} --online {network}")
        expected.append(f"pvesh get {path} --output-format json")
        assert node.where(vmid) == target
    assert node.calls == expected


@pytest.mark.parametrize(
    ("way", "said"),
    [("fails", "qm: status 255: can't lock file"), ("lost", "not verified: node")],
)
def test_after_a_failed_vm_or_one_that_does_not_appear_nothing_more_is_moved(
    server, node, way, said
):
    node.let(way, 101, 103)
    plan, done, after = carry_out(server.ada)
    first, second = (each["vmid"] for each in plan)
    assert (done["executed"], after["status"]) == (0, "failed")
    assert said in done["actions"][0]["message"]
    assert done["actions"][1]["message"] == f"skipped: vmid {first} before it failed"
    assert done["results"][1].startswith(f"FAILED vmid={second}: skipped")
    assert not any(each["ok"] or each["verified"] for each in done["actions"])
    assert len(moves(node.calls)) == 1
    assert node.where(second) is None


def test_the_first_vms_stay_moved_if_a_later_one_fails(server, node):
    node.let("fails")
    last = carry_out(server.ada)[0][-1]["vmid"]
    node.let("fails", last)
    plan, done, after = carry_out(server.ada)
    assert plan[-1]["vmid"] == last
    assert (done["executed"], after["status"]) == (1, "failed")
    assert [each["ok"] for each in done["actions"]] == [True, False]
    assert node.where(plan[0]["vmid"]) == plan[0]["target"]


def test_without_the_stop_only_what_needs_the_failed_move_is_skipped(node, tmp_path):
    settings = PROXMOX | {"PULSUS_MIGRATIONS__STOP_ON_FAILURE": "false"}
    with migration_server(tmp_path / "project", program=node.start, **settings) as server:
        ada = server.first_user()
        write_facts(server.project, FULL)
        node.let("fails", 203)
        _, done, after = carry_out(ada)
    by_vmid = {each["vmid"]: each for each in done["actions"]}
    assert after["status"] == "failed"
    assert {vmid: each["ok"] for vmid, each in by_vmid.items()} == {
        202: False, 203: False, 204: True,
    }  # fmt: skip
    assert by_vmid[202]["message"] == "skipped: vmid 203 before it failed"
    assert node.where(204) == "pve1"
    assert not any(" 202 " in line for line in node.calls)
