"""Each stage of a run has its time."""

import pytest

from pulsus.core.telemetry.stage_times import StageTimes


def test_stages_are_measured_in_order_and_also_if_they_raise():
    ticks = iter([1.0, 1.25, 2.0, 2.0015])
    times = StageTimes(lambda: next(ticks))
    with times.stage("parse"):
        pass
    with pytest.raises(KeyError), times.stage("search"):
        raise KeyError
    assert list(times.milliseconds) == ["parse", "search"]
    assert times.milliseconds["parse"] == pytest.approx(250)
    assert times.milliseconds["search"] == pytest.approx(1.5)


def test_a_stage_that_comes_again_adds_to_its_time():
    ticks = iter([0.0, 1.0, 5.0, 7.0])
    times = StageTimes(lambda: next(ticks))
    for _ in range(2):
        with times.stage("search"):
            pass
    assert times.milliseconds == {"search": pytest.approx(3000)}
