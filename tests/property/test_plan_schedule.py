"""The order of steps, for plans of any shape: writes run alone, and nothing starts too early."""

import random

from hypothesis import given
from hypothesis import strategies as st

from pulsus.execution.engine.schedule import Schedule, ScheduledStep


@st.composite
def plans(draw):
    """Steps that write or read, and wait for some of the steps before them."""
    count = draw(st.integers(1, 12))
    return [
        ScheduledStep(
            f"s{n}",
            draw(st.booleans()),
            tuple(sorted(draw(st.sets(st.sampled_from([f"s{k}" for k in range(n)]), max_size=3))))
            if n
            else (),
        )
        for n in range(count)
    ]


@given(plans(), st.sets(st.integers(0, 11)), st.integers(1, 4), st.randoms(use_true_random=False))
def test_steps_start_in_order_and_each_one_ends(steps, failing, limit, rng: random.Random):
    schedule = Schedule(steps)
    number = {step.id: n for n, step in enumerate(steps)}
    running: list[str] = []
    ended: dict[str, bool] = {}
    while True:
        while len(running) < limit and (step_id := schedule.take()) is not None:
            step = steps[number[step_id]]
            assert all(ended.get(needed) for needed in step.waits_for)
            before = [each.id for each in steps[: number[step_id]]]
            if step.is_write:
                assert not running
                assert all(each in ended for each in before)
            else:
                assert all(each in ended for each in before if steps[number[each]].is_write)
            running.append(step_id)
        if not running:
            break
        step_id = running.pop(rng.randrange(len(running)))
        passed = number[step_id] not in failing
        ended[step_id] = passed
        for skipped in schedule.end(step_id, passed=passed):
            assert skipped not in ended
            assert not all(ended[n] for n in steps[number[skipped]].waits_for if n in ended)
            ended[skipped] = False
    assert set(ended) == set(number)
    assert schedule.unended == 0


@given(plans(), st.sets(st.integers(0, 11)))
def test_a_resumed_schedule_goes_on_with_the_steps_that_have_not_ended(steps, done):
    # What has passed before is closed under its own needs.
    passed: dict[str, bool] = {}
    for number, step in enumerate(steps):
        if number in done and all(needed in passed for needed in step.waits_for):
            passed[step.id] = True
    schedule = Schedule(steps, passed)
    taken = []
    while (step_id := schedule.take()) is not None:
        taken.append(step_id)
        assert schedule.end(step_id, passed=True) == []
    assert sorted([*taken, *passed]) == sorted(step.id for step in steps)
