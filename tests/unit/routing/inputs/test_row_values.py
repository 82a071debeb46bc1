"""The steps of a plan that work on rows get their values from the words of the request."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pulsus.core.compose.plans import build_plan
from pulsus.core.types import ParsedIntent, Ranked, RouteDecision, RouteOutcome, SubIntent
from pulsus.errors import InputMissing
from pulsus.routing.inputs.missing_inputs import collect_inputs
from pulsus.routing.inputs.plan_steps import PromotedPlan
from pulsus.routing.inputs.route_inputs import call_values, named_inputs, with_inputs
from tests.shipped import TOOLS

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
DISK = "how full are the disks"
OVER_80 = "keep rows with used_percent over 80"


def named(name):
    return next(tool for tool in TOOLS if tool.name == name)


def found(name):
    return Ranked(named(name), {}, {}, score=1.0, p=0.9, rank=1)


def outcome(*parts):
    """Return the outcome of a request with one part for each tool, as (tool name, words)."""
    tools = tuple(named(name) for name, _ in parts)
    request = ", then ".join(words for _, words in parts)
    return RouteOutcome(
        run_id="",
        intent=ParsedIntent(None, None, request, 1.0),
        decision=RouteDecision("r", "compose", tools, build_plan.compose_plan(request, tools), ""),
        candidates=(),
        tau=0.6,
        widened=False,
        subintents=tuple(
            SubIntent(words, (Ranked(named(name), {}, {}, 1.0, 0.9, 1),)) for name, words in parts
        ),
    )


def filled(*parts, pairs=(), **options):
    return with_inputs(outcome(*parts), pairs, fill=True, now=NOW, **options)


def requested(done):
    return {n: v.value for n, v in named_inputs(done).items() if v.source == "request"}


def test_a_condition_reaches_the_filter_with_its_words():
    done = filled(("disk_usage", DISK), ("filter_rows", OVER_80))
    assert requested(done) == {
        "filter_rows.field": "used_percent",
        "filter_rows.op": ">",
        "filter_rows.value": 80,
    }
    assert done.inputs["value"].text == "used_percent over 80"
    assert (done.missing, done.unused) == ((), ())


@pytest.mark.parametrize(
    ("tool", "before", "clause", "field", "op"),
    [
        ("disk_usage", DISK, "only those above 50 percent", "used_percent", ">"),
        ("disk_usage", "disk usage", "drop those under 50%", "used_percent", ">="),
        ("disk_usage", "inode usage", "those over 50 %", "inodes_used_percent", ">"),
        ("container_stats", "memory of containers", "over 50 %", "memory_percent", ">"),
    ],
)
def test_a_bare_percentage_is_of_the_column_that_the_part_before_names(
    tool, before, clause, field, op
):
    values = requested(filled((tool, before), ("filter_rows", clause)))
    assert values["filter_rows.field"] == field
    assert (values["filter_rows.op"], values["filter_rows.value"]) == (op, 50)


@pytest.mark.parametrize(
    ("clause", "tool", "name"),
    [("those over 50 %", "filter_rows", "field"), ("sort them", "top_rows", "by")],
)
def test_a_missing_column_is_asked_for_with_the_names_of_all_columns(clause, tool, name):
    done = filled(("top_processes", "top processes"), (tool, clause))
    assert name in [arg.name for arg in done.missing]
    (note,) = (note for note in done.notes if note.startswith(f"{name} names a column"))
    assert note.endswith(": pid, name, user, cpu_percent, memory_bytes, memory_percent, command")
    with pytest.raises(InputMissing) as failure:
        collect_inputs(done, None)
    assert failure.value.details["notes"] == list(done.notes)


def test_a_column_that_is_known_is_not_listed():
    done = filled(("disk_usage", DISK), ("filter_rows", OVER_80))
    assert not any("names a column" in note for note in done.notes)


def test_rows_keep_their_columns_behind_a_filter():
    done = filled(
        ("disk_usage", DISK),
        ("filter_rows", OVER_80),
        ("top_rows", "sort by free_bytes ascending"),
        ("markdown_table", "as a table with mount and free_bytes"),
    )
    values = requested(done)
    assert values["top_rows.by"] == "free_bytes"
    assert values["top_rows.descending"] is False
    assert values["markdown_table.columns"] == ["mount", "free_bytes"]


def test_an_optional_input_with_a_value_becomes_a_parameter_of_the_plan():
    plain = outcome(("journal_errors", "journal errors"), ("markdown_table", "as a table"))
    assert "since_hours" not in plain.decision.plan.params
    done = filled(
        ("journal_errors", "journal errors over the last 6 hours"), ("markdown_table", "as a table")
    )
    assert "since_hours" in done.decision.plan.params
    assert call_values(done) == {"since_hours": 6}


def test_an_optional_input_that_an_option_names_becomes_a_parameter_too():
    parts = (("journal_errors", "journal errors"), ("markdown_table", "as a table"))
    assert call_values(filled(*parts, pairs=["since_hours=3"])) == {"since_hours": 3}


def test_an_option_wins_over_the_words_of_a_condition():
    done = filled(("disk_usage", DISK), ("filter_rows", OVER_80), pairs=["value:=95"])
    assert call_values(done) == {"field": "used_percent", "op": ">", "value": 95}


def test_a_condition_that_is_not_clear_is_asked_for_and_offered():
    done = filled(
        ("top_processes", "busiest processes"),
        ("filter_rows", "keep user root and cpu_percent over 5"),
    )
    assert [arg.name for arg in done.missing] == ["field", "op", "value"]
    assert requested(done) == {}
    assert done.proposed["field"].value == "user"


def test_a_step_that_writes_gets_proposals_only():
    done = filled(
        ("disk_usage", DISK),
        ("save_report", "save it as /tmp/full.json overwriting last week's"),
    )
    assert call_values(done) == {}
    assert {n: v.value for n, v in done.proposed.items()} == {
        "path": "/tmp/full.json",
        "overwrite": True,
    }
    assert "overwrite" in done.decision.plan.params


def test_the_words_of_a_condition_are_no_value_of_an_earlier_step():
    one = outcome(("open_files", "open files"), ("top_rows", "5 with most sockets"))
    whole = replace(one, subintents=())
    done = with_inputs(whole, (), fill=True, now=NOW)
    assert requested(done) == {"top_rows.by": "sockets", "top_rows.n": 5}


def test_a_promoted_composition_reads_the_same_values_as_its_plan():
    made = outcome(("disk_usage", DISK), ("filter_rows", OVER_80))
    plan = made.decision.plan
    assert plan is not None
    args = build_plan.list_parameters(plan, made.decision.selected)
    tool = replace(named("disk_usage"), args=args, composed=True)
    again = replace(made, decision=RouteDecision("r", "select", (tool,), None, ""))
    promoted = PromotedPlan(plan, made.decision.selected)
    done = with_inputs(again, (), fill=True, now=NOW, promoted=promoted)
    assert call_values(done) == {"field": "used_percent", "op": ">", "value": 80}


def test_words_at_the_end_of_the_part_before_may_leave_the_rows_out():
    tools = ("log_window", "filter_rows")
    parts = ("lines of /var/log/a.log minus those", "whose text has 'healthz' in it")
    made = outcome(*zip(tools, parts, strict=True))
    made = replace(made, intent=replace(made.intent, intent=" ".join(parts)))
    done = with_inputs(made, (), fill=True, now=NOW)
    assert requested(done)["filter_rows.op"] == "not_contains"


def test_a_condition_that_begins_in_the_part_before_belongs_to_its_step():
    tools = ("pending_updates", "filter_rows")
    parts = ("apt upgrades for packages", "beginning with linux-image")
    made = outcome(*zip(tools, parts, strict=True))
    made = replace(made, intent=replace(made.intent, intent=" ".join(parts)))
    done = with_inputs(made, (), fill=True, now=NOW)
    assert requested(done)["filter_rows.field"] == "package"
    assert requested(done)["filter_rows.value"] == "linux-image"


def test_a_default_limit_before_a_filter_is_noted_as_it_may_hide_rows():
    filter_part = ("filter_rows", "keep those with memory_bytes over 100 MB")
    done = filled(("top_processes", "the processes of this host"), filter_part)
    assert any("at most 10 rows (default of limit)" in note for note in done.notes)
    limited = filled(("top_processes", "the top 500 processes of this host"), filter_part)
    assert limited.inputs["limit"].value == 500
    assert limited.notes == ()
    assert filled(("top_processes", "the top 10 processes of this host"), filter_part).notes == ()
