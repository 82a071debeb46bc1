"""Plays many sessions of the agent's state machine, each from a seed: far cheaper than Hypothesis.

`python -m tests.agent_sessions SESSIONS [FIRST_SEED]` plays them in one process and prints how many
steps and effects there were. A failed check ends it with the seed, which plays the session again.
"""

import asyncio
import json
import os
import sys
from collections import Counter
from random import Random

import pulsus
from tests.property.test_agent_safety import EVENTS, AgentSafety

STEPS = 50


def play_session(seed: int, loop: asyncio.AbstractEventLoop) -> Counter[str]:
    """Play one session in `loop` and return how many steps and effects of each kind it had.

    Raises AssertionError if a check of the machine fails, and what the gates raise.
    """
    random, machine = Random(seed), AgentSafety()
    # A loop of its own for each turn costs as much as the turn.
    machine.run_async = lambda turn: loop.run_until_complete(turn())
    counts = Counter(steps=STEPS)
    try:
        for _ in range(STEPS):
            match random.randrange(4):
                case 0:
                    machine.play(random.choice, random.randint(1, 6), random.random() < 0.25)
                case 1:
                    machine.play(random.choice, random.randint(1, 3), fails=False)
                case 2:
                    machine.play(random.choice, 1, fails=False)
                case _:
                    machine.take_place(random.choice, random.choice(EVENTS))
            machine.an_answer_leaves_no_write_unverified()
            machine.no_more_resources_than_the_limit()
    finally:
        machine.teardown()
    counts.update(effect.what for effect in machine.effects)
    return counts


def main(sessions: int, first: int) -> None:
    if not pulsus.__file__.startswith(os.environ.get("AGENT_PACKAGE", "")):
        raise ImportError(f"{pulsus.__file__} is not the package that was asked for")
    counts: Counter[str] = Counter()
    loop = asyncio.new_event_loop()
    for seed in range(first, first + sessions):
        try:
            counts += play_session(seed, loop)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    loop.close()
    sys.stdout.write(json.dumps({"sessions": sessions, "first_seed": first, **counts}) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
