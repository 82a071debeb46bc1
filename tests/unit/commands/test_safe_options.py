"""A call gets what keeps it from running or making more than was judged, wherever it stands."""

import shutil

import pytest

from pulsus.commands import classify
from pulsus.commands.execution_plan import SHELL, prepared
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.safe_options import text_with_additions, with_additions
from pulsus.commands.shell.script_parser import parse_command
from pulsus.errors import CommandRefused
from tests.executed import executed

TABLES = Tables()
PLAIN = "--no-ext-diff --no-textconv"


def given(command):
    (stage,) = parse_command(command).stages
    return " ".join(word.text for word in with_additions(stage.words, TABLES))


def text(command):
    return text_with_additions(command, parse_command(command), TABLES)


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("git log -p", f"git log {PLAIN} -p"),
        ("git -C diff --no-pager show HEAD", f"git -C diff --no-pager show {PLAIN} HEAD"),
        ("git -c color.ui=never diff --stat", f"git -c color.ui=never diff {PLAIN} --stat"),
        ("timeout 5 git diff", f"timeout 5 git diff {PLAIN}"),
        ("git stash show -p", f"git stash show {PLAIN} -p"),
        ("git stash list", f"git stash list {PLAIN}"),
        ("git reflog", f"git reflog {PLAIN}"),
        ("git reflog show main", f"git reflog show {PLAIN} main"),
        ("git reflog exists main", "git reflog exists main"),
        ("git blame a", f"git blame {PLAIN} a"),
        ("git hash-object a", "git hash-object --no-filters a"),
        ("git rev-parse diff", "git rev-parse diff"),
        ("git", "git"),
        ("ls git diff", "ls git diff"),
        ("sqlite3 a.db .tables", "sqlite3 -readonly a.db .tables"),
        ("sqlite3 -csv -readonly a.db .tables", "sqlite3 -csv -readonly a.db .tables"),
        ("sqlite3 --readonly a.db .tables", "sqlite3 --readonly a.db .tables"),
        ("duckdb a.db .tables", "duckdb -readonly a.db .tables"),
        ("duckdb :memory: 'select 1'", "duckdb :memory: select 1"),
        ("duckdb -c 'select 1'", "duckdb -c select 1"),
        ("restic -r /srv/r snapshots", "restic --no-lock -r /srv/r snapshots"),
        ("restic snapshots --no-lock", "restic snapshots --no-lock"),
    ],
)
def test_a_call_gets_what_keeps_it_a_read(command, wanted):
    assert given(command) == wanted


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("git diff | head", f"git diff {PLAIN} | head"),
        ("ls; git  'log' -p 2>/dev/null", f"ls; git  'log' {PLAIN} -p 2>/dev/null"),
        ("git 2>/dev/null diff", f"git 2>/dev/null diff {PLAIN}"),
        ("LC_ALL=C git diff # git diff\ngit show", None),
        ("echo git diff && ! git blame -- *.c", f"echo git diff && ! git blame {PLAIN} -- *.c"),
        ("cat a | xargs git blame", f"cat a | xargs git blame {PLAIN}"),
        ("(git diff)", f"(git diff {PLAIN})"),
        ("git diff <a | cat", f"git diff {PLAIN} <a | cat"),
        ("echo diff <diff; git diff", f"echo diff <diff; git diff {PLAIN}"),
        ("sqlite3 ~/a.db .tables | wc -l", "sqlite3 -readonly ~/a.db .tables | wc -l"),
        ("echo {1..3}; git diff", f"echo {{1..3}}; git diff {PLAIN}"),
        ("ls | wc -l", "ls | wc -l"),
    ],
)
def test_in_a_shells_text_too(command, wanted):
    more = f"LC_ALL=C git diff {PLAIN} # git diff\ngit show {PLAIN}"
    assert text(command) == (more if wanted is None else wanted)


def test_what_cannot_be_put_in_is_not_run():
    with pytest.raises(CommandRefused, match="cannot be put in"):
        text("git {diff,a.txt} | head")


def test_the_plan_has_it():
    def lookup(name):
        return f"/usr/bin/{name}"

    assert prepared(classify("git diff a | head"), {}, lookup=lookup).argv == (
        *SHELL,
        f"git diff {PLAIN} a | head",
    )
    assert prepared(classify("git diff a"), {}, lookup=lookup).argv == (
        "/usr/bin/git",
        "diff",
        *PLAIN.split(),
        "a",
    )


def test_a_database_that_is_not_there_is_not_made(tmp_path):
    if shutil.which("sqlite3") is None:
        pytest.skip("sqlite3 is not installed")
    for command in ("sqlite3 missing.db .tables", "sqlite3 missing.db 'select 1' | cat"):
        done = executed(command, tmp_path)
        assert "unable to open" in done.stderr
    assert not [*tmp_path.iterdir()]


def test_simulating_with_apt_get_leaves_no_plan_for_bug_reports():
    argv = prepared(classify("apt-get -s upgrade"), {}).argv
    assert argv[1:] == ("-o", "Dir::Log::Planner=/dev/null", "-s", "upgrade")
