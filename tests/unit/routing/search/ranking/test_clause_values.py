"""A name that no catalogue knows does not hide the change that a part asks for."""

from dataclasses import replace

import pytest

from pulsus.core.types import ArgSpec
from pulsus.routing.search.ranking.clause_values import search_by_subject, search_without_values
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


def test_a_first_tool_that_reaches_the_floor_becomes_as_sure_as_one_below_it():
    near = replace(RESTART, p=0.7)
    again = search_without_values("restart rsyslog", [near], FLOOR, lambda _: [SURE], sure_from=0.9)
    assert [(one.p, one.p_before_values) for one in again] == [(0.97, 0.7)]
    assert search("restart rsyslog", [near])[0] == (near,)
    less = replace(SURE, p=0.6)
    kept = search_without_values("restart rsyslog", [near], FLOOR, lambda _: [less], sure_from=0.9)
    assert kept == (near,)


def test_a_tool_that_reads_is_not_raised():
    reading = replace(RESTART, tool=replace(RESTART.tool, kind="read"))
    assert search("restart rsyslog", [reading]) == ((reading,), [])


STATUS = candidate("services/status/service_status", 0.01, SERVICE, kind="read")


def by_subject(text, found, *again):
    asked = []

    def rank(wording):
        asked.append(wording)
        return again

    return search_by_subject(text, found, FLOOR, rank), asked


def test_an_unknown_name_that_the_tool_takes_does_not_speak_against_it():
    load = candidate("system/load/load_average", 0.2, kind="read")
    found, asked = by_subject("is rsyslog running", [load, STATUS], replace(STATUS, p=0.98))
    assert next((r.tool.id, r.p, r.p_before_values, r.rank) for r in found) == (
        STATUS.tool.id,
        0.98,
        0.01,
        1,
    )
    assert found[1].tool == load.tool
    assert asked == ["is service running"]


def test_a_first_tool_that_takes_the_name_becomes_as_sure_as_one_below_the_floor():
    load = candidate("system/load/load_average", 0.2, kind="read")
    near = replace(STATUS, p=0.7)
    sure = replace(STATUS, p=0.98)
    again = search_by_subject(
        "is rsyslog running", [near, load], FLOOR, lambda _: [sure], sure_from=0.9
    )
    assert [(one.p, one.p_before_values) for one in again] == [(0.98, 0.7), (0.2, None)]
    other = search_by_subject(
        "is rsyslog running", [replace(load, p=0.7), near], FLOOR, lambda _: [sure], sure_from=0.9
    )
    assert [one.p for one in other] == [0.7, 0.7]


def test_a_tool_that_does_not_fit_the_thing_that_is_named_stays_as_it_is():
    other = candidate("containers/list/container_list", 0.98, kind="read")
    assert by_subject("is rsyslog running", [STATUS], other)[0] == (STATUS,)
    assert by_subject("is rsyslog running", [STATUS], replace(STATUS, p=0.3))[0] == (STATUS,)


@pytest.mark.parametrize(
    "text", ["is web01 running", "is the printer running", "status of rsyslog"]
)
def test_what_is_no_sure_name_raises_no_tool(text):
    assert by_subject(text, [STATUS], replace(STATUS, p=0.98)) == ((STATUS,), [])


def test_a_tool_that_writes_is_not_raised_by_a_question():
    writing = replace(STATUS, tool=replace(STATUS.tool, kind="write"))
    assert by_subject("is rsyslog running", [writing], writing) == ((writing,), [])


def test_an_unknown_setting_does_not_hide_the_tool_that_sets_it():
    args = [
        ArgSpec(n, "str", True, None, d)
        for n, d in (
            ("path", "The configuration file."),
            ("key", "The name of the setting."),
            ("value", "Its new value."),
        )
    ]
    setting = candidate("config/edit/set_config_line", 0.12, *args)
    (first,), asked = search("set workers to 16 in app.yaml", [setting], replace(setting, p=0.9))
    assert (first.p, first.p_before_values) == (0.9, 0.12)
    assert ["set", "the", "setting", "to", "value", "in", "the", "file"] in asked


LINE = candidate(
    "config/edit/set_config_line",
    0.9,
    ArgSpec("path", "str", True, None, "The file."),
    ArgSpec("key", "str", True, None, "The setting."),
    ArgSpec("value", "str", True, None, "Its value."),
)
MODES = candidate(
    "storage/access/set_permissions",
    0.3,
    ArgSpec("path", "str", True, None, "The file."),
    ArgSpec("owner", "str", False, "", "The new owner."),
)


def test_the_owner_of_a_file_is_not_written_into_the_file_as_a_setting():
    """ "set the owner of app.yaml to ops" became a line `owner: ops` in the file."""
    (first, second), _ = search("set the owner of app.yaml to ops", [LINE, MODES], again=LINE)
    assert (first.tool, second.tool) == (MODES.tool, LINE.tool)
    assert second.p < FLOOR
    assert "storage/access/set_permissions" in (second.caution or "")


@pytest.mark.parametrize(
    "text", ["set the owner in app.yaml to ops", "set workers of app.yaml to 4"]
)
def test_a_setting_in_a_file_stays_a_setting(text):
    assert search(text, [LINE, MODES])[0] == (LINE, MODES)


def test_a_network_that_is_up_is_no_container_of_that_name():
    name = ArgSpec("name", "str", True, None, "The container, for example `web`.")
    containers = candidate("containers/list/container_list", 0.2, name, kind="read")
    sure = replace(containers, p=0.98)
    assert by_subject("is vpn up", [containers], sure)[0] == (containers,)
    assert by_subject("is redis up", [containers], sure)[0] != (containers,)
