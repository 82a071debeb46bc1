"""Workflow and resources are reset together, so that no session writes to what it never saw."""

from __future__ import annotations

from pulsus.gates.resources.resolved_context import ResolvedContext
from pulsus.gates.session_gates import SessionGates
from pulsus.gates.workflow.workflow_state import WorkflowState
from tests.resources import DELLY, HOMEPAGE


def session(*, pinned=()):
    context = ResolvedContext().add([DELLY, HOMEPAGE], 0.0).pin(pinned, 0.0)
    context = context.mark_explicit([HOMEPAGE.id], 0.0, by_user=True)
    workflow = WorkflowState().after_read("resolve", (), started=0.0)
    workflow = workflow.begin_write("pulsus_control", [DELLY.id]).after_write(ended=1.0)
    return SessionGates(workflow, context)


def test_a_full_reset_asks_for_discovery_again():
    new = session(pinned=[HOMEPAGE.id]).reset(2.0, keep_pinned=False)
    assert new.workflow.name == "RESOLVING"
    assert not len(new.resources)
    assert not new.resources.explicit.by_id


def test_a_reset_that_keeps_pinned_resources_stays_in_reading():
    new = session(pinned=[HOMEPAGE.id]).reset(2.0, keep_pinned=True)
    assert new.workflow == WorkflowState(found=True)
    assert [one.id for one in new.resources.live(2.0)] == [HOMEPAGE.id]


def test_a_reset_without_pinned_resources_does_not_stay_in_reading():
    assert session().reset(2.0, keep_pinned=True).workflow.name == "RESOLVING"
