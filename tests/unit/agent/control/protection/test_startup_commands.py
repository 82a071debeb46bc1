"""No command changes what runs later without naming a file: installers, crontab, `git config`."""

import sys

import pytest

from pulsus.agent.control.protection.startup_commands import (
    find_installed,
    find_loaded_settings,
    find_planned,
    only_reads_jobs,
)
from pulsus.agent.control.protection.startup_writes import find_startup_writes
from pulsus.commands.program_tables.loader import Tables
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
        *("update-alternatives --set awk /x", "update-alternatives --install /usr/bin/vi vi /x 1"),
        *("aws configure set credential_process x", "go env -w GOFLAGS=-toolexec=x"),
        *("helm plugin install x", "gh alias set x '!sh'", "gh extension install a/b"),
        *("npm config set script-shell x", "docker plugin install x", "rustup default nightly"),
        *(
            "kubectl krew install x",
            "ldconfig -f /tmp/x",
            "ldconfig -C /tmp/x",
            "ldconfig -r /tmp",
            "ldconfig /tmp/x",
        ),
        *(
            "pip config set global.index-url http://web1/",
            "docker login web1",
            "docker context use x",
        ),
        *(
            "kubectl config set users.x.exec.command y",
            "kubectl config set-credentials x --exec-command=y",
        ),
    ],
)
def test_no_call_changes_the_packages_of_this_python(startup, command):
    assert find_installed(call(command), startup)


@pytest.mark.parametrize(
    "command",
    [
        *("/srv/blog/venv/bin/pip install x", "pip install --target /srv/blog/lib x", "pip list"),
        *("apt-get install -y nginx", "git config user.name x", "uv --version"),
        *("ldconfig", "ldconfig -v", "update-alternatives --display awk", "docker context ls"),
        *(
            "kubectl config use-context x",
            "kubectl config set-context x --namespace=y",
            "pip config list",
        ),
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


def test_no_file_sets_values_of_the_kernel_unread():
    loads = ("sysctl -p /tmp/x", "sysctl -p/tmp/x", "sysctl --load=/tmp/x", "sysctl -f ./x.conf")
    assert all(find_loaded_settings(call(each)) for each in loads)
    known = ("sysctl -p", "sysctl --system", "sysctl -p /etc/sysctl.d/9-x.conf", "sysctl -w a.b=1")
    assert not any(find_loaded_settings(call(each)) for each in known)


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        *(("sysctl -w kernel.core_pattern=x", True), ("sysctl kernel/modprobe=x", True)),
        *(("sysctl -qw kernel.modprobe=/x", True), ("sysctl -w vm.swappiness=10", False)),
        *(("mount -t tmpfs none /usr/lib64", True), ("rm -rf /usr/lib/git-core", True)),
        *(("rm -rf /usr/lib", True), ("docker exec web /usr/bin/tail x", False)),
        *(("tee /usr/bin/tail", True), ("sysctl --write kernel.core_pattern=x", True)),
    ],
)
def test_settings_of_the_kernel_and_libraries_are_not_written(startup, command, refused):
    script = parse_command(command)
    found = find_startup_writes(script, [script.stages[0].words], startup, Tables())
    assert bool(found) == refused


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        *(("useradd -ms /bin/bash bob", False), ("usermod --shell /bin/bash bob", False)),
        *(("usermod -d /usr/bin/git bob", True), ("useradd -s x -k /usr/bin/git bob", True)),
        *(("ssh web1 /usr/bin/git fetch", False), ("ssh -p 22 web1 /usr/bin/git fetch", False)),
        *(("ssh -E /usr/bin/git web1 true", True), ("ssh web1 -E /usr/bin/git true", True)),
        *(("ssh web1 'tee /usr/bin/git'", True), ("ssh web1 tee /usr/bin/git", True)),
    ],
)
def test_a_program_that_is_started_is_told_from_a_file_that_is_written(startup, command, refused):
    script = parse_command(command)
    found = find_startup_writes(script, [script.stages[0].words], startup, Tables())
    assert (found is not None) == refused
