"""The checks of the agent's benchmark refuse wrong answers and take right ones in any words."""

import pytest

from tests.answer_checks import (
    says_all,
    says_duration,
    says_number,
    says_only,
    says_percent,
    says_size,
)

GIB = 2**30


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (says_size(23.5 * GIB), "It has 23.5 GiB.", "It has 16 GB of RAM."),
        (says_size(23.5 * GIB), "25232932864 bytes", "23.5 MB"),
        (says_number(4), "There are four files.", "There are 40 files."),
        (says_number(1024), "1,024 of them", "1.024"),
        (says_percent(31, 2), "It is 30.8 % full.", "30.8 GiB are full, 99 %"),
        (says_duration(20700, 60), "5 h 45 min", "about 1 hour"),
        (says_duration(20700, 60), "since 20,700 s, 5 hours and 45 minutes", "45 minutes"),
        (says_all("a.bin", "b.bin"), "B.bin and a.bin", "a.bin"),
        (says_only(("mysqld",), {"mysqld", "bash"}), "mysqld, then bash", "bash, then mysqld"),
    ],
)
def test_a_check_tells_right_from_wrong(check, right, wrong):
    assert check(right)
    assert not check(wrong)
