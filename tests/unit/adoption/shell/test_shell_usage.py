"""Options of a shell script are described by the rows of its usage text."""

import time

import pytest

from pulsus.adoption.shell.shell_script import parse_shell_script
from pulsus.adoption.shell.shell_usage import find_usage

HERE = """#!/bin/bash
usage() {
  cat <<EOF
Usage: $0 [-n COUNT] [--all] HOST
Show the ports of a host.

  -n, --lines COUNT   how many lines to show
  --all               also closed ports
  -t=<SECONDS>        seconds to wait
EOF
}
"""
ECHO = """#!/bin/sh
usage() {
    echo "Usage: $0 [-n COUNT]"
    echo "  -n COUNT   how many lines to show"
    printf '%s' "no row"
}
"""
COMMENT = """#!/bin/sh
# Show the ports of a host.
#
#   -n COUNT   how many lines to show
#   --all:  also closed ports

# -x  not at the top
"""


def test_the_options_of_a_here_document_are_described():
    found = find_usage(HERE)
    assert found.summary == "Show the ports of a host."
    assert found.options == {
        "-n": "how many lines to show",
        "--lines": "how many lines to show",
        "--all": "also closed ports",
        "-t": "seconds to wait",
    }


def test_echoed_usage_and_the_comment_at_the_top_are_read():
    assert find_usage(ECHO).options == {"-n": "how many lines to show"}
    found = find_usage(COMMENT)
    assert found.options == {"-n": "how many lines to show", "--all": "also closed ports"}
    assert found.summary == "", "the comment is the summary of the tool already"


@pytest.mark.parametrize(
    "script",
    [
        "#!/bin/sh\ncat <<EOF\n  -n COUNT   in a file\nEOF\n",
        "#!/bin/sh\necho '-n  this is output'\n",
        "#!/bin/sh\nls -l  # -n  nothing\n",
        "#!/bin/sh\ncat <<EOF\nusage: without an end\n  -n COUNT   lines\n",
    ],
)
def test_text_that_is_no_usage_describes_nothing(script):
    assert find_usage(script).options == {}


def test_the_arguments_and_the_summary_of_an_adopted_script_say_what_its_usage_says():
    script = HERE + 'while getopts "n:" o; do case $o in n) count=$OPTARG;; esac; done\n'
    found = parse_shell_script(script + 'ss -tln | head -n "$count"\n', "ports")
    assert found.summary == "Show the ports of a host."
    assert [p.text for p in found.parameters] == ["how many lines to show"]


def test_defaults_of_words_are_the_defaults_of_arguments_and_a_reading_pipeline_is_a_read():
    found = parse_shell_script('ps aux | grep "${1:-ssh}" | sort | head -n "${2:-5}"\n', "x")
    assert [p.default for p in found.parameters] == ['"ssh"', '"5"']
    assert found.kind == "read"


@pytest.mark.seconds
@pytest.mark.parametrize(
    "line", ["<<A\n" * 20000, "-" * 80, "-a" * 40, "--a|" * 40 + "!", "# " + "-" * 5000]
)
def test_a_line_of_dashes_does_not_take_forever(line):
    began = time.process_time()
    parse_shell_script(f"#!/bin/sh\ncat <<EOF\nusage\n{line}\nEOF\n", "x")
    assert time.process_time() - began < 15  # backtracking would take hours


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ('echo $"hello $1"', "read"),
        ('printf %s $"a" $"b"', "read"),
        ('rm $"a b"', "write"),
        ('find . $"-delete"', "write"),
        ('$"rm" x', "write"),
        ('echo $"a$(rm x)"', "write"),
        ('echo x > $"file"', "write"),
    ],
)
def test_a_translated_string_is_followed_as_a_word_and_never_hides_a_write(command, kind):
    assert parse_shell_script(f"#!/bin/bash\n{command}\n", "x").kind == kind
