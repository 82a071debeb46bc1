"""Each step of a plan gets the values of its own part of the request."""

import pytest

from tests.unit.routing.inputs.test_row_values import filled, requested

ERRORS = ("error_counts", "count the errors in app.log")
HASH = ("hash_file", "compute the checksum of m.csv")


def test_two_steps_with_the_same_input_get_the_files_of_their_own_parts():
    done = filled(ERRORS, HASH)
    assert requested(done) == {"error_counts.path": "app.log", "hash_file.path": "m.csv"}
    assert (done.missing, done.unused) == ((), ())


def test_a_file_that_a_part_names_goes_before_the_output_of_an_earlier_step():
    done = filled(HASH, ERRORS)  # hash_file returns the `path` that it read
    assert requested(done) == {"hash_file.path": "m.csv", "error_counts.path": "app.log"}
    assert [step for step, _ in done.unconnected] == ["s2"]
    (note,) = done.notes
    assert note.startswith("independent results: s2 (logs/errors/error_counts) uses no result")


@pytest.mark.parametrize("words", ["count the duplicates in it", "count the duplicates in m.csv"])
def test_a_part_that_names_no_other_file_keeps_the_one_before(words):
    done = filled(HASH, ("duplicate_entries", words))
    assert done.inputs["path"].value == "m.csv"
    assert "path" not in [arg.name for arg in done.missing]


def test_an_option_for_a_shared_input_is_meant_for_every_step():
    done = filled(ERRORS, HASH, pairs=["path=other.log"])
    assert done.decision.plan.params.count("path") == 1
    assert not any(name.endswith("_path") for name in done.decision.plan.params)


BIG = ("biggest_files", "show the biggest files")
DELETE = ("delete_old_files", "delete the old files")
LINT = ("lint_config", "lint the config app.yaml")
SET = ("set_config_line", "set a line in it")


def test_a_folder_given_for_a_read_is_not_where_files_are_deleted():
    missing = [arg.name for arg in filled(BIG, DELETE).missing]
    assert "folder" in missing
    assert "s2_folder" in missing
    given = filled(BIG, DELETE, pairs=["folder=/srv"])
    assert "s2_folder" in [arg.name for arg in given.missing]


def test_a_change_of_it_is_a_change_of_the_file_named_before():
    done = filled(LINT, SET)
    assert done.inputs["path"].value == "app.yaml"
    assert [arg.name for arg in done.missing] == ["key", "value"]
