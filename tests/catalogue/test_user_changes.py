"""Tools that create, disable, enable and remove users, run for real in a throw-away root."""

import os
import pwd
import subprocess
from pathlib import Path

import pytest

from tests.catalogue.conftest import import_tool
from tests.changes import change, undo
from tests.throwaway_root import in_throwaway_root

pytestmark = pytest.mark.seconds
CREATE = "system/users/create_user"
DISABLE = "system/users/disable_user"
FILES = ("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow")


def accounts():
    return {path: sorted(Path(path).read_text(encoding="utf-8").splitlines()) for path in FILES}


def add(user, *options):
    subprocess.run(["useradd", "--shell", "/bin/bash", *options, user], check=True)


def create_and_undo():
    before = accounts()
    shown = import_tool(CREATE).run(user="deploy", groups="adm", dry_run=True)
    assert accounts() == before
    assert shown["created"] is False
    made = change(CREATE, user="deploy", comment="Deployments", groups="adm")
    entry = pwd.getpwnam("deploy")
    assert (made["uid"], made["argv"]) == (entry.pw_uid, [*shown["argv"][:1], *made["argv"][1:]])
    assert (entry.pw_gecos, entry.pw_shell, entry.pw_dir) == (
        "Deployments",
        "/bin/bash",
        "/home/deploy",
    )
    assert Path("/home/deploy").owner() == "deploy"
    assert import_tool("system/users/user_account").run("deploy")["groups"] == ["deploy", "adm"]
    undo(CREATE, {"user": "deploy"}, made)
    assert accounts() == before
    return Path("/home/deploy").is_dir()


def test_a_created_user_has_home_and_groups_and_the_undo_keeps_only_the_home():
    assert in_throwaway_root(create_and_undo, real_root=True) is True


def create_for_a_daemon():
    made = change(CREATE, user="exporter", system=True)
    entry = pwd.getpwnam("exporter")
    assert entry.pw_uid < 1000
    assert entry.pw_shell == "/usr/sbin/nologin"
    assert not Path(entry.pw_dir).exists()
    undo(CREATE, {"user": "exporter", "system": True}, made)


def test_a_system_account_has_no_home_and_no_login():
    in_throwaway_root(create_for_a_daemon, real_root=True)


def disable_and_undo():
    add("ada", "--create-home", "--expiredate", "2099-05-01")
    subprocess.run(["chpasswd"], input=b"ada:secret-words", check=True)
    before = accounts()
    import_tool(DISABLE).run(user="ada", dry_run=True)
    assert accounts() == before
    result = change(DISABLE, user="ada")
    found = import_tool("system/users/user_account").run("ada")
    assert (found["locked"], found["expired"], found["can_log_in"]) == (True, True, False)
    login = subprocess.run(["su", "ada", "-c", "true"], capture_output=True, check=False)
    assert login.returncode != 0
    undo(DISABLE, {"user": "ada"}, result)
    assert accounts() == before
    return result["previous_shell"], result["previous_expiry"]


def test_a_disabled_user_cannot_log_in_and_the_undo_gives_everything_back():
    answer = in_throwaway_root(disable_and_undo, real_root=True)
    assert answer == ["/bin/bash", "2099-05-01"]


def enable_without_password():
    add("ada")
    result = change("system/users/enable_user", user="ada", shell="/bin/sh")
    assert result["unlocked"] is False
    found = import_tool("system/users/user_account").run("ada")
    return found["locked"], found["shell"]


def test_an_account_without_a_password_is_never_unlocked():
    assert in_throwaway_root(enable_without_password, real_root=True) == [True, "/bin/sh"]


def remove_twice():
    add("ada", "--create-home")
    tool = import_tool("system/users/remove_user")
    uid = pwd.getpwnam("ada").pw_uid
    sleeper = subprocess.Popen(["sleep", "60"], user=uid)
    with pytest.raises(ValueError, match=rf"still has processes \[{sleeper.pid}\]"):
        tool.run("ada")
    sleeper.kill()
    sleeper.wait()
    assert tool.run("ada", remove_home=True, dry_run=True)["removed"] is False
    assert pwd.getpwnam("ada").pw_uid == uid
    change("system/users/remove_user", user="ada", remove_home=True)
    assert not Path("/home/ada").exists()
    with pytest.raises(ValueError, match="'ada' does not exist"):
        tool.run("ada")


def test_a_user_with_processes_is_not_removed():
    in_throwaway_root(remove_twice, real_root=True)


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"user": "Ada"}, "'Ada' is no login name"),
        ({"user": "-f"}, "'-f' is no login name"),
        ({"user": "a" * 33}, "is no login name"),
        ({"user": "root"}, "'root' exists already"),
        ({"user": "neu", "groups": "adm,nosuchgroup"}, "no group 'nosuchgroup'"),
        ({"user": "neu", "comment": "a:b"}, "comment 'a:b' holds a colon"),
        ({"user": "neu", "shell": "bash"}, "shell 'bash' is no absolute path"),
    ],
)
def test_a_bad_account_is_refused_before_anything_changes(load, inputs, reason):
    with pytest.raises(ValueError, match=reason):
        load(CREATE).run(**inputs)


@pytest.mark.parametrize("user", ["root", "daemon", "nosuchuser"])
def test_root_and_system_accounts_are_never_disabled(load, user):
    with pytest.raises(ValueError, match=f"user '{user}'"):
        load(DISABLE).run(user)


def test_enable_user_refuses_a_shell_or_day_that_makes_no_sense(load):
    tool = load("system/users/enable_user")
    with pytest.raises(ValueError, match="'/bin/nosuchshell' is no program"):
        tool.run("nobody", shell="/bin/nosuchshell")
    with pytest.raises(ValueError, match="expires 'soon' is no day"):
        tool.run("nobody", shell="/bin/sh", expires="soon")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_user_account_says_unknown_if_the_password_file_is_closed(load):
    found = load("system/users/user_account").run("root")
    assert (found["exists"], found["locked"], found["expired"]) == (True, None, None)


def test_user_account_reports_a_missing_account(load):
    tool = load("system/users/user_account")
    assert (tool.run("nosuchuser")["exists"], tool.run("nosuchuser")["ok"]) == (False, True)
    assert tool.run("nosuchuser", shell="/bin/sh")["ok"] is False
    with pytest.raises(ValueError, match="'a:b' is no login name"):
        load("system/users/user_account").run("a:b")
