"""A value that click refuses is told in words of the user, with a fix for its cause."""

import click
import pytest

from pulsus.cli.command_group import cli
from pulsus.cli.usage_errors import explain_bad_value, explain_usage


@pytest.mark.parametrize(
    ("said", "message", "fix"),
    [
        (
            "Path 'plan.yaml' is not readable.",
            "Path 'plan.yaml' is not readable.",
            "give this user read access to it",
        ),
        (
            "File 'out.json' is not writable.",
            "File 'out.json' is not writable.",
            "give this user write access to it",
        ),
        (
            "File '/tmp' is a directory.",
            "'/tmp' is a folder, and a file is expected.",
            "name a file",
        ),
        ("it is no day.", "it is no day.", ""),
    ],
)
def test_a_path_that_cannot_be_used_is_told_with_the_fix_of_its_cause(said, message, fix):
    assert explain_bad_value(click.BadParameter(said)) == (message, fix)


def explained(line):
    words = line.split()
    with pytest.raises(click.ClickException) as caught:
        cli.main(words, "pulsus", standalone_mode=False)
    return explain_usage(caught.value, words, cli)


@pytest.mark.parametrize("line", ["runs", "runs --output json"])
def test_a_group_without_a_subcommand_does_not_complain_about_an_option(line):
    error = explained(line)
    assert error.message == "`pulsus runs` needs a subcommand"
    assert error.hint.startswith("it is one of: list, show, resume, replay, undo; ")


def test_an_unknown_option_before_a_subcommand_is_named():
    assert explained("runs --bogus list").message == "No such option '--bogus'."


def test_the_name_of_an_input_written_as_an_option_is_answered_with_the_input_option():
    error = explained("run biggest_files --min-size 5")
    assert error.hint.startswith("for an input of a tool, write --input min_size=VALUE; ")


def test_yes_at_a_route_is_not_taken_for_an_input():
    assert explained("route request --run --yes").hint.startswith("leave it out: ")


def test_a_misspelt_option_is_not_taken_for_an_input():
    assert "--input" not in explained("run biggest_files --outptu json").hint


@pytest.mark.parametrize("line", ["fill rows.jsonl", "fill rows.jsonl --proposed"])
def test_a_file_without_its_option_is_not_refused_without_the_option(line):
    assert explained(line).hint.startswith("write --jsonl rows.jsonl; ")


@pytest.mark.parametrize("line", ["fill", "fill --output text"])
def test_a_missing_file_option_without_a_file_proposes_no_file(line):
    assert explained(line).hint == "`pulsus fill --help` shows how"
