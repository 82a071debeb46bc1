"""A plan that writes is not made without a part of its request, and its reviewer sees the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pulsus.cli.plan.given_inputs import notes_to_show
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.types import ArgSpec, Plan
from pulsus.errors import InputUnclear
from pulsus.routing.inputs.missing_inputs import unfollowed_words
from pulsus.routing.inputs.planned_values import settle_writes, untaken_notes
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
    notes = [*untaken_notes(filled(CRON_JOB, tool=CRON))]
    assert (
        "not taken: user=www-data (from 'www-data'), which the request proposes; --input user=… "
        "gives it" in notes
    )


def test_the_notes_of_a_plan_do_not_hide_a_value_that_no_input_takes():
    found = filled("five biggest files in /var/log", "folder=/srv")
    assert settle_writes(found, None) is found
    assert [*untaken_notes(found)] == ["not used: '/var/log' of the request"]


def test_a_note_on_an_open_value_is_not_shown_once_apply_was_given_the_value():
    notes = tuple(untaken_notes(filled(CRON_JOB, tool=CRON)))
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
