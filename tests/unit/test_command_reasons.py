"""What a refusal tells: the nearest thing that is true, and a way out only where it is one."""

import pytest

from pulsus.commands import classify
from pulsus.commands.context import Context
from pulsus.commands.explain import explain


@pytest.mark.parametrize("command", ["rm x", "nohup chmod 700 x", "timeout 5 kill -9 1", "mkfs /x"])
def test_what_is_known_to_change_things_is_not_called_unknown(command):
    assert classify(command).reason.phase in {"write", "allow"}


def test_a_program_nobody_described_is_called_unknown():
    assert classify("frobnicate x").reason.phase == "unknown"


@pytest.mark.parametrize(
    ("command", "told"),
    [("tail -f a", True), ("top -b", True), ("top", False), ("dd if=/dev/zero of=/dev/sda", False)],
)
def test_a_limit_of_time_is_offered_only_where_it_makes_a_read(command, told):
    reason = classify(command).reason
    assert bool(reason.instead) is told
    if told:
        assert classify(f"timeout 5 {command}").allow


def test_examples_are_offered_of_the_program_that_was_refused():
    assert "top -bn1" in explain("ls | top", Context()).allowed
