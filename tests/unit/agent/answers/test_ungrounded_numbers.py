"""Numbers of an answer that nothing has: found, without false alarms for rounded ones."""

import time

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


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("The disk is 1e2 percent full.", "1e2"),
        ("The disk is 1.5E+3 MB large.", "1.5E+3"),
        ("It is at 0x5b percent.", "0x5b"),
        ("It uses 91GB of the space.", "91"),
        ("It uses 91GB2 of it.", "91GB2"),
        ("It has 99TB9.", "99TB9"),
        ("disk91 is full", "91"),
        ("Version v91.2 runs.", "91.2"),
        ("It has 5,000 rows.", "5,000"),
        ("It has 5 000 rows.", "5 000"),
        ("It has 5'000'000 rows.", "5'000'000"),
        ("It has 5_000 rows.", "5_000"),
        ("It is ninety-one percent full.", "ninety-one"),
        ("It has five hundred users.", "five hundred"),
        ("It is \uff19\uff11 percent full.", "91"),
        ("It is at .91 of 77.", "91"),
    ],
)
def test_an_invented_number_in_another_writing_does_not_pass_without_a_line(answer, found):
    assert found in find_ungrounded_numbers(answer, [RESULT])


@pytest.mark.parametrize(
    "answer",
    [
        "commit 9f86d08 of x86_64 with SHA256 and IPv6 on ext4",
        "node17-a and nvme0n1p3, pid20003",
        "It has 16 777 216 inodes, or 16_777_216.",
        "ports 80 443 and 1e0 or 0x9",
        "10.42.17.5 since 2026-03-14T15:16:17, or 14 March 2026",
        "seventeen of them, nine more",
        "23.5GiB, 24GiB and 80/tcp",
        "vm-x91a2 runs",
    ],
)
def test_words_and_numbers_of_a_result_are_grounded_in_any_writing(answer):
    more = (
        "line\\\\nvm-x91a2 9f86d081884c7d659a2f node17-a nvme0n1p3 10.42.17.5 2026-03-14T15:16:17"
    )
    assert find_ungrounded_numbers(answer, [RESULT, more]) == ()


def test_the_time_for_numbers_grows_with_the_answer_not_with_its_square():
    for unit in ("1", "1,", "a1", "1 000 ", "1e", "0x", "one ", "a", "1_"):
        answer = unit * (100_000 // len(unit))
        started = time.process_time()
        find_ungrounded_numbers(answer, [RESULT])
        assert time.process_time() - started < 3, unit


_NETWORK = "net 192.168.1.0/24, host 192.168.1.1, v2.3.41, mac 00:1a:2b:3c:4d:5e, fe80::1a:2, ::1"


@pytest.mark.parametrize(
    "address",
    [
        *("192.168.1.100", "192.1.168.1", "10.0.0.7", "2.3.4", "v2.3.4", "92.168.1.1"),
        *("00:1a:2b:3c:4d:5f", "fe80::2:1a", "fe80::1", "1a:2b:3c::"),
    ],
)
def test_an_invented_address_of_known_numbers_gets_a_line(address):
    assert address in find_ungrounded_numbers(f"The address is {address}.", [_NETWORK])


@pytest.mark.parametrize(
    "address",
    [
        *("192.168.1.1", "192.168.1.0/24", "2.3.41", "v2.3.41", "V2.3.41", "192.168.1.1:24"),
        *("00:1A:2B:3C:4D:5E", "fe80::1a:2", "::1", "(192.168.1.1)", "http://192.168.1.1/"),
    ],
)
def test_a_known_address_gets_none(address):
    assert find_ungrounded_numbers(f"The address is {address}.", [_NETWORK]) == ()


_DISK = "/dev/sda1 40G 12G 28G 30% /; Mem: 7.6Gi 1.1Gi 6.0Gi; bytes 2684354560, pid 77, load 0.20"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        *(("28 MB are free.", "28 MB"), ("12T used, 28G free.", "12T"), ("5Gi in use.", "5Gi")),
        *(("12 percent is used.", "12 percent"), ("It has 40 % free.", "40 %")),
        *(("The disk is 30G full.", "30G"), ("Swap is 9 % used.", "9 %"), ("9 TB total", "9 TB")),
    ],
)
def test_a_known_number_with_a_unit_of_its_own_gets_a_line(answer, found):
    assert find_ungrounded_numbers(answer, [_DISK]) == (found,)


@pytest.mark.parametrize(
    "answer",
    [
        *("28 GB of 40 GiB are free, 30% used.", "About 8 GiB of memory.", "77 % is the pid"),
        *("It has 2.5 GiB.", "It has 2.7 GB.", "0 B of swap", "0 % used"),
        *("30 percent", "1.1 GiB used", "The load is 0.20."),
    ],
)
def test_a_size_in_the_unit_of_a_result_or_counted_in_bytes_gets_none(answer):
    assert find_ungrounded_numbers(answer, [_DISK]) == ()
