"""Numbers of an answer that nothing has: found, without false alarms for rounded ones."""

import pytest

from pulsus.agent.answers.ungrounded_numbers import find_ungrounded_numbers

RESULT = "total: 23.5 GiB | 16777216 | pid 20003, ports 80,443; load 1.2345; 1,024 rows"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("It has 23.5 GiB.", id="copied"),
        pytest.param("It has about 24 GiB (16,777,216 inodes).", id="rounded, thousands"),
        pytest.param("Ports 80 and 443, pid 20003, load 1.23.", id="lists"),
        pytest.param("Ports 80,443 are open, and 20003, too.", id="a list without spaces"),
        pytest.param("There are 3 of them and 1024 rows.", id="small counts"),
    ],
)
def test_a_number_of_a_result_is_grounded(answer):
    assert find_ungrounded_numbers(answer, [RESULT]) == ()


def test_an_invented_number_is_found_once():
    assert find_ungrounded_numbers("16 GB, so 16 GB of 23.5", [RESULT]) == ("16",)


def test_the_comma_behind_a_number_is_no_part_of_it():
    assert find_ungrounded_numbers("16, 32, and 8080,9090", [RESULT]) == ("16", "32", "8080,9090")
