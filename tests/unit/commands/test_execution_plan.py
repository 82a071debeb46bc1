"""What surrounds an allowed command does not change what was judged (issue: executor safety)."""

import os

import pytest

from pulsus.commands import classify
from pulsus.commands.call_check.judge import TRUSTED
from pulsus.commands.execution_plan import MOST_BYTES, PATH, SHELL, find_program, prepared
from pulsus.errors import CommandRefused
from tests.executed import started

HERE = {"HOME": "/home/ops", "LANG": "de_DE.UTF-8", "LC_TIME": "C", "TZ": "UTC"}


def plan(command, environ=HERE, **given):
    return prepared(classify(command), environ, **given)


@pytest.mark.parametrize("command", ["sort -o a b", "tail -f log", "cat /etc/shadow", "$(x)", ""])
def test_what_is_not_allowed_is_not_prepared(command):
    with pytest.raises(CommandRefused):
        plan(command)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("ls -l /etc", ("-l", "/etc")),
        ("cat 'a b' \"c;d\" e\\ f", ("a b", "c;d", "e f")),
        ("LC_ALL=C sort -k2 a.txt", ("-k2", "a.txt")),
        ("{ wc -l a; }", ("-l", "a")),
        ("/usr/bin/wc -l a", ("-l", "a")),
    ],
)
def test_one_program_is_started_without_a_shell_by_its_path(command, words):
    found = plan(command, lookup=lambda name: f"/usr/bin/{name}")
    assert not found.shell
    assert found.argv[0].startswith("/usr/bin/")
    assert found.argv[1:] == words


@pytest.mark.parametrize(
    "command",
    [
        "ls | wc -l",
        "ls; pwd",
        "ls *.txt",
        "cat ~/notes",
        "ls 2>/dev/null",
        "wc -l < a.txt",
        "! grep -q x a.txt",
    ],
)
def test_a_shell_without_settings_runs_what_needs_a_shell(command):
    found = plan(command, lookup=lambda name: f"/usr/bin/{name}")
    assert found.shell
    assert found.argv == (*SHELL, command)


def test_the_shell_finds_a_program_outside_the_trusted_folders():
    found = plan("type ls", lookup=lambda name: None)
    assert found.shell
    assert found.env["PATH"] == ":".join(PATH)


def test_programs_are_looked_for_only_where_they_are_trusted():
    assert set(PATH) == TRUSTED
    assert find_program("sh") in {f"{folder}/sh" for folder in TRUSTED}
    assert find_program("no-such-program-anywhere") is None


HOSTILE = {
    "LD_PRELOAD": "/tmp/x.so",
    "LD_LIBRARY_PATH": "/tmp",
    "BASH_ENV": "/tmp/x",
    "ENV": "/tmp/x",
    "BASH_FUNC_ls%%": "() { touch /tmp/x; }",
    "SHELLOPTS": "xtrace",
    "PS4": "$(touch /tmp/x)",
    "IFS": "s",
    "PATH": "/tmp:/usr/bin",
    "LESSOPEN": "|touch /tmp/x",
    "PAGER": "touch",
    "GIT_PAGER": "touch",
    "GIT_EXTERNAL_DIFF": "touch",
    "GIT_DIR": "/tmp",
    "GIT_CONFIG_COUNT": "99",
    "GIT_CONFIG_KEY_98": "core.fsmonitor",
    "GIT_SSH_COMMAND": "touch",
    "PYTHONSTARTUP": "/tmp/x",
    "PERL5OPT": "-Mx",
    "EDITOR": "touch",
    "GREP_OPTIONS": "-f",
    "AWS_SECRET_ACCESS_KEY": "x",
    "PULSUS_STATE_DIR": "/tmp",
    "TAR_OPTIONS": "--to-command=x",
    "LC_ALL_": "x",
    "PSQLRC": "/tmp/x",
    "WGETRC": "/tmp/x",
}


def test_nothing_of_the_callers_environment_passes_but_language_zone_and_home():
    env = plan("ls", {**HERE, **HOSTILE}).env
    assert {name: env[name] for name in HERE} == HERE
    assert not {name for name in set(HOSTILE) & set(env) if env[name] == HOSTILE[name]}
    read_by_loaders = {name for name in env if name.startswith(("LD_", "BASH", "LESS"))}
    assert read_by_loaders == {"LESSSECURE", "LESSHISTFILE"}
    assert env["LESSHISTFILE"] == "-"
    assert "GIT_CONFIG_KEY_98" not in env


def test_a_variable_before_the_program_is_set_for_it():
    assert plan("TZ=Asia/Tokyo date").env["TZ"] == "Asia/Tokyo"


def test_limits_are_in_the_plan():
    given = plan("ls", seconds=5, most_bytes=10)
    assert (given.seconds, given.most_bytes) == (5, 10)
    assert (plan("ls").stdin, plan("ls").new_session, plan("ls").most_bytes) == (
        "/dev/null",
        True,
        MOST_BYTES,
    )


def test_it_has_no_terminal_and_nothing_to_read():
    assert started(plan("tty")).stdout == "not a tty\n"
    assert started(plan("cat")).stdout == ""
    assert started(plan("cat | cat")).stdout == ""


def test_hostile_variables_do_nothing_in_a_shell(tmp_path):
    mark = tmp_path / "mark"
    script = tmp_path / "rc"
    script.write_text(f"touch {mark}\n", encoding="utf-8")
    environ = {**os.environ, "BASH_ENV": str(script), "ENV": str(script), "HOME": str(tmp_path)}
    (tmp_path / ".bashrc").write_text(f"touch {mark}\n", encoding="utf-8")
    done = started(plan("echo a | cat", environ))
    assert done.stdout == "a\n"
    assert not mark.exists()
