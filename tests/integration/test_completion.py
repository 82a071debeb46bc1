"""Shell completion: the script for each shell, and its suggestions."""

import shutil
import subprocess

import pytest

from pulsus.cli.command_group import COMMANDS
from tests.project import make, pulsus

SHELLS = ("bash", "zsh", "fish")


def complete(folder, line):
    """Return the completions of `line` in bash."""
    words = line.split(" ")
    env = {
        "_PULSUS_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = pulsus(folder, env=env)
    assert done.err == ""
    return [offer.partition(",")[2] for offer in done.out.splitlines() if offer]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_for_the_shell_is_printed(tmp_path, shell):
    done = pulsus(tmp_path, env={"_PULSUS_COMPLETE": f"{shell}_source"})
    assert (done.code, done.err) == (0, "")
    assert "_PULSUS_COMPLETE" in done.out
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=done.out, text=True, capture_output=True)
        assert (checked.returncode, checked.stderr) == (0, "")


def test_every_subcommand_is_offered(tmp_path):
    assert complete(tmp_path, "pulsus ") == list(COMMANDS)


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("pulsus va", ["validate"]),
        ("pulsus tools ", ["list", "show", "check"]),
        ("pulsus route --expl", ["--explain"]),
        ("pulsus tools list --output ", ["text", "json"]),
        ("pulsus nonsense", []),
        ("pulsus help ", ["run", "tools"]),
        ("pulsus help va", ["validate"]),
        ("pulsus help tools ", ["list", "show", "check"]),
        ("pulsus help nonsense ", []),
        ("pulsus lst ", []),
    ],
)
def test_a_partial_word_is_completed(tmp_path, line, offers):
    found = complete(tmp_path, line)
    assert set(offers) <= set(found)
    assert bool(found) == bool(offers)


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("pulsus run text/", ["text/count/count_words"]),
        ("pulsus tools show count_w", ["text/count/count_words"]),
        ("pulsus explain x --why-not count_w", ["text/count/count_words"]),
        ("pulsus commands show systemct", ["systemctl"]),
        ("pulsus config show sandbox.max_s", ["sandbox.max_seconds"]),
        ("pulsus feedback la", ["last"]),
        ("pulsus run nonsense", []),
    ],
)
def test_a_word_of_the_project_is_completed(tmp_path, line, offers):
    found = complete(make(tmp_path), line)
    assert set(offers) <= set(found)
    assert bool(found) == bool(offers)


@pytest.mark.parametrize("line", ["pulsus run a", "pulsus runs show ", "pulsus config show z"])
def test_a_project_that_cannot_be_read_puts_no_message_into_the_typed_line(tmp_path, line):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/pulsus.toml").write_text("no toml", encoding="utf-8")
    assert complete(tmp_path, line) == []


def test_an_unknown_shell_is_a_usage_error(tmp_path):
    done = pulsus(tmp_path, env={"_PULSUS_COMPLETE": "nonsense"})
    assert (done.code, done.out) == (1, "")
