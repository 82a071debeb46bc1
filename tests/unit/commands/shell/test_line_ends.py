"""A command is refused if the parser and the shell differ on the end of a word."""

import pytest

from pulsus.commands import classify


@pytest.mark.parametrize(
    "command",
    [
        "sort -\\\no out",
        "cat a\\\nb",
        "sort a >/dev/null\\\nx",
        "sort a >/dev/nu\\\nll",
        "sort -o2>/dev/null",
        "sort a -o2>&1",
        "sort a -o1</dev/null",
        "sort -k {a}>/dev/null -- -o out",
        'find . -name "x"\\)',
        "sort a '-'\\\n'o' out",
        "ls |\\\n| rm x",
        "ls\n\\\nrm x",
        "sort 2>&1 $ -o out",
        "sort a 2\\\n>&1",
        "sort a\\\n 2>&1 b",
        "sort a\\ \\\nb",
        "ls >/dev/null2>&1",
        "ls ;&>/dev/null",
        "ls ==\nrm x",
        "ls == 2>&1",
        "ls\n ; pwd",
        "ls &\\\n& rm x",
    ],
)
def test_a_word_that_goes_on_for_the_shell_alone_is_refused(command):
    assert not classify(command).allow


@pytest.mark.parametrize(
    "command",
    [
        "sort \\\n  -r \\\n  a",
        "sort a |\\\n uniq",
        "sort a |\\\nuniq",
        "sort a2>/dev/null",
        "sort a 2>/dev/null",
        "sort -r>/dev/null",
        "sort<a",
    ],
)
def test_lines_that_are_continued_between_words_are_read(command):
    assert classify(command).allow
