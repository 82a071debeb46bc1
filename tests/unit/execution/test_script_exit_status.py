"""The exit status of a script that a tool wraps (docs/tool-contract.md, "Exit status")."""

from dataclasses import replace

import pytest

from pulsus.errors import ToolFailed
from pulsus.execution.script_exit_status import read_status, script_failure, to_process_status
from pulsus.execution.tool_process import run_tool
from tests.compositions import module
from tests.ranking import tool
from tests.unit.execution.test_tool_process import SECOND, compose

STATUS = '''
"""Say how a script ended.

Args:
    start (str): The status to end with.

Returns:
    rows (list[dict[str, Any]]): One row.
    exit_status (int): The exit status of the script.
{more}"""

from typing import Any


def run(start: str) -> dict[str, Any]:
    return {{"rows": [{{"n": 1, "t": 1}}], "exit_status": int(start)}}
'''
PLAIN = STATUS.format(more="")
ONE_IS_FINE = STATUS.format(more="\nSuccess exit status: 1\n")


def test_only_a_declared_status_that_is_a_number_counts():
    assert read_status((0,), {"exit_status": 3}) == 3
    assert read_status((), {"exit_status": 3}) is None  # the contract has no such output
    assert read_status((0,), {"exit_status": True}) is None
    assert read_status((0,), {"exit_status": None}) is None
    assert read_status((0,), ["exit_status"]) is None


@pytest.mark.parametrize(
    ("status", "code"), [(0, 0), (3, 3), (255, 255), (256, 1), (258, 2), (-9, 137), (-999, 255)]
)
def test_a_failed_script_never_becomes_the_exit_code_zero(status, code):
    assert to_process_status(status) == code


def test_a_script_failure_names_the_status_and_the_declared_ones():
    found = script_failure(replace(tool("a/b/c"), success_statuses=(0, 1)), {"exit_status": 3})
    assert found is not None
    assert (found.code, found.exit_status, found.details["exit_status"]) == ("SCRIPT_FAILED", 1, 3)
    assert "exit status 3" in found.message
    assert "only 0, 1 a success" in found.message
    assert found.hint.endswith("`Success exit status: 3`, and promote it again")


def test_a_run_whose_script_fails_still_has_its_result():
    one, source = module("a/b/status", PLAIN)
    done = run_tool(one, source, {"start": "3"}, steps={}, timeout_s=90)
    assert isinstance(done.result, dict)
    assert (done.result["exit_status"], done.script_exit_status) == (3, 3)
    assert done.failure is not None
    assert run_tool(one, source, {"start": "0"}, steps={}, timeout_s=90).failure is None


def test_a_step_whose_script_fails_ends_the_composition():
    composed, source, steps = compose(module("a/b/status", PLAIN), SECOND)
    with pytest.raises(ToolFailed, match=r"step a/b/status ended with exit status 3, success is 0"):
        run_tool(composed, source, {"start": "3"}, steps=steps, timeout_s=90)


def test_a_step_may_end_with_a_status_that_its_contract_calls_a_success():
    composed, source, steps = compose(module("a/b/status", ONE_IS_FINE), SECOND)
    done = run_tool(composed, source, {"start": "1"}, steps=steps, timeout_s=90)
    assert done.failure is None
    assert done.result == {"count": 1}
