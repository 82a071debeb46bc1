"""Common options mean the same before the subcommand and behind it."""

import pytest

from pulsus import __version__
from pulsus.cli.command_group import move_leading_options, run


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("route x", "route x"),
        ("--output json route x", "route x --output json"),
        ("--output=json tools list", "tools list --output=json"),
        ("-q --project d route x --plan", "route x -q --project d --plan"),
        ("-vv --non-interactive route x", "route x -vv --non-interactive"),
        ("--output json route x --output text", "route x --output json --output text"),
        ("--output json route x -- -y", "route x --output json -- -y"),
        ("--output json", "--output json"),
        ("--output", "--output"),
        ("--output json --version", "--output json --version"),
        ("--version", "--version"),
        ("--plan x", "--plan x"),
        ("", ""),
    ],
)
def test_options_before_the_words_go_behind_them(given, meant):
    assert move_leading_options(given.split()) == meant.split()


@pytest.mark.parametrize(
    "line", ["-q --version", "--version -q", "-v --non-interactive --version", "--version --quiet"]
)
def test_the_version_is_printed_with_the_flags_of_all_commands(line, capsys):
    assert run(line.split()) == 0
    assert capsys.readouterr().out == f"pulsus {__version__}\n"


@pytest.mark.parametrize("line", ["-q --help", "-h -q"])
def test_the_help_is_printed_with_the_flags_of_all_commands(line, capsys):
    assert run(line.split()) == 0
    assert capsys.readouterr().out.startswith("Usage: pulsus ")
