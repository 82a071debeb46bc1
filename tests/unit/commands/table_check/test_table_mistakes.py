"""Mistakes in a table that would otherwise be lost without a word, or end in a traceback."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from pulsus.commands.classify import classify
from pulsus.commands.content_inspector import inspector, spellings
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.loader import Tables, parsed
from pulsus.commands.program_tables.program_table import BadTable, kind_of
from pulsus.commands.table_check.checker import check_table, find_unproved

GOOD = """program: acme
source: acme(1)
summary: shows acme
flags: -a
needs: [{one_of: -a, why: it writes}]
operands: [[text*]]
examples: {allowed: [acme -a], refused: [acme]}
"""


def found(folder, text):
    file = folder / "acme.yaml"
    file.write_text(text, encoding="utf-8")
    context = replace(JudgeContext(), tables=Tables((folder,)))
    return list(check_table(file, context)), classify("acme -a drop", context)


def test_a_table_without_a_mistake_has_no_finding(tmp_path):
    problems, verdict = found(tmp_path, GOOD)
    assert not problems
    assert verdict.allow


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("needs: []\n", "line 8: key 'needs' is given twice"),
        ("same_as: ls\n", "same_as stands alone"),
        ("flag: -b\n", "did you mean 'flags'?"),
        ("subcommands: {list: {flags: -x, flags: -y}}\n", "key 'flags' is given twice"),
    ],
)
def test_a_key_that_would_not_count_refuses_the_whole_table(tmp_path, more, told):
    problems, verdict = found(tmp_path, GOOD + more)
    assert [problem.code for problem in problems] == ["TABLE_INVALID"]
    assert told in problems[0].reason
    assert not verdict.allow


@pytest.mark.parametrize("kind", ["sql", "sql:oracle", "cloud:moon", "awk:gnu"])
def test_a_language_that_no_inspector_knows_is_a_finding_and_no_traceback(tmp_path, kind):
    problems, verdict = found(tmp_path, GOOD.replace("text*", f'"{kind}"'))
    assert f"kind {kind!r} is none of {kind.partition(':')[0]}" in problems[0].reason
    assert not verdict.allow


@pytest.mark.parametrize("base", ["awk", "cloud", "http_url", "jq", "mongo", "redis", "sed", "sql"])
def test_every_kind_that_a_table_may_write_judges_a_word(base):
    assert spellings(base)
    for kind in spellings(base):
        known = kind_of(kind, "acme")
        inspect = inspector(known.name)
        assert inspect is not None
        inspect(("x",), known.argument)


def test_an_option_of_apart_has_to_exist(tmp_path):
    problems, _ = found(tmp_path, GOOD + 'apart: ["-a | --al"]\n')
    assert [problem.code for problem in problems] == ["OPTION_UNKNOWN"]


def test_one_mistake_is_reported_once(tmp_path):
    problems, _ = found(tmp_path, GOOD + "values: {-n --number: counter}\n")
    assert [problem.code for problem in problems] == ["KIND_UNKNOWN"]


def test_what_a_merge_key_brings_may_be_given_anew(tmp_path):
    file = tmp_path / "acme.yaml"
    file.write_text("a: &a {x: 1, y: {z: 1}}\nb: {<<: *a, x: 2}\n", encoding="utf-8")
    assert parsed(file)["b"] == {"x": 2, "y": {"z": 1}}


def test_a_table_that_holds_itself_is_no_table(tmp_path):
    file = tmp_path / "acme.yaml"
    file.write_text("&a [*a, *a]\n", encoding="utf-8")
    with pytest.raises(BadTable):
        parsed(file)


def _nowhere(file):
    file.symlink_to("missing.yaml")


def _round(file):
    file.symlink_to(file.name)


@pytest.mark.parametrize("make", [_nowhere, _round, os.mkdir, os.mkfifo])
def test_what_is_no_file_is_not_passed_over_for_the_table_that_ships(tmp_path, make):
    make(tmp_path / "df.yaml")
    context = replace(JudgeContext(), tables=Tables((tmp_path,)))
    verdict = classify("df -h", context)
    assert not verdict.allow
    assert "no file, or a link to none" in verdict.reason.rule
    assert [problem.code for problem in check_table(tmp_path / "df.yaml", context)] == [
        "TABLE_INVALID"
    ]


def test_a_yaml_error_names_its_line(tmp_path):
    problems, _ = found(tmp_path, "program: acme\nflags: [-a\nbare: true\n")
    assert "line 3: " in problems[0].reason
    assert "unicode string" not in problems[0].reason


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        (GOOD.replace("source: acme(1)\n", ""), "UNDESCRIBED", "there is no source"),
        (GOOD.replace("shows acme", "''"), "UNDESCRIBED", "there is no summary"),
        (GOOD.replace("[acme -a]", "[ls]"), "EXAMPLES_ELSEWHERE", "what is allowed calls acme"),
        (GOOD.replace("[acme]", "[rm x]"), "EXAMPLES_ELSEWHERE", "what is refused calls acme"),
        (GOOD + "refused: {--purge}\n", "TABLE_INVALID", "refused --purge has no reason"),
        (GOOD.replace("acme\n", "yes\n", 1), "TABLE_INVALID", "takes the word for true: quote it"),
        (GOOD.replace("program: acme\n", ""), "TABLE_INVALID", "write program: acme"),
        (GOOD + "subcommands: {on: {}}\n", "TABLE_INVALID", "subcommands: YAML takes the word for"),
        (GOOD + "values: {-n: cuont}\n", "KIND_UNKNOWN", "there is no kind 'cuont'"),
    ],
)
def test_a_table_with_ineffective_entries_is_reported(tmp_path, text, code, told):
    problems, _ = found(tmp_path, text)
    assert [problem.code for problem in problems] == [code]
    assert told in problems[0].reason


def test_a_kind_that_is_misspelt_gets_the_nearest(tmp_path):
    problems, _ = found(tmp_path, GOOD + "values: {-n: cuont}\n")
    assert problems[0].fix.startswith("did you mean 'count'?")


HOLLOW = """program: rm
source: rm(1)
summary: removes
flags: -r -f
operands: [[path*]]
examples: {allowed: [rm -rf x], refused: [rm -x]}
"""


def test_what_is_known_to_destroy_is_advised_against_though_its_examples_hold(tmp_path):
    file = tmp_path / "rm.yaml"
    file.write_text(HOLLOW, encoding="utf-8")
    (problem,) = check_table(file, JudgeContext(tables=Tables((tmp_path,))))
    assert problem.advises
    assert "rm: calls of it are known to change or lose something" in problem.reason


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("values: {--output: path}\n", True),
        ("values: {--output: =json|=yaml}\n", False),
        ("subcommands: {gc: {flags: --force-delete}}\n", True),
        ("subcommands: {gc: {flags: --force, never: it deletes}}\n", False),
        ("flags: -a --no-delete\n", False),
        ("flags: -a --outline\n", False),
    ],
)
def test_an_option_called_like_a_change_gets_a_second_look(tmp_path, more, told):
    flags = "" if more.startswith("flags") else "flags: -a\n"
    text = GOOD.replace("flags: -a\n", flags).replace("operands: [[text*]]", "bare: true")
    problems, _ = found(tmp_path, text + more)
    assert [problem.code for problem in problems] == ["CHANGE_LISTED"] * told


def test_restrictions_that_no_example_shows_are_found_when_asked_for(tmp_path):
    file = tmp_path / "acme.yaml"
    file.write_text(GOOD + "refused: {-x: it writes}\nvalues: {-n: count}\n", encoding="utf-8")
    context = JudgeContext(tables=Tables((tmp_path,)))
    assert list(check_table(file, context)) == []
    problems = list(find_unproved(file, context))
    assert [problem.reason for problem in problems] == [
        "no refused example of `acme` depends on its restriction `refused -x`, "
        "as `acme -a -x` would",
        "no refused example of `acme` depends on its restriction `values -n: count`, "
        "as `acme -a -n x` would",
    ]
    fix = "add the call in the reason as refused, or delete the restriction"
    assert {problem.fix for problem in problems} == {fix}
    # The offered examples are those that prove the table.
    shown = GOOD.replace("refused: [acme]", "refused: [acme, acme -a -x, acme -a -n x]")
    file.write_text(shown + "refused: {-x: it writes}\nvalues: {-n: count}\n", encoding="utf-8")
    assert list(find_unproved(file, JudgeContext(tables=Tables((tmp_path,))))) == []


def test_an_end_of_operands_that_no_example_shows_is_named_by_its_call(tmp_path):
    file = tmp_path / "acme.yaml"
    needs = "needs: [{one_of: -a, why: it writes}]\n"
    text = GOOD.replace(needs, "").replace("[[text*]]", "[[text]]").replace("[acme]", "[acme -x]")
    text += "subcommands: {top: {flags: -b}}\n"
    file.write_text(text, encoding="utf-8")
    told = [p.reason for p in find_unproved(file, JudgeContext(tables=Tables((tmp_path,))))]
    assert told == [
        "no refused example has a word too many behind `acme TEXT`",  # subcommands hide that form
        "no refused example has a word too many behind `acme top`, as `acme top x` would",
    ]
