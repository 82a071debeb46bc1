"""Words that restrict an answer and that nothing follows are named, and talk is not."""

import time
from pathlib import Path

import pytest

from pulsus.core.types import OutputSpec, ToolSpec
from pulsus.routing.inputs.unfollowed_restrictions import find_unfollowed_restrictions

RISKS = ToolSpec(
    id="security/files/risky",
    path=Path("risky.py"),
    entry="run",
    args=(),
    doc="",
    domain="security",
    action="files",
    name="risky",
    summary="Find dangerous files below a folder.",
    sha256="0",
    kind="read",
    returns=(
        OutputSpec(
            "rows",
            "list[dict[str, Any]]",
            "One a finding: `path`, `risk` (`setuid`, `world_writable`), `owner`.",
        ),
    ),
)


def left_out(request, said=(), matched=(), numbers=()):
    return find_unfollowed_restrictions(request, [RISKS], said, matched, numbers)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        pytest.param("setuid files below /opt", ("setuid",), id="value of a column"),
        pytest.param("world-writable files in /srv", ("world-writable",), id="value of two words"),
        pytest.param("files in /opt except quarantined", ("except quarantined",), id="limit"),
        pytest.param("files over 75 percent in /opt", ("over 75 percent",), id="bound"),
        pytest.param("files no larger than 5 MB", ("no larger than 5 MB",), id="negated bound"),
        pytest.param("disks with 15% free or less", ("15% free or less",), id="free share"),
        pytest.param("files between 5 and 9 MB", ("between 5 and 9 MB",), id="between"),
        pytest.param("files between 20:05 and 20:10", ("between 20:05 and 20:10",), id="times"),
        pytest.param("files between 8 am and 9 am", ("between 8 am and 9 am",), id="am"),
        pytest.param(
            "files between 2026-01-02 and 2026-01-05",
            ("between 2026-01-02 and 2026-01-05",),
            id="dates",
        ),
        pytest.param("files 1024 and above", ("1024 and above",), id="and above"),
        pytest.param("does user daemon have files", ("user daemon",), id="user of a question"),
        pytest.param("is the account bob locked", ("account bob",), id="account of a question"),
        pytest.param("risky files of the last week", ("of the last week",), id="period"),
        pytest.param("risky files this month", ("this month",), id="calendar"),
        pytest.param("risky files in the past 24 hours", ("in the past 24 hours",), id="hours"),
        pytest.param("risky files since 12:00", ("since 12:00",), id="clock"),
        pytest.param("risky files, owner is root or ada", ("owner is root or ada",), id="column"),
        pytest.param("files whose owner is root -> table", ("owner is root",), id="whose column"),
        pytest.param("the MX files of /opt", ("MX",), id="abbreviation"),
    ],
)
def test_a_restricting_word_is_not_lost_in_silence(request_, words):
    assert left_out(request_) == words


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        pytest.param("files in /opt but not /opt/a", "but not /opt/a", id="path"),
        pytest.param("files in /opt except files of bo", "except files of bo", id="tool word"),
        pytest.param("files that are not setuid", "not setuid", id="value of a column"),
        pytest.param("names in a.log not containing foo", "not containing foo", id="gerund"),
        pytest.param("files that cannot run", "cannot run", id="negation"),
        pytest.param("risky files besides *.sh", "besides *.sh", id="pattern"),
    ],
)
def test_an_exclusion_is_left_out_although_no_input_took_its_value(request_, words):
    found = find_unfollowed_restrictions(request_, [RISKS], (), ("files",), (), ("/opt/a", "*.sh"))
    assert found == (words,)


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param("hey, someone grabbed the dangerous files below /opt, list them", id="talk"),
        pytest.param("dangerous files in /opt/setuid/x.txt", id="word of a path"),
        pytest.param("dangerous files in /opt, speed is fine", id="no column"),
        pytest.param("is the owner root of dangerous files", id="question"),
        pytest.param("a 2 GB pile of dangerous files", id="unit"),
        pytest.param("LIST THE DANGEROUS FILES OF OPT", id="all in capitals"),
    ],
)
def test_a_right_request_gets_no_false_alarm(request_):
    assert left_out(request_) == ()


def test_words_of_values_and_defaults_count_as_followed():
    assert left_out("setuid files over 75 percent", said=("setuid",), numbers={75.0}) == ()


def test_a_word_that_the_tool_has_is_no_lost_limit():
    assert left_out("files in /opt, only foreign ones", matched={"foreign"}) == ()


@pytest.mark.parametrize(
    ("request_", "said", "words"),
    [
        ("is ssh running", (), ("ssh",)),
        ("is ssh running", ("ssh",), ()),
        ("are nginx and redis running", (), ("nginx", "redis")),
        ("is nginx and redis running", (), ("nginx", "redis")),
        ("is the nginx and redis running", ("nginx",), ("redis",)),
        ("is the disk and memory ok", (), ()),
        ("is enabled and currently running", (), ()),
        ("is risky running", (), ()),
        ("is it running", (), ()),
    ],
)
def test_a_service_that_no_input_took_is_named(request_, said, words):
    assert left_out(request_, said=said) == words


@pytest.mark.parametrize(
    "piece",
    [
        "between 1 ",
        "last 5 ",
        "since ",
        "over 1 or ",
        "not ",
        "1% ",
        "as user ",
        "of the user ",
        "why did ",
        "is a and ",
        "does user ",
        ", owner is a ",
        "where owner is ",
    ],
)
def test_hostile_bounds_are_read_in_bounded_time(piece):
    began = time.process_time()
    left_out((piece * 2000)[:4000])
    assert time.process_time() - began < 2
