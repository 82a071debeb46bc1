"""The tests of a script are brought along with it, as far as their text allows."""

import subprocess
import sys

import pytest

from pulsus.adoption import python_script, tool_module
from pulsus.adoption.shell import shell_script
from pulsus.adoption.sibling_test import bring_tests, find_test
from tests.candidates import tool_of

WORDS = '''"""Count words."""
import argparse

LIMIT = 3


def count(text):
    return len(text.split())


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("text")
    print(count(parser.parse_args(argv).text))
    return 0


if __name__ == "__main__":
    verbose = False
    raise SystemExit(main())
'''
REPEAT = """#!/bin/bash
# Repeat a word
while getopts "n:u" opt; do
  case "$opt" in
    n) COUNT="$OPTARG" ;;
    u) UPPER=1 ;;
  esac
done
shift $((OPTIND - 1))
WORD="${1:-a}"
[ -n "$COUNT" ] || exit 3
echo "$WORD $WORD"
"""
ARRANGED = """#!/usr/bin/env bats
# A comment

@test "says it twice" {
  run ./repeat.sh -n 2 "a b"
  [ "$status" -eq 0 ]
  [ "$output" = "a b a b" ]
}

@test 'fails without a count' {
  run bash "$BATS_TEST_DIRNAME/../repeat.sh" -u
  assert_failure 3
}

@test "is quiet" {
  run repeat.sh -n 1 ""
  assert_success
  assert_output ''
}
"""


def brought(folder, test, text, script="words.py", source=WORDS):
    (folder / script).write_text(source, encoding="utf-8")
    (folder / test).parent.mkdir(exist_ok=True)
    (folder / test).write_text(text, encoding="utf-8")
    parsed = (
        python_script.parse_python_script(source)
        if script.endswith(".py")
        else shell_script.parse_shell_script(source, "repeat")
    )
    return parsed, bring_tests(parsed, folder / script, "count_words", folder)


def refused(folder, text, **more):
    _, found = brought(folder, "test_words.py", text, **more)
    assert (found.count, found.code, found.examples) == (0, "", ())
    (left,) = found.unusable
    return left.reason


def from_bats(folder, text, source=REPEAT):
    script, found = brought(folder, "repeat.bats", text, "repeat.sh", source)
    return script, found


@pytest.mark.parametrize(
    "place",
    [
        "test_words.py",
        "words_test.py",
        "tests/test_words.py",
        "test/words_test.py",
        "words.bats",
        "tests/words.bats",
    ],
)
def test_the_test_of_a_script_is_found_by_its_name(tmp_path, place):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("")
    assert find_test(tmp_path / "words.py", tmp_path) == tmp_path / place
    assert find_test(tmp_path / "other.py", tmp_path) is None


def test_the_test_above_the_folder_of_a_script_is_found(tmp_path):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_disk_alert.bats").write_text("")
    script = tmp_path / "scripts" / "disk-alert.sh"
    assert find_test(script, tmp_path) == tmp_path / "tests" / "test_disk_alert.bats"
    assert find_test(script, tmp_path / "scripts") is None  # outside the project


@pytest.mark.seconds
@pytest.mark.parametrize(
    "imports",
    [
        "import words\nfrom words import count, main",
        "from scripts.words import count, main\nimport scripts.words as words",
        "from .words import *\nimport words",
    ],
)
def test_a_brought_pytest_file_tests_the_module_of_the_tool(tmp_path, imports):
    test = (
        f'"""Tests."""\nfrom __future__ import annotations\n\n{imports}\n\n\n'
        "def test_count():\n    assert count('a b') == words.count('c d') == 2\n\n\n"
        "class TestMain:\n    def test_main(self, capsys):\n"
        "        assert main(['a b']) == 0\n        assert words.LIMIT == 3\n"
        "        assert capsys.readouterr().out == '2\\n'\n"
    )
    script, found = brought(tmp_path, "tests/test_words.py", test)
    assert (found.count, found.unusable) == (2, ())
    made = tmp_path / "made"
    made.mkdir()
    module = tool_module.render_module(script, "count_words", "words.py")
    (made / "count_words.py").write_text(module, encoding="utf-8")
    (made / "test_count_words.py").write_text(found.code, encoding="utf-8")
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*call, "test_count_words.py"], cwd=made, capture_output=True, text=True, check=False
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        pytest.param("x = 1\n", "has no test", id="no test"),
        pytest.param("def test_x(:\n", "cannot be parsed", id="no Python"),
        pytest.param("def test_x():\n    pass\n", "does not import words", id="no import"),
        pytest.param(
            "import words\n\n\ndef test_x():\n    run(['words.py'])\n",
            "names words.py",
            id="starts the script",
        ),
        pytest.param(
            "import words\n\n\ndef run():\n    pass\n\n\ndef test_x():\n    run()\n",
            "Pulsus would take it for a tool",
            id="an entry point",
        ),
        pytest.param(
            "from words import verbose\n\n\ndef test_x():\n    assert not verbose\n",
            "verbose, which the tool has no more",
            id="a name that moved",
        ),
        pytest.param(
            "import words\n\n\ndef test_x():\n    assert words.gone\n",
            "gone, which the tool has no more",
            id="an attribute that is missing",
        ),
        pytest.param(
            "import scripts.words\n\n\ndef test_x():\n    assert scripts.words.count\n",
            "by the name of its package",
            id="a dotted name",
        ),
        pytest.param(
            "import words\nfrom . import helpers\n\n\ndef test_x():\n    pass\n",
            "line 2: it imports from its own package",
            id="relative",
        ),
        pytest.param(
            "import words\nimport shared\n\n\ndef test_x():\n    pass\n",
            "imports shared.py",
            id="a file beside it",
        ),
        pytest.param(
            "import words\n\n\ndef test_x(folder):\n    pass\n",
            "the fixture folder of conftest.py",
            id="a fixture",
        ),
    ],
)
def test_a_pytest_file_that_cannot_test_the_module_stays_and_says_why(tmp_path, test, reason):
    (tmp_path / "shared.py").write_text("")
    (tmp_path / "conftest.py").write_text("def folder():\n    return 1\n")
    assert reason in refused(tmp_path, test)


