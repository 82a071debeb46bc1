"""The sessions that catch each seeded fault (`tests/agent_faults.py`), on the code as it is."""

import asyncio

import pytest

from tests.agent_faults import SESSIONS
from tests.agent_sessions import STEPS, play_session

_PART = 100
"""So that several processes share the sessions."""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", range(1, SESSIONS + 1, _PART))
def test_no_session_from_a_seed_gets_past_the_gates_of_the_agent(first):
    with asyncio.Runner() as runner:
        for seed in range(first, min(first + _PART, SESSIONS + 1)):
            assert play_session(seed, runner.get_loop())["steps"] == STEPS, seed
