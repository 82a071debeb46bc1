"""A read that read nothing is a failure, and no empty answer."""

from dataclasses import replace

import pytest

from pulsus.core.types import ArgSpec
from pulsus.errors import ToolFailed
from pulsus.execution.unread_source import describe_unread_step, read_reason, source_failure
from tests.ranking import tool

NOTHING = {"rows": [], "total": 0, "names": {}, "source": "", "day": None, "error": "no systemd"}


@pytest.mark.parametrize(
    "result",
    [
        pytest.param({**NOTHING, "error": None}, id="nothing found"),
        pytest.param({**NOTHING, "error": " "}, id="an empty error"),
        pytest.param({**NOTHING, "error": ["x"]}, id="an error that is no text"),
        pytest.param({**NOTHING, "rows": [1]}, id="a partial answer"),
        pytest.param({**NOTHING, "ok": False}, id="a check that fails"),
        pytest.param({**NOTHING, "ok": True}, id="a check that passes"),
        pytest.param({**NOTHING, "whole": False}, id="a check by another name"),
        pytest.param([], id="no mapping"),
        pytest.param(None, id="nothing"),
    ],
)
def test_an_answer_is_no_failure(result):
    assert read_reason(result, {}) is None


@pytest.mark.parametrize("ok", [{}, {"ok": None}])
def test_an_error_with_empty_values_is_no_answer(ok):
    assert read_reason({**NOTHING, **ok}, {}) == "no systemd"


def test_the_error_names_the_input_that_takes_a_saved_copy():
    path = ArgSpec("path", "str", required=False, default="''", description="A saved\nlisting.")
    read = replace(tool("services/status/s"), kind="read", args=(path,))
    found = source_failure(read, {**NOTHING, "error": "no\nsystemd"}, {})
    assert isinstance(found, ToolFailed)
    assert (found.code, found.exit_status) == ("SOURCE_UNREADABLE", 1)
    assert found.message == "services/status/s could not read what it reports on: no systemd"
    assert found.ways == (
        "add --input path=…: A saved listing",
        "`pulsus tools show services/status/s` says what it reads",
    )
    told = source_failure(read, NOTHING, {"path": "/x"})
    assert told
    assert "--input" not in told.hint


def test_only_reads_without_an_exit_status_of_their_own_are_judged():
    read = replace(tool("services/status/s"), kind="read")
    assert source_failure(replace(read, kind="write"), NOTHING, {}) is None
    assert source_failure(replace(read, success_statuses=(0,)), NOTHING, {}) is None


@pytest.mark.parametrize(
    ("unit", "fails"),
    [
        ({"kind": "read", "success": []}, True),
        ({"kind": "resolve", "success": []}, True),
        ({"kind": "write", "success": []}, False),
        ({"kind": "read", "success": [0]}, False),
    ],
)
def test_a_step_that_read_nothing_ends_its_composition(unit, fails):
    said = describe_unread_step({"id": "s/a/x", **unit}, NOTHING, {})
    expected = "step s/a/x could not read what it reports on: no systemd"
    assert said == (expected if fails else None)


def test_a_failed_read_that_repeats_its_inputs_is_no_answer():
    result = {"path": "/var/x", "most": 5, "rows": [], "error": "permission denied"}
    assert read_reason(result, {"path": "/var/x", "most": 5}) == "permission denied"
    assert read_reason(result, {"path": "/var/x"}) is None
    assert read_reason(result, {"path": "/var/y", "most": 5}) is None


def test_a_failed_resolve_is_no_empty_list_of_resources():
    resolve = replace(tool("services/find/f"), kind="resolve")
    assert source_failure(resolve, NOTHING, {}) is not None


def test_a_long_reason_is_cut():
    read = replace(tool("services/status/s"), kind="read")
    found = source_failure(read, {**NOTHING, "error": "x" * 5000}, {})
    assert found
    assert len(found.message) < 1100
