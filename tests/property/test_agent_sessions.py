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
    asyncio.run(play_all(range(first, min(first + _PART, SESSIONS + 1))))


async def play_all(seeds):
    for seed in seeds:
        assert (await play_session(seed))["steps"] == STEPS, seed
