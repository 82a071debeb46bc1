"""The state machine of the agent's gates would notice a fault: a check that cannot fail is none."""

from __future__ import annotations

import pytest

from tests.agent_faults import FAULTS, ROOT, SESSIONS, is_caught


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_seeded_fault_in_the_gates_does_not_pass_unseen(fault):
    assert is_caught(fault, SESSIONS)


def test_every_seeded_fault_still_edits_the_code_as_it_is():
    for fault in FAULTS:
        text = (ROOT / "agents/pulsus" / fault.module).read_text(encoding="utf-8")
        assert text.count(fault.old) == 1, fault.name
