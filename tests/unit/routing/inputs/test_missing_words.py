"""A plan that writes is not made without a part of its request, and its reviewer sees the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pulsus.cli.plan.given_inputs import notes_to_show
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.types import ArgSpec, InputValue, Plan
from pulsus.errors import InputUnclear
from pulsus.routing.inputs.missing_inputs import settle_writes, unfollowed_words
from pulsus.routing.inputs.missing_words import (
    describe_unused,
    other_notes,
    proposed_option,
    read_proposals,
    untaken_notes,
)
from pulsus.routing.route_outcome import refuse_lost_exclusion
from tests.unit.routing.inputs.test_route_inputs import CRON, CRON_JOB, TOOL, Person, filled

PATTERN = ArgSpec("pattern", "str", False, "'*'", "Only file names that fit this.")
DELETES = replace(
    TOOL,
    id="storage/cleanup/delete_old_files",
    name="delete_old_files",
    summary="Delete the files below a folder that were not changed for some days.",
    args=(ArgSpec("folder", "str", True, None, "Where to look."), PATTERN),
    kind="write",
)


def test_a_plan_that_deletes_is_not_made_without_the_file_that_the_request_excepts():
    found = filled("delete files in /var/log except access.log", tool=DELETES)
    with pytest.raises(InputUnclear) as error:
        settle_writes(found, None)
    assert "access.log" in error.value.message
    assert "leave these words out of the request" in (error.value.hint or "")
    # A person cannot answer with one key that everything may be deleted.
    with pytest.raises(InputUnclear):
        settle_writes(found, Person())


def test_the_file_that_a_request_excepts_is_not_the_one_that_a_write_deletes():
    found = filled("delete files in /var/log except access.log", tool=DELETES)
    assert "pattern" not in found.proposed
    assert any("access.log" in words for words in unfollowed_words(found))
    skips = replace(DELETES, args=(DELETES.args[0], replace(PATTERN, name="excluded_pattern")))
    found = filled("delete files in /var/log except access.log", tool=skips)
    assert "excluded_pattern" in found.proposed


def test_a_plan_that_writes_is_not_made_without_a_likely_value():
    found = filled(CRON_JOB, tool=CRON)
    with pytest.raises(InputUnclear) as error:
        settle_writes(found, None)
    assert error.value.ways[0] == "add --input user=www-data to use it"


@pytest.mark.parametrize(
    ("answer", "user", "left"), [("www-data", "www-data", False), ("", "", True)]
)
def test_the_answer_of_a_person_is_not_lost_from_the_plan(answer, user, left):
    settled = settle_writes(filled(CRON_JOB, tool=CRON), Person(answer))
    assert settled.inputs["user"].value == user
    assert ("user" in settled.proposed) is left


def test_the_notes_of_a_plan_do_not_hide_what_its_request_proposes():
    notes = [*untaken_notes(filled(CRON_JOB, tool=CRON), str)]
    assert (
        'proposed: user=www-data (from "www-data"); it is used only with --input user=www-data'
        in notes
    )


def test_the_notes_of_a_plan_do_not_hide_a_value_that_no_input_takes():
    found = filled("five biggest files in /var/log", "folder=/srv")
    assert settle_writes(found, None) is found
    assert [*untaken_notes(found, str)] == ["not used: '/var/log' of the request"]


def test_a_note_on_an_open_value_is_not_shown_once_apply_was_given_the_value():
    notes = tuple(untaken_notes(filled(CRON_JOB, tool=CRON), str))
    saved = SavedPlan(Plan("", ()), {}, (), "", {}, notes=notes)
    left = notes_to_show(saved, ["user=root"])
    (gone,) = (note for note in notes if note not in left)
    assert "user=www-data" in gone
    assert notes_to_show(saved, ["user_name=root"]) == list(notes)


@pytest.mark.parametrize(
    ("name", "told"),
    [("mask", "--input mask=…"), ("max_patterns", "--input NAME=VALUE")],
)
def test_an_input_that_only_has_pattern_in_its_name_is_not_offered_to_exclude_files(name, told):
    count = ArgSpec("pattern_count", "int", False, "1", "Most patterns.")
    other = replace(PATTERN, name=name, type_hint="str" if name == "mask" else "int", default=None)
    tool = replace(DELETES, args=(DELETES.args[0], count, other))
    found = filled("delete files in /var/log except access.log", tool=tool)
    failure = refuse_lost_exclusion(found).failure
    assert failure is not None
    assert told in failure.hint


@pytest.mark.parametrize("value", ["out.md", "a b", "it's", "@daily", 'a "b"', 30.0])
def test_a_proposed_value_is_not_lost_in_the_saved_plan(value):
    found = InputValue(value, "request", text=f"{value}")
    read = read_proposals([describe_unused("name", found)])
    assert proposed_option("name", read) == proposed_option("name", {"name": value})


@pytest.mark.parametrize(
    ("type_hint", "option"),
    [
        ("list[dict[str, Any]]", "--input 'x:=[…]'"),
        ("list[list[float]] | None", "--input 'x:=[…]'"),
        ("Mapping[str, int]", "--input 'x:={…}'"),
        ("list[str]", "--input x=…"),
        ("list", "--input x=…"),
        ("str | list[dict[str, Any]]", "--input x=…"),
        ("int", "--input x=…"),
        (None, "--input x=…"),
    ],
)
def test_an_open_input_is_not_offered_as_a_text_that_its_type_refuses(type_hint, option):
    assert proposed_option("x", {}, type_hint) == option


def test_a_proposed_text_that_begins_with_an_at_sign_does_not_name_a_file():
    assert proposed_option("when", {"when": "@daily"}) == "--input 'when:=\"@daily\"'"


def test_the_note_of_a_plan_that_an_earlier_version_saved_is_not_unreadable():
    before = "not taken: path=a b.md (from 'a b.md'), which the request proposes; --input path=… "
    assert read_proposals([f"{before}gives it"]) == {"path": "a b.md"}
    assert other_notes([f"{before}gives it", "left out: 'x'"], ["path"]) == ["left out: 'x'"]


def test_a_value_that_reads_like_the_end_of_a_note_does_not_become_another_command():
    said = "x; it is used only with --input name=evil"
    assert read_proposals([describe_unused("name", InputValue(said, "request", text="x"))]) == {}


@pytest.mark.parametrize(
    "note",
    [
        'proposed: path=x (from "x"); it is used only with --input path=x --yes',
        'proposed: path=x (from "x"); it is used only with --input other=x',
        'proposed: path=x (from "x"); it is used only with --input \'path=x',
        'proposed: path=x (from "x"); it is used only with --input path=…',
        "not taken: path=a (from b (from 'c'), which the request proposes; --input path=… gives it",
        "left out: 'path=x'",
    ],
)
def test_another_note_does_not_become_a_command(note):
    assert read_proposals([note]) == {}


def test_a_secret_that_the_request_proposes_is_not_in_the_notes_or_in_a_command():
    found = filled(CRON_JOB, tool=CRON)
    notes = [*untaken_notes(found, lambda text: text.replace("www-data", "***"))]
    assert not any("www-data" in note for note in notes)
    assert any(note.endswith("--input user=…") for note in notes)
    assert "user" not in read_proposals(notes)
