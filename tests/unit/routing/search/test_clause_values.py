"""A name that no catalogue knows does not hide the change that a part asks for."""

from dataclasses import replace

from pulsus.core.types import ArgSpec
from pulsus.routing.search.clause_values import search_without_values
from tests.ranking import ranked

FLOOR = 0.55
SERVICE = ArgSpec("name", "str", True, None, "The service, for example `nginx`.")


def candidate(tool_id, p, *args, kind="write"):
    found = ranked(tool_id, p)
    return replace(found, tool=replace(found.tool, args=args, kind=kind))


RESTART = candidate("services/control/restart_service", 0.4, SERVICE)
SURE = replace(RESTART, p=0.97)


def search(text, found, again=SURE):
    asked = []

    def rank(rest):
        asked.append(rest.split())
        return [again]

    return search_without_values(text, found, FLOOR, rank), asked


def test_an_unknown_service_name_does_not_hide_the_tool():
    (first,), asked = search("restart rsyslog", [RESTART])
    assert (first.p, first.p_before_values) == (0.97, 0.4)
    assert asked == [["restart"]]


def test_a_tool_that_other_words_do_not_name_stays_as_it_is():
    other = candidate("services/control/stop_service", 0.97, SERVICE)
    assert search("restart rsyslog", [RESTART], other)[0] == (RESTART,)
    assert search("restart rsyslog", [RESTART], replace(SURE, p=0.3))[0] == (RESTART,)


def test_a_tool_that_reads_is_not_raised():
    reading = replace(RESTART, tool=replace(RESTART.tool, kind="read"))
    assert search("restart rsyslog", [reading]) == ((reading,), [])
