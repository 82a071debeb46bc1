"""A shell on the other machine reads the command of ssh once more."""

from __future__ import annotations

import pytest

from pulsus.commands.classify import classify


@pytest.mark.parametrize(
    "command",
    [
        "ssh host ls -la",
        "ssh host 'cat /etc/hosts | sort'",
        "ssh host 'timeout 5 tail -f /var/log/syslog'",
        "ssh host \"cat '/srv/a b'\"",
        "ssh host cat /srv/a </dev/null",
        "cat /srv/a; ssh host ls",
        "ssh host \"jq '{a,b}' /srv/a\"",
        "ssh host \"grep 'a\\.b' /srv/a\"",
    ],
)
def test_a_read_there_is_a_read(command):
    assert classify(command).allow, classify(command).reason


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("ssh host ls ';' rm x", id="a separator that only the other shell sees"),
        pytest.param("ssh host ls '$(rm x)'", id="a substitution that only the other shell sees"),
        pytest.param("ssh host 'ls > x'", id="a redirection there"),
        pytest.param("ssh host -o ProxyCommand=x ls", id="an option behind the host"),
        pytest.param("timeout 5 ssh host tail -f /srv/a", id="a bound here binds nothing there"),
        pytest.param("sort /srv/a | ssh host cat", id="what a pipe feeds is sent away"),
        pytest.param("ssh host cat < /srv/a", id="what a file feeds is sent away"),
        pytest.param("ssh host ls &>/dev/null rm x", id="a word that dash would run"),
        pytest.param("ssh host 'ls &>/dev/null rm x'", id="a word that dash would run there"),
        pytest.param("ssh host \"sed {'#','\nw f\n'}\"", id="braces that dash leaves as they are"),
        pytest.param("ssh host \"echo 'a\\' '(rm x)'\"", id="quotes that fish reads otherwise"),
        pytest.param("ssh host ls *.txt", id="names that this shell fills in"),
    ],
)
def test_nothing_else_is(command):
    assert not classify(command).allow


def test_deeper_and_deeper_is_not_followed():
    command = "ls"
    for _ in range(5):
        command = f"ssh host {command}"
    assert not classify(command).allow