def test_a_test_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / "words.py").write_text(WORDS)
    (tmp_path / "test_words.py").write_bytes(b"\xff\xfe")
    script = python_script.parse_python_script(WORDS)
    found = bring_tests(script, tmp_path / "words.py", "words", tmp_path)
    assert [each.reason for each in found.unusable] == ["it is not UTF-8 text"]


def test_bats_tests_of_plain_words_become_examples(tmp_path):
    script, found = from_bats(tmp_path, ARRANGED)
    assert (found.count, found.unusable) == (3, ())
    module = tool_module.render_module(script, "repeat", "repeat.sh", found.examples)
    tool = tool_of(module, "repeat")
    assert tool.contract_errors == ()
    assert [(each.title, each.inputs, each.expected) for each in tool.examples] == [
        (
            "says it twice",
            {"count": "2", "word": "a b"},
            {"exit_status": 0, "stdout": "a b a b\n"},
        ),
        ("fails without a count", {"upper": True}, {"exit_status": 3, "...": "..."}),
        ("is quiet", {"count": "1", "word": ""}, {"exit_status": 0, "stdout": ""}),
    ]


def test_an_example_of_a_script_that_writes_really_runs_it(tmp_path):
    test = '@test "makes it" {\n  run ./repeat.sh x\n  assert_success\n}\n'
    _, found = from_bats(tmp_path, test, '#!/bin/sh\n# Make a file\ntouch "$1"\n')
    (example,) = found.examples
    assert example.inputs == {"argument_1": "x", "dry_run": False}
    assert example.expected == {"exit_status": 0, "...": "..."}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param("touch x\n  run ./repeat.sh", "comes before the script", id="prepared"),
        pytest.param("run ./other.sh\n  assert_success", "does not run repeat.sh", id="another"),
        pytest.param('run ./repeat.sh "$HOME"\n  assert_success', "known only when", id="variable"),
        pytest.param("run ./repeat.sh --all\n  assert_success", "no option --all", id="unknown"),
        pytest.param("run ./repeat.sh a b\n  assert_success", "takes no word 'b'", id="more words"),
        pytest.param("run ./repeat.sh a", "does not say the exit status", id="no status"),
        pytest.param('run ./repeat.sh a\n  [ -e "x" ]', "cannot be an example", id="a file"),
        pytest.param(
            'run ./repeat.sh\n  [[ "$output" =~ a ]]', "cannot be an example", id="a pattern"
        ),
        pytest.param("run ./repeat.sh 'a\n  assert_success", "No closing quotation", id="no quote"),
        pytest.param("assert_success", "comes before the script", id="no run"),
    ],
)
def test_a_bats_test_that_says_too_little_stays_with_its_line(tmp_path, body, reason):
    _, found = from_bats(tmp_path, f'\n@test "one" {{\n  {body}\n}}\n')
    assert found.examples == ()
    (left,) = found.unusable
    assert left.name == "one"
    assert left.reason.startswith("line 2: ")
    assert reason in left.reason


def test_bats_tests_that_a_function_prepares_stay(tmp_path):
    _, found = from_bats(tmp_path, f"setup() {{\n  cd /tmp\n}}\n{ARRANGED}")
    assert {each.reason.partition(": ")[2] for each in found.unusable} == {"setup() prepares it"}
    assert len(found.unusable) == 3
