"""An action counts as done once its node reported the guest, and a failure stops the rest."""

import pytest

from pulsus.execution.cancellation import Cancellation
from pulsus.infra.migrations.proxmox_executor import DryRunExecutor
from pulsus.infra.migrations.run_migrations import run_migrations
from pulsus.placement.cluster import PlacementAction

MOVES = (
    PlacementAction("migrate", 101, "pve2", "pve1"),
    PlacementAction("migrate", 102, "pve1", "pve3"),
    PlacementAction("migrate", 103, "pve5", "pve4"),
    PlacementAction("start", 101, "pve6"),
)


class Cluster:
    """Keeps what was carried out. `fails` and `lost` are guests whose move fails, or is unseen."""

    dry = False

    def __init__(self, fails=(), lost=()):
        self.fails, self.lost, self.done = fails, lost, []

    def carry_out(self, action, cancellation):
        self.done.append(action.vmid)
        return "status 255: no quorum" if action.vmid in self.fails else ""

    def is_there(self, action, cancellation):
        return "stopped" if action.vmid in self.lost else ""


@pytest.fixture
def cancellation():
    made = Cancellation()
    yield made
    made.close()


def run(cluster, cancellation, **options):
    seen = []
    reports = run_migrations(
        MOVES, cluster, cancellation, lambda *each: seen.append(each), **options
    )
    return reports, seen


def test_every_action_is_reported_in_order_with_its_progress(cancellation):
    cluster = Cluster()
    reports, seen = run(cluster, cancellation)
    assert [each.line for each in reports] == [
        "OK vmid=101 -> pve2", "OK vmid=102 -> pve1", "OK vmid=103 -> pve5", "OK vmid=101 -> pve6",
    ]  # fmt: skip
    assert all(each.verified for each in reports)
    assert [(index, total, ok) for index, total, _, ok in seen[:3]] == [
        (0, 4, None), (0, 4, True), (1, 4, None),
    ]  # fmt: skip


def test_after_a_failure_nothing_more_is_carried_out(cancellation):
    cluster = Cluster(fails=(101,))
    reports, _ = run(cluster, cancellation)
    assert cluster.done == [101]
    assert [each.line for each in reports] == [
        "FAILED vmid=101: status 255: no quorum",
        *(f"FAILED vmid={n}: skipped: vmid 101 before it failed" for n in (102, 103, 101)),
    ]


def test_what_depends_on_a_failed_action_is_skipped_although_the_rest_goes_on(cancellation):
    cluster = Cluster(fails=(101,))
    reports, _ = run(cluster, cancellation, stop_on_failure=False)
    # 102 needs the room that 101 did not make on pve1.
    assert cluster.done == [101, 103]
    assert [each.ok for each in reports] == [False, False, True, False]


def test_a_guest_that_its_node_does_not_report_is_no_success(cancellation):
    reports, _ = run(Cluster(lost=(101,)), cancellation)
    first = reports[0]
    assert (first.ok, first.verified, first.message) == (False, False, "not verified: stopped")


def test_a_cancelled_plan_carries_out_nothing_more(cancellation):
    cancellation.cancel("SIGINT")
    cluster = Cluster()
    reports, _ = run(cluster, cancellation)
    assert cluster.done == []
    assert {each.message for each in reports} == {"skipped: it was cancelled"}


def test_a_dry_run_says_that_nothing_was_done_and_verifies_nothing(cancellation):
    reports, _ = run(DryRunExecutor(), cancellation)
    assert {(each.ok, each.verified, each.message) for each in reports} == {
        (True, False, "dry run: nothing was done")
    }
