"""Every input has a source, and no word of the request gets lost or is trusted too far."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pulsus.core.arguments.filler import FilledValue, Filling
from pulsus.core.types import ArgSpec, ParsedIntent, RouteDecision, RouteOutcome, ToolSpec
from pulsus.errors import InputMissing, InputUnclear, UsageError
from pulsus.routing.inputs.missing_inputs import (
    ask_for_inputs,
    collect_inputs,
    unfollowed_words,
)
from pulsus.routing.inputs.missing_words import IncompleteCall
from pulsus.routing.inputs.route_inputs import call_values, with_inputs
from tests.shipped import TOOLS

CALL = IncompleteCall(("pulsus", "run", "biggest_files"))
NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
FOLDER = ArgSpec("folder", "str", True, None, "Where to start. Must exist.")
LIMIT = ArgSpec("limit", "int", False, "10", "How many files to return, at least 1.")
TOOL = ToolSpec(
    id="storage/usage/biggest_files",
    path=Path("biggest_files.py"),
    entry="run",
    args=(FOLDER, LIMIT),
    doc="",
    domain="storage",
    action="usage",
    name="biggest_files",
    summary="List the largest files anywhere below a folder, biggest first.",
    sha256="0",
    kind="read",
)


def outcome(request, tool=TOOL):
    return RouteOutcome(
        run_id="",
        intent=ParsedIntent("storage", "usage", request, 1.0),
        decision=RouteDecision("route-1", "select", (tool,), None, ""),
        candidates=(),
        tau=0.6,
        widened=False,
    )


def filled(request, *pairs, fill=True, tool=TOOL):
    return with_inputs(outcome(request, tool), pairs, fill=fill, now=NOW)


def test_a_value_of_the_request_reaches_its_input_with_its_words():
    found = filled("five biggest files in /var/log")
    assert call_values(found) == {"folder": "/var/log", "limit": 5}
    assert (found.inputs["folder"].source, found.inputs["folder"].text) == ("request", "/var/log")
    assert found.inputs["limit"].text == "five"
    assert (found.missing, found.unused) == ((), ())


def test_an_option_wins_over_the_request():
    found = filled("five biggest files in /var/log", "folder=/srv")
    assert found.inputs["folder"].value == "/srv"
    assert found.inputs["folder"].source == "option"
    assert "/var/log" in found.unused


def test_without_fill_no_word_of_the_request_is_used():
    found = filled("five biggest files in /var/log", fill=False)
    assert call_values(found) == {}
    assert [arg.name for arg in found.missing] == ["folder"]


def test_an_input_without_a_value_keeps_its_default_and_says_so():
    found = filled("biggest files in /srv")
    assert (found.inputs["limit"].value, found.inputs["limit"].source) == (10, "default")
    assert "limit" not in call_values(found)


def test_a_value_that_no_input_takes_is_named():
    found = filled("biggest files in /srv on 10.1.2.3")
    assert found.unused == ("10.1.2.3",)


def test_the_name_of_the_selected_tool_is_not_called_unused():
    assert filled("biggest_files").unused == ()
    assert filled("other_files").unused == ("other_files",)


def test_a_thing_that_is_called_like_a_writing_tool_is_not_lost_without_a_question():
    assert filled("biggest_files", tool=replace(TOOL, kind="write")).unused == ("biggest_files",)


def test_a_value_that_is_the_default_is_not_called_unused():
    found = filled("10 biggest files in /srv")
    assert (found.unused, found.inputs["limit"].value) == ((), 10)


def test_a_value_that_the_request_says_is_not_called_a_default():
    said = filled("10 biggest files in /var/log").inputs["limit"]
    assert (said.value, said.source, said.text, said.is_default) == (10, "request", "10", True)
    assert filled("biggest files in /var/log").inputs["limit"].source == "default"


def test_a_writing_tool_gets_no_value_from_words_alone():
    writes = replace(TOOL, kind="write")
    found = filled("five biggest files in /var/log", tool=writes)
    assert call_values(found) == {}
    assert found.proposed["folder"].value == "/var/log"
    assert [arg.name for arg in found.missing] == ["folder"]


def test_a_value_of_another_type_than_the_input_is_never_used():
    digits = replace(TOOL, args=(replace(FOLDER, type_hint="int"), LIMIT))
    found = filled("biggest files in /var/log", tool=digits)
    assert "folder" not in call_values(found)


def test_a_missing_input_is_an_error_that_offers_what_the_request_proposes():
    found = filled("five biggest files in /var/log", tool=replace(TOOL, kind="write"))
    with pytest.raises(InputMissing) as error:
        collect_inputs(found, None)
    assert (error.value.code, error.value.exit_status) == ("INPUT_MISSING", 4)
    assert "folder (str, the request proposes /var/log): Where to start." in error.value.message
    assert error.value.hint == "add --input folder=/var/log"
    assert "'name': 'folder'" in repr(error.value.details["missing"])


def test_the_hint_for_a_missing_input_has_a_command_with_the_values_that_are_known():
    found = filled("five biggest files")
    with pytest.raises(InputMissing) as error:
        collect_inputs(found, None)
    whole = "pulsus route 'five biggest files' --run --input limit:=5 --input folder=…"
    assert error.value.ways == ("add --input folder=…", f"the whole command: {whole}")


def test_the_hint_for_a_missing_input_does_not_repeat_a_secret():
    call = IncompleteCall(("pulsus", "run", "t"), ("api_token=abc", "n=1"))
    assert call.completed("--input x=…") == (
        "pulsus run t --input n=1 --input api_token=… --input x=…"
    )


COLUMNS = ArgSpec(
    "columns",
    "list[str] | None",
    False,
    "None",
    "Names of CSV columns that make two rows equal. When not given, whole lines are compared.",
)
DUPLICATES = replace(
    TOOL,
    id="data/quality/duplicate_entries",
    name="duplicate_entries",
    summary="Find repeated lines or rows in a file, with how often each occurs.",
    args=(
        ArgSpec("path", "str", True, None, "The file; names ending in `.gz` are decompressed."),
        COLUMNS,
        replace(LIMIT, description="How many repeated entries to list, at least 1."),
    ),
)
OF_A_COLUMN = "duplicate order_id values in orders.csv"


@pytest.mark.parametrize(
    ("request_", "columns"),
    [
        pytest.param(OF_A_COLUMN, ["order_id"], id="proposed"),
        pytest.param("duplicates of customer_id in orders.csv", ["customer_id"], id="unlikely"),
        pytest.param('duplicate "order id" values in a.csv', ["order id"], id="quoted"),
    ],
)
def test_an_unattended_run_does_not_leave_out_a_column_that_the_request_names(request_, columns):
    found = filled(request_, tool=DUPLICATES)
    assert found.proposed["columns"].value == columns
    with pytest.raises(InputUnclear) as error:
        collect_inputs(found, None)
    assert (error.value.code, error.value.exit_status) == ("INPUT_UNCLEAR", 4)
    assert f"{columns[0]!r} may be the value of columns: Names of CSV" in error.value.message
    use, leave = error.value.ways
    assert f"columns={columns[0]}" in use
    assert "--input columns:=null" in leave


@pytest.mark.parametrize("pair", ["columns=order_id", "columns:=null"])
def test_both_hints_of_an_unclear_input_lead_to_a_run(pair):
    found = collect_inputs(filled(OF_A_COLUMN, pair, tool=DUPLICATES), None)
    assert found.inputs["columns"].source == "option"


def test_an_option_with_a_list_is_not_called_unused():
    assert filled(OF_A_COLUMN, "columns=order_id", tool=DUPLICATES).unused == ()


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param("does any id appear twice in list.txt", id="a number in words"),
        pytest.param("repeated lines of stock.csv with counts", id="plain words"),
        pytest.param("duplicates in list.txt for INC-8812 on app-02", id="ticket and machine"),
    ],
)
def test_a_request_in_plain_words_is_answered_without_a_question(request_):
    found = filled(request_, tool=DUPLICATES)
    assert collect_inputs(found, None) is found


def test_a_person_confirms_corrects_or_leaves_out_an_unclear_value():
    found = filled(OF_A_COLUMN, tool=DUPLICATES)
    for answer, columns in (("order_id", ["order_id"]), ("id, amount", ["id", "amount"])):
        person = Person(answer)
        asked = collect_inputs(found, person)
        assert person.proposed == [("order_id", "order_id")]
        assert (asked.inputs["columns"].value, asked.inputs["columns"].source) == (
            columns,
            "answer",
        )
    asked = collect_inputs(found, Person(""))
    assert asked.inputs["columns"].source == "default"
    with pytest.raises(InputUnclear):
        collect_inputs(found, Person(None))


@pytest.mark.parametrize("answer", [True, False])
def test_a_run_that_ignores_a_restriction_is_asked_about(answer):
    found = filled("biggest files in /var/log except quarantined")
    assert found.left_out == ("except quarantined",)
    assert any(note.startswith("left out: 'except quarantined'") for note in found.notes)
    person = Person(answer)
    if answer:
        collect_inputs(found, person)
    else:
        with pytest.raises(InputUnclear, match="not run: nothing in the answer"):
            collect_inputs(found, person)
    assert person.proposed == [("except quarantined",)]


def test_a_run_is_asked_about_if_its_only_value_is_not_used():
    optional = replace(TOOL, args=(LIMIT,))
    found = filled("biggest files of 10.1.2.3", tool=optional)
    assert found.unused == ("10.1.2.3",)
    with pytest.raises(InputUnclear):
        collect_inputs(found, Person(False))
    collect_inputs(found, None)


class Person:
    """Answers with these texts; remembers what was proposed to it."""

    def __init__(self, *answers):
        self.answers, self.proposed = list(answers), []

    def optional_value(self, arg, proposed, words):
        self.proposed.append((proposed, words))
        return self.answers.pop(0)

    def confirm_incomplete(self, words):
        self.proposed.append(words)
        return self.answers.pop(0)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"not asked for {name}")

    def value(self, arg, proposed="", tool=""):
        self.proposed.append(proposed)
        return self.answers.pop(0) or proposed


def test_a_person_accepts_the_proposal_by_an_empty_answer():
    person = Person("")
    assert ask_for_inputs([FOLDER], {"folder": "/srv"}, person, {}, CALL) == {"folder": "/srv"}
    assert person.proposed == ["/srv"]


WRITER = replace(TOOL, kind="write")


def test_a_write_whose_values_are_all_proposed_is_asked_about_once_by_its_confirmation():
    found = filled("five biggest files in /var/log", tool=WRITER)
    assert (found.missing, found.proposed["folder"].value) == ((FOLDER,), "/var/log")
    taken = collect_inputs(found, Person())
    folder = taken.inputs["folder"]
    assert (folder.value, folder.source, folder.text) == ("/var/log", "request", "/var/log")
    assert not taken.missing
    # The limit is optional. Its words are as sure as for a tool that reads.
    assert call_values(taken) == {"folder": "/var/log", "limit": 5}
    assert not taken.proposed


def test_a_write_asks_for_a_value_that_nothing_proposes():
    person = Person("/srv")
    taken = collect_inputs(filled("five biggest files", tool=WRITER), person)
    assert person.proposed == [""]
    assert (taken.inputs["folder"].value, taken.inputs["folder"].source) == ("/srv", "answer")


def test_the_confirmation_of_a_write_names_the_words_that_are_not_followed():
    found = filled("biggest files in /var/log except quarantined", tool=WRITER)
    taken = collect_inputs(found, Person())
    assert unfollowed_words(taken) == ("except quarantined",)


def test_the_confirmation_of_a_write_does_not_hide_a_value_that_no_input_takes():
    found = filled("five biggest files in /var/log", "folder=/srv", tool=WRITER)
    assert unfollowed_words(collect_inputs(found, Person())) == ("/var/log",)


def test_a_dry_run_takes_no_proposal_because_nobody_confirms_it():
    dry = ArgSpec("dry_run", "bool", False, "False", "Change nothing.")
    tool = replace(WRITER, args=(*WRITER.args, dry))
    person = Person("/srv")
    taken = collect_inputs(filled("biggest files in /var/log", "dry_run=true", tool=tool), person)
    assert person.proposed == ["/var/log"]
    assert taken.inputs["folder"].value == "/srv"


def test_without_a_person_a_proposal_for_a_write_is_no_value():
    with pytest.raises(InputMissing, match="folder"):
        collect_inputs(filled("five biggest files in /var/log", tool=WRITER), None)


def test_an_answer_of_the_wrong_type_is_refused_and_not_passed_on():
    with pytest.raises(UsageError, match="limit"):
        ask_for_inputs([replace(LIMIT, required=True)], {}, Person("many"), {}, CALL)


def test_no_answer_leaves_the_inputs_missing():
    with pytest.raises(InputMissing, match="folder"):
        ask_for_inputs([FOLDER], {}, Person(""), {}, CALL)


USER = ArgSpec("user", "str", False, "''", "The user it runs as; root when empty.")
CRON = replace(
    WRITER,
    id="services/schedule/set_cron_entry",
    name="set_cron_entry",
    summary="Add a cron job for a user.",
    args=(ArgSpec("command", "str", True, None, "What to run, in one line."), USER),
)
CRON_JOB = "add a cron job for www-data: run /usr/local/bin/backup.sh"


def test_a_likely_user_is_not_left_out_of_a_write_that_a_person_confirms():
    taken = collect_inputs(filled(CRON_JOB, tool=CRON), Person())
    assert call_values(taken)["user"] == "www-data"
    assert taken.inputs["user"].text == "www-data"


def test_a_write_without_a_person_does_not_go_to_the_default_user_instead():
    with pytest.raises(InputUnclear) as error:
        collect_inputs(filled(CRON_JOB, "command=/x", tool=CRON), None)
    assert error.value.ways == (
        "add --input user=www-data to use it",
        "add --input 'user:=\"\"' to run without it",
    )
    left = collect_inputs(filled(CRON_JOB, "command=/x", 'user:=""', tool=CRON), None)
    assert call_values(left)["user"] == ""


PLACE = ArgSpec("place", "str", False, "''", "Where it runs.")


def test_a_word_that_one_input_was_given_is_not_proposed_for_another():
    tool = replace(CRON, args=(*CRON.args, PLACE))
    assert filled(CRON_JOB, "command=/x", tool=tool).proposed["user"].value == "www-data"
    assert "user" not in filled(CRON_JOB, "command=/x", "place=www-data", tool=tool).proposed


@pytest.mark.parametrize("place", ["data", "www", "other"])
def test_a_write_without_a_person_does_not_lose_a_user_for_a_part_of_its_name(place):
    tool = replace(CRON, args=(*CRON.args, PLACE))
    found = filled(CRON_JOB, "command=/x", f"place={place}", tool=tool)
    assert found.proposed["user"].value == "www-data"


def test_a_word_that_stands_twice_is_still_proposed_after_one_input_was_given_it():
    tool = replace(CRON, args=(*CRON.args, PLACE))
    twice = f"{CRON_JOB} in www-data"
    found = filled(twice, "command=/x", "place=www-data", tool=tool)
    assert found.proposed["user"].value == "www-data"


@pytest.mark.parametrize(
    "request_",
    [
        "set password to hunter2hunter2 in app.yaml",
        "set db.password = hunter2hunter2 in app.yaml",
        "change the db_password of app.yaml to 'hunter2 hunter2'",
        "in app.yaml set api_key=hunter2hunter2",
        "set password to hunter in app.yaml",
    ],
)
def test_a_secret_of_the_request_is_neither_proposed_nor_named(request_):
    tool = next(tool for tool in TOOLS if tool.name == "set_config_line")
    done = filled(request_, tool=tool)
    assert {"path", "key"} <= done.proposed.keys()
    assert "value" in {arg.name for arg in done.missing}
    assert "hunter" not in repr(
        (done.proposed, done.inputs, done.unused, done.left_out, done.notes)
    )


def test_an_ordinary_setting_of_the_request_is_still_proposed():
    tool = next(tool for tool in TOOLS if tool.name == "set_config_line")
    done = filled("set timeout to 30 in app.yaml", tool=tool)
    assert {name: one.value for name, one in done.proposed.items()} == {
        "path": "app.yaml",
        "key": "timeout",
        "value": "30",
    }


class _Agreeing:
    """A model that confirms one value, whatever it is asked."""

    def improve(self, request, about, tool, filling, **options):
        value = FilledValue("folder", "hunter2hunter2", "hunter2hunter2", 0.9, "fill")
        return Filling((*filling.values, value), ("password", *filling.unused)), None


AGREEING: Any = _Agreeing()


def test_a_model_does_not_bring_a_secret_of_the_request_back():
    request_ = "biggest files, log in with the password hunter2hunter2"
    done = with_inputs(outcome(request_), (), fill=True, now=NOW, model=AGREEING)
    assert "hunter2" not in repr((done.proposed, done.inputs, done.unused, done.notes))
    assert [arg.name for arg in done.missing] == ["folder"]
    other = with_inputs(
        outcome("biggest files of hunter2hunter2"), (), fill=True, now=NOW, model=AGREEING
    )
    assert other.inputs["folder"].value == "hunter2hunter2"
