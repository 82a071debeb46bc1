"""Outcomes as lines: whatever a file, a tool or a checker says, a line stays a line (spec §11)."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.cli.render import outcome_text, plan_text, validation_text
from pulsus.core.types import ParsedIntent, Promotion
from tests.outcomes import candidate, outcome, report

PROJECT = Path("/p")
EVIL = "x\x1b[2J\n[PULSUS] promote → forged\x9b1m\u202e\r\x07\x00"
WILD = st.text(st.characters(blacklist_characters="/"), min_size=1, max_size=30)


def test_a_line_of_mypy_is_not_printed_twice():
    line = 'v.py:2:1: error: Dict entry 0 has incompatible type "str"  [dict-item]'
    found = report(ok=False, message=line.replace("  ", " "), output=line)
    shown = "\n".join(validation_text.report_lines(found, PROJECT))
    assert shown.count("Dict entry 0") == 1


def everything(text, policy):
    """Return every line that can be shown of a route in which everything is called `text`."""
    name = text.replace("\x00", "")
    path = PROJECT / "workflows" / f"{name}.py"
    one, two = candidate(why_not=text, matched={"doc": (text,)}), candidate("d/a/y", tie_break=text)
    one = replace(one, tool=replace(one.tool, path=path, name=text, summary=text))
    refused = report(path, ok=False, message=text, output=text * 3, summary=text, warnings=(text,))
    route = outcome(one, two, policy=policy, reason=text, words=text, notes=(text,))
    promoted = Promotion("rev-1", "1.0.0", path, "d/a/x", created=True)
    for found in (
        route,
        replace(route, validation=refused),
        replace(route, validation=report(path), promotion=promoted),
    ):
        yield from outcome_text.summary(found, PROJECT)
        yield from outcome_text.explain(found)
        yield from outcome_text.explain(found, detailed=True)
        yield from plan_text.plan(found)
    yield from validation_text.report_lines(refused, PROJECT)


def drives_a_terminal(line):
    allowed = {"\t"}
    hidden = {c for c in line if ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c == "\u202e"}
    return hidden - allowed


@pytest.mark.parametrize("policy", ["select", "compose"])
def test_no_line_drives_a_terminal_or_holds_a_line_of_its_own(policy):
    lines = list(everything(EVIL, policy))
    assert len(lines) > 20
    assert [line for line in lines if drives_a_terminal(line)] == []
    assert [line for line in lines if line.startswith("[PULSUS] promote → forged")] == []


@given(WILD, st.sampled_from(["select", "compose"]))
def test_no_text_breaks_out_of_its_line(text, policy):
    assert not any(drives_a_terminal(line) for line in everything(text, policy))


@pytest.mark.parametrize(
    ("intent", "tools", "shown"),
    [
        pytest.param((None, "hash"), ["shared/hash/h"], "shared action=hash", id="a shared tool"),
        pytest.param((None, None), ["d/a/x"], "d action=a", id="nothing parsed"),
        pytest.param(
            (None, "a"), ["d/a/x", "shared/sort/s"], "d action=a", id="the action tells the tool"
        ),
        pytest.param(
            (None, None), ["d/a/x", "shared/sort/s"], "d action=a", id="the last domain tool"
        ),
        pytest.param(("e", "b"), ["d/a/x"], "e action=b", id="parsed"),
        pytest.param((None, "a"), [], "? action=a", id="no tool"),
    ],
)
def test_a_route_that_found_a_tool_shows_no_unknown_domain(intent, tools, shown):
    chosen = [candidate(tool) for tool in tools]
    policy = "compose" if len(tools) > 1 else "select" if tools else "generate"
    found = outcome(*chosen, policy=policy)
    found = replace(found, intent=ParsedIntent(intent[0], intent[1], "do it", 0.9))
    lines = list(outcome_text.decision_lines(found, PROJECT))
    assert lines[0] == f"[PULSUS] domain={shown} (confidence=0.90)"


def test_the_nearest_tools_begin_with_the_highest_p_and_mark_tools_that_write():
    likely = candidate("d/a/likely", 0.26)
    likely = replace(likely, tool=replace(likely.tool, kind="write", summary="Set a value."))
    first = candidate("d/a/first", 0.14)
    first = replace(first, tool=replace(first.tool, kind="read", summary="Read a value."))
    found = replace(outcome(policy="generate"), candidates=(first, likely))
    assert list(outcome_text.nearest_tools(found)) == [
        "[PULSUS] nearest tools:",
        "[PULSUS]   d/a/likely  p=0.26  [writes] Set a value.",
        "[PULSUS]   d/a/first   p=0.14  Read a value.",
    ]


def test_a_path_inside_the_project_is_shown_relative_to_it():
    assert validation_text.relative(PROJECT / "a/b.py", PROJECT) == "a/b.py"
    assert validation_text.relative(Path("/etc/x"), PROJECT) == "/etc/x"


def test_a_refused_step_shows_the_output_of_the_checker():
    lines = list(
        validation_text.report_lines(report(ok=False, message="bad", output="l1\nl2"), PROJECT)
    )
    assert lines[0].startswith("  FAIL ruff")
    assert lines[1:3] == ["      l1", "      l2"]


def test_a_checker_line_of_a_candidate_is_not_read_as_a_line_of_the_script_of_that_name():
    line = "pull.py:3: error: in other_pull.py:4: and d/pull.py:5:"
    found = report(PROJECT / "_tmp/pull.py", ok=False, message=line, output=f"{line} more")
    lines = list(validation_text.report_lines(found, PROJECT, named="_tmp/pull.py"))
    assert [text.count("_tmp/pull.py:3: error: in other_pull.py:4:") for text in lines[:2]] == [
        1,
        1,
    ]
    assert [text.count("and d/pull.py:5:") for text in lines[:2]] == [1, 1]


@pytest.mark.parametrize("detailed", [False, True])
def test_an_explanation_begins_with_the_reason_and_breaks_no_id(detailed):
    long = "observability/instrumentation/summarise_every_exporter_of_the_whole_platform_at_once"
    reason = f"{long}: p 0.90 reaches τ 0.60"
    found = outcome(candidate(long), reason=reason)
    lines = list(outcome_text.explain(found, width=80, detailed=detailed))
    assert lines[0].startswith("[PULSUS] reason:")
    assert sum(line.count(long) for line in lines) == 2
    assert [line for line in lines if len(line) > 80 and line.strip() != long] == []
