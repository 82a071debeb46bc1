"""Nothing is written that the next process of Pulsus, or of a program it starts, runs or reads."""

import sys
from pathlib import Path

import pytest

from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.agent.control.protection.files.startup_files import (
    StartupFiles,
    find_installed,
    find_planned,
    program_folders,
    scheduled_paths,
    startup_paths,
)
from pulsus.commands.shell.script_parser import parse_command

HOME, PROJECT = Path("/home/ops"), Path("/srv/app")
ENVIRON = {"PATH": "/opt/tools:/usr/bin", "PYTHONSTARTUP": "/home/ops/begin.py"}


@pytest.fixture(scope="module")
def startup():
    start, later = (
        ProtectedPlaces(paths, folder=PROJECT, project=PROJECT, home=HOME)
        for paths in (startup_paths(HOME, ENVIRON), scheduled_paths(HOME))
    )
    programs = program_folders(HOME, ENVIRON)
    return StartupFiles(start, later, programs=programs, pids=(4711,))


def call(command):
    return parse_command(command).stages[0].words


@pytest.mark.parametrize(
    "path",
    [
        *("~/.bashrc", "/home/ops/.profile", "~/.gitconfig", "~/.config/git/config", "~/.curlrc"),
        *("/etc/profile.d/x.sh", "/etc/ld.so.preload", "/home/ops/begin.py", "~/.ssh/config"),
        *("conftest.py", "/srv/app/json.py", ".env", "/srv/app/setup.cfg", "uv.lock"),
        *("/opt/tools/git", "/usr/bin/bwrap", "~/.local/bin/ruff", "/opt/tools/g*"),
        *("/tmp/x/sitecustomize.py", "/tmp/usercustomize.py", f"{sys.prefix}/lib/x.pth"),
        *("/dev/pts/0", "/dev/tty1", "/proc/4711/oom_score_adj", "/proc/self/mem"),
        *("/sys/fs/cgroup/x/cgroup.kill", "/proc/sysrq-trigger"),
    ],
)
def test_no_write_reaches_what_the_next_process_runs_or_reads(startup, path):
    assert startup.find(path, wild="*" in path) == "inside"


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/nginx/nginx.conf", "/home/ops/notes.txt", "/opt/tools/backup", "/srv/other/a.py"),
        *("/dev/ttyUSB0", "/proc/99/oom_score_adj", "/srv/app/docs/a.md", "/dev/null"),
        *("/srv/app/haproxy.cfg", "settings.toml", "/srv/app/php.ini", "/srv/app/my.lock"),
    ],
)
def test_everyday_writes_are_no_false_alarm(startup, path):
    assert startup.find(path) is None


def test_a_folder_around_the_start_files_is_known_as_one(startup):
    assert startup.find("/home/ops") == "above"
    assert startup.find("/opt") == "above"


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


def test_files_of_timers_and_services_are_known(startup):
    assert startup.is_scheduled("/etc/cron.d/x")
    assert startup.is_scheduled("~/.config/systemd/user/x.service")
    assert not startup.is_scheduled("/etc/nginx/nginx.conf")
