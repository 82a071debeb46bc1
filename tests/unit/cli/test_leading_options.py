"""Common options mean the same before the subcommand and behind it."""

import pytest

from pulsus.cli.command_group import move_leading_options


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
