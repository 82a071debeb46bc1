"""A tool that takes the values of a request becomes more likely; no other tool does."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pulsus.core.types import ArgSpec
from pulsus.routing.search.ranking.value_evidence import take_values, with_value_evidence
from tests.ranking import ranked

NOW = datetime(2026, 11, 23, tzinfo=UTC)
TAU = 0.6
REQUEST = "can we get to 10.3.3.9:6443 from here"
HOST = ArgSpec("host", "str", True, None, "Host name or IP address.")
PORT = ArgSpec("port", "int", True, None, "TCP port, 1 to 65535.")


def candidate(tool_id, p, *args, kind="read", **more):
    found = ranked(tool_id, p, **more)
    return replace(found, tool=replace(found.tool, args=args, kind=kind))


CHECK = candidate("network/ports/check_port", 0.3, HOST, PORT)
LOAD = candidate("system/load/load_average", 0.4)


def raised(*candidates, request=REQUEST):
    return with_value_evidence(request, candidates, tau=TAU, now=NOW)


def test_the_tool_that_takes_the_values_is_raised_above_one_that_takes_none():
    first, second = raised(LOAD, CHECK)
    assert first.tool.id == CHECK.tool.id
    assert first.p >= TAU
    assert first.p_before_values == CHECK.p
    assert (first.rank, second.rank) == (1, 2)
    assert CHECK.tool.id in (second.why_not or "")
    assert second.p == LOAD.p


def test_a_request_that_words_decide_keeps_its_order():
    sure = replace(LOAD, p=0.7)
    assert raised(sure, CHECK) == (sure, CHECK)


def test_a_first_tool_that_takes_the_values_is_not_less_sure_once_words_decide():
    below, above = replace(CHECK, p=0.59), replace(CHECK, p=0.61)
    (before, *_), (after, *_) = raised(below, LOAD), raised(above, LOAD)
    assert after.p >= before.p > 0.61
    assert after.p_before_values == 0.61


def test_a_tool_that_words_are_sure_of_is_not_looked_at_again():
    sure = replace(CHECK, p=0.9)
    assert raised(sure, LOAD) == (sure, LOAD)


@pytest.mark.parametrize(
    "other",
    [
        replace(CHECK, tool=replace(CHECK.tool, kind="write")),
        replace(CHECK, caution="the request asks for a change"),
        replace(CHECK, tool=replace(CHECK.tool, composed=True)),
        replace(
            CHECK,
            tool=replace(CHECK.tool, args=(HOST, ArgSpec("folder", "str", True, None, "Folder."))),
        ),
    ],
    ids=["writes", "conflicts", "composed", "misses a required value"],
)
def test_no_other_tool_is_raised(other):
    assert raised(LOAD, other) == (LOAD, other)


def test_values_that_no_input_takes_speak_against_the_tool():
    request = f"{REQUEST} then copy /srv/a.tgz and /srv/b.tgz to 10.9.9.9"
    assert raised(LOAD, CHECK, request=request) == (LOAD, CHECK)


def test_no_p_is_lowered():
    near = replace(CHECK, p=0.59)
    assert all(after.p >= 0.4 for after in raised(near, LOAD))


def test_no_candidates_stay_none():
    assert raised() == ()


def test_the_values_that_a_tool_takes_are_counted():
    taken = take_values(REQUEST, CHECK.tool, NOW)
    assert taken.names == ("host", "port")
    assert (taken.missing, taken.unused, taken.required) == (0, 0, 2)
    assert taken.suits
    assert not take_values("how busy is this box", CHECK.tool, NOW).suits
