"""The question before a run that may change things: each value as a person reads it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
import pytest

from pulsus.approvals.approver_protocol import WriteRun
from pulsus.cli.prompts import approval_prompt
from pulsus.cli.render.inputs_text import has_long_values, input_lines, shown, write_run_values
from pulsus.core.types import InputValue, ParsedIntent, RouteDecision, RouteOutcome
from tests.compositions import arg, spec
from tests.shown_characters import SHOWN

TOOL = spec("shared/save/save", arg("path"), arg("count", "int", default="3"), kind="write")


def shown_value(value, *, whole=False):
    values = dict(write_run_values(WriteRun(TOOL, (TOOL,), {"path": value}), whole=whole))
    return values["path"]


@pytest.mark.parametrize(("text", "codes"), [each for each in SHOWN if each[0] == each[0].strip()])
def test_a_character_that_hides_in_a_value_is_not_dropped_from_the_question(text, codes):
    assert shown_value(text) == codes.replace("\n", " ⏎ ")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("/srv/a\u200b.cfg", r"/srv/a\u{200b}.cfg", id="zero width"),
        pytest.param("gfc.\u202eexe", r"gfc.\u{202e}exe", id="right to left"),
        pytest.param("p\u0430th", r"p\u{430}th", id="a Cyrillic letter"),
        pytest.param("a\x1b[2Kb", r"a\u{1b}[2Kb", id="a terminal's command"),
        pytest.param("a\r\nb", r"a\u{d} ⏎ b", id="line break"),
        pytest.param("a" + " " * 300 + "b", "a ␣×300 b", id="long gap"),
        pytest.param("a ", '"a "', id="a blank at the end"),
        pytest.param("", '""', id="empty"),
        pytest.param(["a\u200b", 1], r'["a\u{200b}", 1]', id="in a list"),
        pytest.param({"p\u200b": "/srv"}, r'{"p\u{200b}": "/srv"}', id="in a name"),
    ],
)
def test_a_value_is_read_as_it_runs(value, text):
    assert shown_value(value) == text


def test_the_words_that_a_value_is_from_cannot_hide_a_character():
    origins = {"path": InputValue("/a", "request", text="to /a\u202e")}
    run = WriteRun(TOOL, (TOOL,), {"path": "/a"}, origins)
    assert dict(write_run_values(run))["path"] == r'/a (from "to /a\u{202e}")'


@pytest.mark.parametrize(
    ("hint", "default", "shown"),
    [
        pytest.param("str", "''", "(empty: root when empty, default)", id="empty text"),
        pytest.param("str | None", "None", "(empty: root when empty, default)", id="null"),
        pytest.param("str", "_USER", "(the tool's own: root when empty, default)", id="constant"),
        pytest.param("bool", "False", "false (default)", id="false"),
        pytest.param("int", "0", "0 (default)", id="zero"),
    ],
)
def test_the_question_before_a_write_does_not_hide_a_default(hint, default, shown):
    user = replace(arg("user", hint, default=default), description="Who runs it; root when empty.")
    tool = replace(TOOL, args=(user,))
    assert [*write_run_values(WriteRun(tool, (tool,), {}))] == [("user", shown)]


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        ("The section of an INI file.", "(empty, default)"),
        ("Who runs it; root when empty.", "(empty: root when empty, default)"),
    ],
)
@pytest.mark.parametrize("inputs", [{}, {"user": ""}], ids=["run", "apply"])
def test_an_empty_default_reads_the_same_before_a_run_and_a_plan(inputs, description, shown):
    tool = replace(TOOL, args=(replace(arg("user", default="''"), description=description),))
    assert dict(write_run_values(WriteRun(tool, (tool,), inputs))) == {"user": shown}


@pytest.mark.parametrize(
    ("value", "text"),
    [(14.0, "14"), (-0.0, "0"), (1.5, "1.5"), (1e300, "1e+300"), (3, "3"), (True, "true")],
)
def test_a_whole_number_is_shown_as_a_person_says_it(value, text):
    assert shown(value) == text


def test_an_empty_value_that_was_given_is_no_default():
    tool = replace(TOOL, args=(arg("user", default="''"),))
    run = WriteRun(tool, (tool,), {"user": ""}, {"user": InputValue("", "answer")})
    assert dict(write_run_values(run)) == {"user": '"" (answer)'}


def test_an_empty_default_without_a_description_is_not_hidden():
    tool = replace(TOOL, args=(replace(arg("user", default="''"), description=""),))
    assert dict(write_run_values(WriteRun(tool, (tool,), {}))) == {"user": "(empty, default)"}


def test_a_value_without_an_argument_cannot_hide_a_character_in_its_name():
    values = dict(write_run_values(WriteRun(TOOL, (TOOL,), {"pa\u200bth": "/a"})))
    assert values == {"count": "3 (default)", r"pa\u{200b}th": "/a"}


def test_a_long_value_says_how_much_of_it_is_cut_and_is_shown_whole():
    long = "a" * 1000 + "rm -rf"
    assert shown_value(long) == "a" * 200 + " … 806 more characters"
    assert shown_value(long, whole=True) == long
    assert has_long_values(WriteRun(TOOL, (TOOL,), {"path": long}))
    assert not has_long_values(WriteRun(TOOL, (TOOL,), {"path": "/a"}))


def test_a_person_reads_the_whole_of_a_long_value_before_the_answer(monkeypatch, capsys):
    answers = iter(["d", "n"])
    asked: list[Any] = []

    def answer(prompt, **_):
        asked.append(prompt)
        return next(answers)

    monkeypatch.setattr(click, "prompt", answer)
    run = WriteRun(TOOL, (TOOL,), {"path": "a" * 1000 + "rm -rf"})
    assert not approval_prompt.Terminal().confirm_run(run)
    first, whole = [line for line in capsys.readouterr().err.split("\n") if "aaa" in line]
    assert first.endswith("more characters")
    assert whole.endswith("arm -rf")
    assert asked == ["Run it? [y/N, d: details]"] * 2


def test_a_secret_that_an_option_gives_is_not_repeated_beside_its_name():
    decision = RouteDecision("r", "select", (), None, "")
    inputs = {
        name: InputValue(value, "option")
        for name, value in {"key": "password", "value": "hunter2hunter2", "path": "a.yaml"}.items()
    }
    outcome = RouteOutcome("", ParsedIntent(None, None, "", 1.0), decision, (), 0.6, False)
    (line,) = input_lines(replace(outcome, inputs=inputs))
    assert "hunter2" not in line
    assert "key=password (option)" in line
    assert "path=a.yaml (option)" in line
