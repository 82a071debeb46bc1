"""Nothing is written that the next process of Pulsus, or of a program it starts, runs or reads."""

import sys

import pytest

from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.agent.control.protection.files.startup_files import (
    StartupFiles,
    import_folders,
    scheduled_paths,
    startup_paths,
)
from tests.unit.agent.control.protection.conftest import ENVIRON, HOME, PROJECT


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
        *("~/.config/curlrc", "~/.duckdbrc", "/etc/psqlrc", "/etc/my.cnf", "/etc/ssl/openssl.cnf"),
        *("/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib64/libcrypto.so.3", "/lib64/libz.so*"),
        *("/lib64/ld-linux-x86-64.so.2", "/usr/local/lib/libx.so", "/usr/lib/git-core/git-log"),
        *("~/.ExifTool_config", "~/.mlrrc", "~/.jq", "~/.rpmmacros", "~/.cargo/bin/cargo-x"),
        *("~/.ansible.cfg", "~/.mailcap", "~/.krew/bin/kubectl-x", "~/.terminfo/x/xterm"),
        *("~/.config/go/env", "~/.config/rpm/macros", "~/.local/share/helm/plugins/x/plugin.yaml"),
        *("/usr/share/perl5/Foo.pm", "/usr/lib/python3/dist-packages/apt/__init__.py"),
        *("/usr/share/git-core/templates/hooks/post-checkout", "/usr/share/misc/magic.mgc"),
        *("/etc/alternatives/awk", "/usr/bin/tail", "/usr/bin/dpkg-query", "/opt/tools/jq"),
        *("/usr/libexec/git-core", "/usr/libexec/docker/cli-plugins/docker-compose"),
    ],
)
def test_no_write_reaches_what_the_next_process_runs_or_reads(startup, path):
    assert startup.find(path, wild="*" in path) == "inside"


@pytest.mark.parametrize(
    "path",
    [
        *("~/.cache/x", "~/.config/app/app.toml", "~/.local/share/app/data", "/home/bob/.bashrc"),
        *("/etc/nginx/nginx.conf", "/home/ops/notes.txt", "/opt/tools/backup", "/srv/other/a.py"),
        *("/dev/ttyUSB0", "/proc/99/oom_score_adj", "/srv/app/docs/a.md", "/dev/null"),
        *(
            "/usr/lib/nagios/check_x",
            "/usr/local/bin/deploy",
            "/srv/lib/a.so",
            "/usr/lib/app/a.txt",
        ),
        *("/srv/app/haproxy.cfg", "settings.toml", "/srv/app/php.ini", "/srv/app/my.lock"),
    ],
)
def test_everyday_writes_are_no_false_alarm(startup, path):
    assert startup.find(path) is None


def test_a_folder_around_the_start_files_is_known_as_one(startup):
    assert startup.find("/home/ops") == "above"
    assert startup.find("/opt") == "above"
    assert startup.find("/usr/lib64") == startup.find("/usr/lib") == "above"


def test_a_program_that_is_run_elsewhere_is_no_false_alarm(startup):
    assert startup.find("/usr/bin/tail", runs=True) is None
    assert startup.find("/usr/bin/tail") == "inside"


def test_files_of_timers_and_services_are_known(startup):
    assert startup.is_scheduled("/etc/cron.d/x")
    assert startup.is_scheduled("~/.config/systemd/user/x.service")
    assert startup.is_scheduled("/etc/libvirt/hooks/qemu")
    assert startup.is_scheduled("/etc/letsencrypt/renewal-hooks/deploy/x")
    assert not startup.is_scheduled("/etc/nginx/nginx.conf")


@pytest.mark.parametrize(
    "path",
    [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/fs/binfmt_misc/register",
        "/etc/security/pam_env.conf",
        "/etc/pam.d/sudo",
        "/etc/sudoers.d/ops",
    ],
)
def test_nothing_is_written_that_runs_with_the_next_process_of_anyone(startup, path):
    assert startup.find(path) == "inside"


@pytest.mark.parametrize(
    "path",
    [
        "/usr/lib/systemd/system-generators/x",
        "/run/systemd/user-generators/x",
        "/etc/udev/rules.d/x.rules",
        "/usr/lib/sysctl.d/x.conf",
        "/etc/NetworkManager/dispatcher.d/x",
        "/etc/apt/apt.conf.d/x",
        "/etc/update-motd.d/x",
    ],
)
def test_no_command_plans_code_for_the_next_event(startup, path):
    assert startup.is_scheduled(path)


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """The rules in a folder that an empty entry of PYTHONPATH names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    start, later = (
        ProtectedPlaces(paths, folder=tmp_path, project=PROJECT, home=HOME)
        for paths in (startup_paths(HOME, ENVIRON), scheduled_paths(HOME))
    )
    return StartupFiles(
        start, later, imported=import_folders({"PYTHONPATH": "/srv/lib:"}), home=HOME
    )


@pytest.mark.parametrize("path", ["json.py", "a/b.py", "x.pth", "x.so", "shop", "./json"])
def test_no_module_is_written_that_pythonpath_would_import(imported, path):
    assert imported.find(path) == "inside"
    assert imported.find(f"/srv/lib/{path.removeprefix('./')}") == "inside"


def test_a_folder_that_is_made_beside_modules_is_a_package(imported):
    assert imported.find("json", makes=True) == "inside"


@pytest.mark.parametrize("word", ["stop", "restart", "-c", "100", "notes.txt", "vacuum full"])
def test_a_bare_word_is_no_module_of_pythonpath(imported, word):
    assert imported.find(word) is None


def test_without_pythonpath_no_folder_counts():
    assert import_folders({}) == import_folders({"PYTHONPATH": ""}) == ()
