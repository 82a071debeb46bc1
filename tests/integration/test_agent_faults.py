"""The state machine of the agent's gates would notice a fault: a check that cannot fail is none."""

from __future__ import annotations

import pytest

from tests.agent_faults import FAULTS, ROOT, is_caught

_TRIED = (2, 5, 10, 12, 17)
"""`python -m tests.agent_faults` tries all of them; each takes some seconds."""


@pytest.mark.slow
@pytest.mark.parametrize("number", _TRIED)
def test_a_seeded_fault_in_the_gates_does_not_pass_unseen(number):
    assert is_caught(FAULTS[number - 1], examples=200)


def test_every_seeded_fault_still_edits_the_code_as_it_is():
    for fault in FAULTS:
        text = (ROOT / "agents/pulsus" / fault.module).read_text(encoding="utf-8")
        assert text.count(fault.old) == 1, fault.name
