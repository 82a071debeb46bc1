"""A migration runs once, as it was approved, and only if every step still holds."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from pulsus.errors import ApprovalUnknown, DiskFull, PlanMoved, SelfApprovalRefused
from pulsus.infra.migrations.check_migrations import check_migrations
from pulsus.infra.migrations.proxmox_executor import DryRunExecutor
from pulsus.web.migration_cards import MigrationCards, MigrationRules
from tests.approval_cards import ApprovalsOfTest
from tests.clusters import SICK, changed, view_of

PLAN: list[Any] = [
    {"action": "migrate", "vmid": 103, "target": "pve1"},
    {"action": "migrate", "vmid": 101, "target": "pve2"},
]


class FakeNodes:
    """Nodes that note what was asked of them. `fails` are vmids whose move fails."""

    dry = False

    def __init__(self, fails=()):
        self.fails, self.moved = fails, []

    def carry_out(self, action, cancellation):
        self.moved.append(action.vmid)
        return "status 255: no quorum" if action.vmid in self.fails else ""

    def is_there(self, action, cancellation):
        return ""


class Made:
    """Migration cards over waiting approvals of a test; `document` holds the facts of now."""

    def __init__(self, executor=None, approvers=1, **rules):
        self.own = ApprovalsOfTest(approvers)
        self.document = SICK
        self.nodes = executor or FakeNodes()
        name = "dry-run" if self.nodes.dry else "proxmox"
        self.rules = MigrationRules(
            lambda: view_of(self.document), self.nodes, 600.0, executor_name=name, **rules
        )
        self.cards = MigrationCards(self.own.approvals, self.emit, self.rules)

    def emit(self, name, fields):
        self.own.events.append((name, dict(fields)))

    def propose(self, plan=None, requester="ada"):
        actions = check_migrations(plan or PLAN, view_of(self.document)).actions
        made = self.cards.propose(requester, actions, "pve3 has ECC errors")
        return self.own.approvals.get(made.approval_id)

    def approve(self, card, person="ada"):
        return self.cards.approve(self.own.token(card, person), person, card.id)

    def status(self, card):
        return self.own.approvals.get(card.id).status


def test_an_approved_plan_is_carried_out_in_its_order_and_each_action_is_reported():
    made = Made()
    card = made.propose()
    done = made.approve(card)
    assert made.nodes.moved == [103, 101]
    assert (made.status(card), done.to_json()["executed"]) == ("done", 2)
    assert done.to_json()["results"] == ["OK vmid=103 -> pve1", "OK vmid=101 -> pve2"]
    assert done.to_json()["dry_run"] is False
    steps = [fields for name, fields in made.own.events if name == "execution_progress"]
    assert [(each["index"], each["total"], each["ok"]) for each in steps] == [
        (0, 2, None), (0, 2, True), (1, 2, None), (1, 2, True),
    ]  # fmt: skip
    assert steps[0]["action"] == "migrate vmid 103: pve3 -> pve1"


def test_a_dry_run_says_so_on_the_card_and_in_the_result():
    made = Made(DryRunExecutor())
    card = made.propose()
    assert card.to_json()["executor"] == "dry-run"
    done = made.approve(card).to_json()
    assert done["dry_run"] is True
    assert {each["message"] for each in done["actions"]} == {"dry run: nothing was done"}
    assert not any(each["verified"] for each in done["actions"])
    assert made.own.approvals.get(card.id).results[-1] == "dry run: nothing was moved"


@pytest.mark.parametrize(("stop", "moved"), [(True, [103]), (False, [103, 101])])
def test_a_failure_stops_the_rest_unless_the_settings_let_independent_actions_go_on(stop, moved):
    made = Made(FakeNodes(fails=(103,)), stop_on_failure=stop)
    card = made.propose()
    lines = made.approve(card).to_json()["results"]
    assert (made.nodes.moved, made.status(card)) == (moved, "failed")
    assert lines[0] == "FAILED vmid=103: status 255: no quorum"
    assert lines[1].startswith("FAILED vmid=101: skipped" if stop else "OK vmid=101")


@pytest.mark.parametrize(
    "later",
    [
        changed("vms", "vmid", 103, host="pve2"),
        changed("nodes", "name", "pve2", health="critical"),
        SICK | {"vms": SICK["vms"][:2]},
    ],
)
def test_facts_that_moved_since_the_proposal_refuse_the_approval_and_nothing_runs(later):
    made = Made()
    card = made.propose()
    made.document = later
    with pytest.raises(PlanMoved):
        made.approve(card)
    assert (made.nodes.moved, made.status(card), made.own.decisions.rows) == ([], "pending", [])


def test_an_edited_plan_is_refused():
    made = Made()
    card = made.propose()
    card.subject.plan[0]["target"] = "pve2"
    with pytest.raises(PlanMoved):
        made.approve(card)
    assert made.nodes.moved == []


def test_a_plan_is_refused_once_another_executor_would_carry_it_out():
    made = Made(DryRunExecutor())
    card = made.propose()
    made.cards._rules = replace(made.rules, executor=FakeNodes(), executor_name="proxmox")
    with pytest.raises(PlanMoved):
        made.approve(card)


def test_an_own_request_needs_a_second_approver_if_there_is_one():
    made = Made(approvers=2)
    card = made.propose()
    with pytest.raises(SelfApprovalRefused):
        made.own.token(card, "ada")
    assert made.approve(card, "bert").card.status == "done"


def test_a_decision_that_cannot_be_recorded_moves_nothing():
    made = Made()
    card = made.propose()
    made.own.decisions.error = DiskFull("the disk is full")
    with pytest.raises(DiskFull):
        made.approve(card)
    assert made.nodes.moved == []


def test_a_token_carries_a_plan_out_once_however_many_use_it_at_once():
    made = Made()
    token = made.own.token(made.propose())
    ends: list[str] = []

    def use():
        try:
            ends.append(made.cards.approve(token, "ada", None).card.status)
        except ApprovalUnknown:
            ends.append("refused")

    threads = [threading.Thread(target=use) for _ in range(16)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert sorted(ends) == ["done", *["refused"] * 15]
    assert made.nodes.moved == [103, 101]


def test_a_plan_that_ceased_to_hold_while_another_one_ran_does_not_start():
    made = Made()
    first, second = made.propose([PLAN[0]]), made.propose([PLAN[0]])

    def move_on(action, cancellation):
        made.nodes.moved.append(action.vmid)
        made.document = changed("vms", "vmid", 103, host="pve1")
        return ""

    made.nodes.carry_out = move_on  # type: ignore[method-assign]
    assert made.approve(first).card.status == "done"
    with pytest.raises(PlanMoved):
        made.approve(second)
    assert made.nodes.moved == [103]


def test_after_the_server_ends_no_further_action_begins():
    made = Made()
    card = made.propose()
    made.cards.close()
    lines = made.approve(card).to_json()["results"]
    assert made.nodes.moved == []
    assert all("it was cancelled" in line for line in lines)
