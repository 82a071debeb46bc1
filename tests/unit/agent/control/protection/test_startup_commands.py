"""No command changes what runs later without naming a file: installers, crontab, `git config`."""

import sys

import pytest

from pulsus.agent.control.protection.startup_commands import (
    find_installed,
    find_planned,
    only_reads_jobs,
)
from pulsus.commands.shell.script_parser import parse_command


def call(command):
    return parse_command(command).stages[0].words


@pytest.mark.parametrize(
    "command",
    [
        *(
            "pip install x",
            "pip3 uninstall -y x",
            "python -m pip install x",
            "uv sync",
            "uv pip install x",
        ),
        *("poetry add x", "conda install x", "python3 setup.py install", "python -m ensurepip"),
        *(
            "/usr/bin/pip install x",
            f"{sys.prefix}/bin/pip install x",
            f"pip install -t {sys.prefix} x",
        ),
        *("git config --global alias.x y", "update-alternatives --set python3 /x"),
    ],
)
def test_no_call_changes_the_packages_of_this_python(startup, command):
    assert find_installed(call(command), startup)


@pytest.mark.parametrize(
    "command",
    [
        *("/srv/blog/venv/bin/pip install x", "pip install --target /srv/blog/lib x", "pip list"),
        *("apt-get install -y nginx", "git config user.name x", "uv --version"),
    ],
)
def test_packages_of_another_environment_are_no_false_alarm(startup, command):
    assert find_installed(call(command), startup) == ""


def test_commands_that_nothing_here_can_read_are_not_planned():
    assert [find_planned(call(each)) for each in ("crontab x", "at -f x now", "batch")]
    assert find_planned(call("crontab -l")) == find_planned(call("at -l")) == ""


def test_a_job_that_is_read_or_run_now_is_no_false_alarm():
    assert only_reads_jobs("logrotate", call("logrotate -f /etc/logrotate.d/nginx"))
    assert not only_reads_jobs("logrotate", call("logrotate -s /etc/cron.d/x /etc/logrotate.conf"))
    assert not only_reads_jobs("cp", call("cp a /etc/logrotate.d/a"))
