"""A value that click refuses is told in words of the user, with a fix for its cause."""

import click
import pytest

from pulsus.cli.usage_errors import explain_bad_value


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
