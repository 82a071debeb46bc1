"""A person reads the whole call before an approval."""

import pytest

from pulsus.agent.control.call_description import describe_call, equivalent_command
from tests.call_verdicts import edit, restart, write_command


def lines_of(before, after):
    text = describe_call(edit("/etc/app.conf", after), "why", None, lambda path: before)
    return text.splitlines()


def test_a_small_edit_shows_each_changed_line():
    lines = lines_of("a\nb\nc\n", "a\nx\nc\n")
    assert "-b" in lines
    assert "+x" in lines
    assert "why" in lines


def test_an_edit_that_changes_nothing_says_so():
    assert "the file stays as it is" in lines_of("a\n", "a\n")
    long = "a\n" * 1000
    assert "the file stays as it is" in lines_of(long, long)


def test_a_new_file_is_shown_as_new():
    assert any("new" in line for line in lines_of(None, "a\n"))


@pytest.mark.parametrize(
    ("call", "command"),
    [
        (restart(), "systemctl restart nginx"),
        (edit("/etc/a b", "x"), "tee '/etc/a b'"),
        (write_command("rm -rf /tmp/x"), "rm -rf /tmp/x"),
    ],
)
def test_a_tool_is_judged_like_the_command_that_does_the_same(call, command):
    assert equivalent_command(call) == command
