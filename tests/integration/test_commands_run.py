"""Commands judged by a project's tables and policy, and run, from Python (docs/commands.md)."""

import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pulsus.bootstrap import build
from pulsus.commands.execution_plan import Execution
from pulsus.errors import CommandRefused, ConfigError, SensitivePath, UsageError
from pulsus.execution.run_gated_command import run
from tests.patience import PATIENCE_SECONDS
from tests.project import trust

ROOT = Path(__file__).parents[2]
POLICY = '[policy]\nblock = ["@default", "dmesg"]\n[policy.target_block]\n"db*" = ["df"]\n'


@pytest.fixture
def commands(tmp_path):
    (tmp_path / "config/commands").mkdir(parents=True)
    (tmp_path / "config/pulsus.toml").write_text(POLICY, encoding="utf-8")
    return build(tmp_path, {}).commands


def plan(text, **given):
    return replace(
        Execution(("/bin/sh", "-c", text), {"PATH": "/usr/bin:/bin"}, shell=True), **given
    )


def gone(mark):
    """Wait for the end of all processes with `mark` in their command line; False if one remains."""
    for _ in range(50):
        if subprocess.run(["pgrep", "-f", mark], capture_output=True, check=False).returncode:
            return True
        time.sleep(0.1)
    return False


def test_a_read_that_the_policy_refuses_is_not_prepared(commands):
    assert commands.answer("dmesg").verdict.allow
    for command, target in (("dmesg", None), ("df -h", "db1"), ("rm x", None)):
        assert not commands.answer(command, target).allow
        with pytest.raises(CommandRefused):
            commands.prepared(command, os.environ, target)
    with pytest.raises(SensitivePath):
        commands.prepared("cat /etc/shadow", os.environ)
    assert commands.prepared("df -h", os.environ, "web").argv[1:] == ("-h",)


def test_the_missing_policy_of_a_parent_folder_is_reported_in_python(commands, tmp_path):
    below = tmp_path / "sub"
    below.mkdir()
    assert commands.warnings == ()
    assert str(tmp_path) in build(below, {}).commands.warnings[0]
    with pytest.raises(ConfigError, match="is no folder"):
        build(tmp_path / "mistyped", {}).commands.answer("df -h")


def test_a_projects_own_table_applies_to_prepared_commands(commands, tmp_path):
    (tmp_path / "config/commands/acme.yaml").write_text(
        "program: acme\nsource: ours\nflags: -l\n"
        "examples: {allowed: [acme -l], refused: [acme x]}\n",
        encoding="utf-8",
    )
    trust(tmp_path)
    assert commands.prepared("acme -l", {}).argv[-1].endswith("acme -l")


def test_an_allowed_command_gives_its_status_and_what_it_prints(commands, tmp_path):
    (tmp_path / "a.txt").write_text("b\na\n", encoding="utf-8")
    ran = run(commands.prepared("sort a.txt | head -n 1; cat missing", os.environ), tmp_path)
    assert (ran.status, ran.output, ran.cut) == (1, b"a\n", False)
    assert b"missing" in ran.errors


def test_a_command_and_its_children_end_at_the_time_limit(tmp_path):
    started = time.monotonic()
    ran = run(plan(f"(sleep 600; touch {tmp_path}/late) & echo a; sleep 600", seconds=0.5))
    assert time.monotonic() - started < PATIENCE_SECONDS
    assert (ran.status, ran.output) == (None, b"a\n")
    assert gone(f"{tmp_path}/late")


@pytest.mark.parametrize("held", ["", ">/dev/null 2>&1"])
def test_processes_that_outlive_their_command_are_ended(tmp_path, held):
    ran = run(plan(f"(sleep 600; touch {tmp_path}/late) {held} & echo a", seconds=0.5))
    assert (ran.status, ran.output) == (0, b"a\n")
    assert gone(f"{tmp_path}/late")


def test_output_beyond_the_limit_is_dropped_with_a_note():
    ran = run(plan("head -c 300000 /dev/zero; echo x >&2", most_bytes=1000))
    assert (ran.status, len(ran.output), ran.errors, ran.cut) == (0, 1000, b"x\n", True)
    ran = run(plan("printf %1000s", most_bytes=1000))
    assert (len(ran.output), ran.cut) == (1000, False)


def test_a_command_has_no_terminal_and_no_input():
    ran = run(plan("cat; tty; ps -o sid= -p $$; echo $$"))
    assert b"not a tty" in ran.output
    _, session, own = ran.output.split(b"\n")[:3]
    assert session.strip() == own


def test_a_missing_folder_or_program_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        run(plan("true"), tmp_path / "missing")
    with pytest.raises(UsageError, match="/no/program"):
        run(plan("true", argv=("/no/program",)))


def test_the_example_of_the_page_runs(tmp_path):
    page = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert any("pulsus.bootstrap" in block for block in blocks)
    for block in blocks:
        subprocess.run([sys.executable, "-c", block], cwd=tmp_path, check=True, timeout=60)
