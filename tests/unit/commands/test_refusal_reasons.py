"""What a refusal tells: the nearest thing that is true, and a way out only where it is one."""

import pytest

from pulsus.commands import classify
from pulsus.commands.call_check.value_kinds import NAMES, describe_kind
from pulsus.commands.classify import examine
from pulsus.commands.explain_verdict import explain
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.program_table import kind_of


@pytest.mark.parametrize(
    "command", ["rm x", "nohup chmod 700 x", "timeout 5 kill -9 1", "mkfs /x", "mv a b"]
)
def test_what_is_known_to_change_things_is_not_called_unknown(command):
    assert classify(command).reason.phase in {"write", "allow"}


def test_a_program_without_a_table_is_called_unknown():
    assert classify("frobnicate x").reason.phase == "unknown"


@pytest.mark.parametrize(
    ("command", "told"),
    [("tail -f a", True), ("top -b", True), ("top", False), ("dd if=/dev/zero of=/dev/sda", False)],
)
def test_a_limit_of_time_is_offered_only_where_it_makes_a_read(command, told):
    reason = classify(command).reason
    assert bool(reason.instead) is told
    if told:
        assert classify(f"timeout 5 {command}").allow


def test_examples_are_offered_of_the_program_that_was_refused():
    assert "top -bn1" in explain("ls | top", JudgeContext()).allowed


@pytest.mark.parametrize(
    ("command", "instead"),
    [
        ("tail -n 5 *.log", "./*.log"),
        ("sort *.txt", "./*.txt"),
        ("sort -r *.txt -o x", ""),
        ("dig *", ""),
    ],
)
def test_a_refusal_suggests_file_names_that_would_be_allowed(command, instead):
    reason = classify(command).reason
    assert reason.instead == (f"write {instead}" if instead else "")
    if instead:
        assert classify(command.replace(instead[2:], instead)).allow


def test_what_xargs_feeds_is_not_called_a_file_name():
    reason = classify("ls | xargs -n1 file").reason
    assert (reason.word, reason.instead) == ("file", "write `file --`")
    assert reason.rule == "what another program feeds it can be taken for an option"
    assert classify("ls | xargs -n1 file --").allow
    for command in ("cat a | xargs -n1 dig +short", "ls | xargs awk", "ls | xargs head -n"):
        found = classify(command).reason
        assert "*" not in str(found), command
        assert "file name" not in found.rule


def test_a_wild_word_gets_another_reason_than_a_word_that_does_not_fit():
    assert classify("uniq ./a*").reason.rule == "it stands for any number of words here"
    assert "what it stands for is not known" in classify("timeout 5* ls").reason.rule


@pytest.mark.parametrize(
    ("command", "word", "told"),
    [
        ("env LD_PRELOAD=/tmp/x ls", "LD_PRELOAD=/tmp/x", "a variable set before a program"),
        ("env LC_ALL=C rm x", "rm", "every call of it is known to change"),
        ("env LC_ALL=C sort -o a b", "-o", "writes"),
        ("visudo", "visudo", "waits for typed input"),
        ("strace ls", "strace", "runs programs"),
        ("mysql -e 'analyze table t'", "analyze table t", "statistics of a table"),
        ("cat \udcff", "\\xff", "has to be UTF-8"),
        ("cat \ud800", "U+D800", "half of a UTF-16"),
    ],
)
def test_the_reason_names_the_cause(command, word, told):
    reason = classify(command).reason
    assert reason.word == word
    assert told in reason.rule


@pytest.mark.parametrize("command", ["strace ls", "perf top", "tmux"])
def test_no_limit_of_time_is_offered_to_what_it_would_not_make_a_read(command):
    findings = examine(command, JudgeContext()).findings
    assert not any(found.reason.instead for found in findings)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("timeout 0 ls", "a time above 0"),
        ("tar tf -", "neither - nor with a colon"),
        ("ssh -o StrictHostKeyChecking=no h ls", "trusts no new host"),
        ("seq x", "a number"),
        ("echo 1+1 | bc", "what its input says"),
        ("tcpdump -c 10", "waits for packets"),
    ],
)
def test_a_refused_value_says_what_would_fit(command, told):
    assert told in classify(command).reason.rule


def test_no_everyday_pattern_is_shown_as_it_is_written():
    shown = [
        classify(command).reason.rule
        for command in ("timeout x ls", "sleep x", "ps xe", "ping -c 0 h", "xargs -I aa ls")
    ]
    assert not any("/[" in rule or "another form" in rule for rule in shown), shown


def test_the_examples_offered_are_those_most_like_the_call():
    allowed = explain("git stash pop", JudgeContext()).allowed
    assert allowed
    assert all(" stash " in f"{each} " for each in allowed[:1])
    assert all(" top" in f" {each}" for each in explain("top -d 5", JudgeContext()).allowed)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("timeout 5", "an operand is missing: a program to run"),
        ("yq --indent x . a", "--indent is a read only with a whole number"),
    ],
)
def test_a_refusal_describes_a_kind_in_words(command, told):
    assert told in classify(command).reason.rule


def test_no_refusal_shows_only_the_name_of_a_kind():
    for name in NAMES - {"literal", "pattern"}:
        assert describe_kind(kind_of(name, "x"), "x") != f"a {name}" or name in {"text", "path"}
