"""Plays many sessions of the agent's state machine, each from a seed: far cheaper than Hypothesis.

`python -m tests.agent_sessions SESSIONS [FIRST_SEED]` plays them in one process and prints how many
steps and effects there were. A failed check ends it with the seed, which plays the session again.

All sessions of a process share one event loop and one task, so that the threads of a turn serve the
next one too. A session has everything else for itself: gates, tools, record and clock.
"""

import asyncio
import gc
import json
import os
import sys
from collections import Counter
from random import Random

import pulsus
from tests.property.test_agent_safety import EVENTS, AgentSafety

STEPS = 50


async def play_session(seed: int) -> Counter[str]:
    """Play one session and return how many steps and effects of each kind it had.

    Raises AssertionError if a check of the machine fails, and what the gates raise.
    """
    random, machine = Random(seed), AgentSafety()

    async def play(size: int, *, fails: bool) -> None:
        await machine.play_calls(machine.draw_calls(random.choice, size), fails)

    counts = Counter(steps=STEPS)
    try:
        for _ in range(STEPS):
            match random.randrange(4):
                case 0:
                    size = random.randint(1, 6)
                    await play(size, fails=random.random() < 0.25)
                case 1:
                    await play(random.randint(1, 3), fails=False)
                case 2:
                    await play(1, fails=False)
                case _:
                    machine.take_place(random.choice, random.choice(EVENTS))
            machine.an_answer_leaves_no_write_unverified()
            machine.no_more_resources_than_the_limit()
    finally:
        machine.teardown()
    counts.update(effect.what for effect in machine.effects)
    return counts


async def main(sessions: int, first: int) -> None:
    if not pulsus.__file__.startswith(os.environ.get("AGENT_PACKAGE", "")):
        raise ImportError(f"{pulsus.__file__} is not the package that was asked for")
    counts: Counter[str] = Counter()
    gc.freeze()  # the modules stay, and need not be looked through again and again
    for seed in range(first, first + sessions):
        try:
            counts += await play_session(seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    sys.stdout.write(json.dumps({"sessions": sessions, "first_seed": first, **counts}) + "\n")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
