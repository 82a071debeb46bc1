"""History feature (spec §4, §10)."""

from datetime import UTC, datetime, timedelta

import pytest

from pulsus.core.rankers.history_feature import history_success
from pulsus.core.types import ToolHistory

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def success(accepted=0, failed=0, promotions=0, age_days=0.0, ran=0):
    last = NOW - timedelta(days=age_days) if accepted or promotions or ran else None
    return history_success(ToolHistory("a/b/c", promotions, accepted, failed, last, ran), NOW, 90)


def test_no_history_is_neutral():
    assert history_success(None, NOW, 90) == 0.0
    assert success() == 0.0


def test_failures_alone_are_no_better_than_nothing():
    assert success(failed=5) == 0.0


def test_more_successes_count_more_and_failures_against():
    assert success(accepted=9) > success(accepted=1) > success(accepted=1, failed=3) > 0


def test_success_fades_by_half_every_half_life():
    assert success(accepted=4, age_days=90) == pytest.approx(success(accepted=4) / 2)


def test_a_success_in_the_future_counts_as_now():
    assert success(accepted=4, age_days=-3) == success(accepted=4)


def test_a_run_that_nobody_confirmed_counts_less_than_an_approval():
    assert 0 < success(ran=1) < success(accepted=1) / 5


def test_a_job_that_repeats_a_request_counts_as_one_approval_at_most():
    assert success(ran=10_000) == success(accepted=1)
