"""The defaults that a shell script gives to its variables and words become those of the tool."""

import pytest

from pulsus.adoption.shell.shell_defaults import find_constants
from pulsus.adoption.shell.shell_script import parse_shell_script
from tests.unit.adoption.test_adopt import called, declared


def parsed(*lines):
    return parse_shell_script("\n".join(("#!/bin/bash", "# Say things", *lines, "")), "script")


@pytest.mark.parametrize(
    ("line", "argument"),
    [
        pytest.param(': "${LIMIT:=90}"', 'limit: str = "90"', id="the usual form"),
        pytest.param(": ${LIMIT:=90}", 'limit: str = "90"', id="without quotes"),
        pytest.param(": ${LIMIT=90}", 'limit: str = "90"', id="only if it is not set"),
        pytest.param(": ${LIMIT:='9 0'}", 'limit: str = "9 0"', id="a default in quotes"),
        pytest.param(': "${LIMIT:=}"', 'limit: str = ""', id="empty"),
        pytest.param("LIMIT=${LIMIT:-90}", 'limit: str = "90"', id="set to itself"),
        pytest.param('export LIMIT="${LIMIT-90}"', 'limit: str = "90"', id="exported"),
        pytest.param(': "${LIMIT:=$(nproc)}"', "limit: str | None = None", id="only at run time"),
        pytest.param(': "${LIMIT:?say how many}"', "limit: str", id="required"),
    ],
)
def test_a_variable_with_a_default_is_an_argument(line, argument):
    assert declared(parsed(line, 'head -n "$LIMIT" log')) == [argument]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(': "${PATH:=/bin}"', id="it changes which programs start"),
        pytest.param(': "${LD_PRELOAD:=x.so}"', id="it changes what they load"),
        pytest.param(': "${API_TOKEN:=none}"', id="a secret"),
        pytest.param(': "${PULSUS_MODEL:=x}"', id="a setting of Pulsus"),
        pytest.param('echo "${LIMIT:-90}"', id="no assignment"),
        pytest.param("LIMIT=${OTHER:-90}", id="of another variable"),
        pytest.param('f() {\n  : "${LIMIT:=90}"\n}', id="in a function"),
        pytest.param('LIMIT=5\n: "${LIMIT:=90}"', id="set before"),
        pytest.param("echo ': ${LIMIT:=90}'", id="a text"),
        pytest.param('# : "${LIMIT:=90}"', id="a comment"),
    ],
)
def test_other_variables_are_no_arguments(line):
    assert declared(parsed(line)) == []


def test_several_variables_keep_their_order_and_comments():
    script = parsed(': "${FOLDER:=/var}" "${LIMIT:=5}"', 'SORT="${SORT:--rn}"  # of sort')
    assert declared(script) == ['folder: str = "/var"', 'limit: str = "5"', 'sort: str = "-rn"']
    assert [p.text for p in script.parameters] == [
        "Its variable FOLDER.",
        "Its variable LIMIT.",
        "of sort",
    ]


def test_a_variable_that_an_option_or_a_word_sets_is_one_argument():
    option = ("while getopts 'n:' o; do case $o in", "  n) LIMIT=$OPTARG ;;", "esac; done")
    assert declared(parsed(': "${LIMIT:=90}"', *option)) == ["limit: str | None = None"]
    assert declared(parsed(': "${LIMIT:=90}"', 'LIMIT="${1:-$LIMIT}"')) == ['limit: str = "90"']


def test_a_variable_does_not_replace_the_dry_run_of_the_tool():
    assert declared(parsed(': "${DRY_RUN:=0}"', "touch x")) == ['dry_run_: str = "0"']


def test_a_default_may_be_the_text_of_a_variable():
    lines = ["COUNT=5", "readonly NAME='a b'", "TWICE=1", "TWICE=2", "MADE=$(date)", "RUN=1 ls"]
    assert find_constants(lines) == {"COUNT": "5", "NAME": "a b"}
    assert declared(parsed("COUNT=5", 'echo "${1:-$COUNT}"')) == ['argument_1: str = "5"']


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        pytest.param('echo "${1:-x}"', ['argument_1: str = "x"'], id="a text"),
        pytest.param('echo "${1:-$(date)}"', ["argument_1: str | None = None"], id="the last"),
        pytest.param(
            'echo "${1:-$(date)} ${2:-y}"',
            ['argument_1: str = ""', 'argument_2: str = "y"'],
            id="an empty word keeps the place",
        ),
        pytest.param(
            'echo "${1-$(date)} ${2-y}"',
            ["argument_1: str", 'argument_2: str = "y"'],
            id="an empty word would count",
        ),
        pytest.param(r'echo "\$1"', [], id="no word at all"),
    ],
)
def test_a_word_without_a_known_default_keeps_its_place(line, arguments):
    assert declared(parsed(line)) == arguments


def test_the_tool_passes_variables_and_words_as_the_script_takes_them(tmp_path):
    source = (
        '#!/bin/sh\n# Say things\n: "${GREETING:=hello}" "${NAME:=$(echo you)}"\n'
        'echo "$GREETING $NAME ${1:-$(echo one)} ${2:-two} $#"\nexport -p | grep -c GREETING\n'
    )
    assert called(source, tmp_path)["stdout"] == "hello you one two 2\n1\n"
    done = called(source, tmp_path, greeting='a "$(b)', name="", argument_2="3")
    assert done["stdout"] == 'a "$(b) you one 3 2\n1\n'  # NAME is set, but `:=` takes no empty one
