"""Each step of a composition takes its values from its own clause."""

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.step_filler import fill_steps
from pulsus.core.types import ArgSpec

FOLDER = ArgSpec("folder", "str", True, None, "Where to start. Must exist.")
PATH = ArgSpec("path", "Path", True, None, "The file to write.")
BIGGEST = from_arguments([FOLDER], "biggest_files", "List the largest files below a folder.")
SAVE = from_arguments([PATH], "save_report", "Write a text to a file.")


def values(fillings):
    return [{v.name: v.value for v in filling.values} for filling in fillings]


def test_a_step_does_not_take_the_value_of_another_clause():
    clauses = ["biggest files in /var/log", "save it to /tmp/report.md"]
    found = fill_steps(" then ".join(clauses), [BIGGEST, SAVE], clauses, fixed=[(), ()])
    assert values(found) == [{"folder": "/var/log"}, {"path": "/tmp/report.md"}]


def test_a_required_input_may_take_what_stands_outside_its_clause():
    clauses = ["in /var/log", "list the biggest files"]
    found = fill_steps(
        "in /var/log list the biggest files", [SAVE, BIGGEST], clauses, fixed=[("path",), ()]
    )
    assert values(found)[1] == {"folder": "/var/log"}


def test_without_clauses_one_value_goes_to_one_input_only():
    found = fill_steps("biggest files in /var/log", [BIGGEST, BIGGEST], (), fixed=[(), ()])
    assert sum(len(each) for each in values(found)) == 1


def test_an_input_with_a_value_is_left_alone():
    clauses = ["biggest files in /var/log"]
    assert values(fill_steps(clauses[0], [BIGGEST], clauses, fixed=[("folder",)])) == [{}]


def test_an_earlier_step_does_not_read_the_file_that_a_later_one_writes():
    clauses = ["find the largest files", "write a report of them to out/big.md"]
    found = fill_steps(" and ".join(clauses), [BIGGEST, SAVE], clauses, fixed=[(), ()])
    assert values(found)[0] == {}


def test_a_later_step_does_not_take_a_file_for_a_folder():
    rotate = from_arguments([PATH], "rotate_log", "Rotate a log file.")
    clauses = ["rotate logs/api.log", "tell me how big it is"]
    found = fill_steps(" and ".join(clauses), [rotate, BIGGEST], clauses, fixed=[(), ()])
    assert values(found)[1] == {}


def test_two_steps_may_share_the_file_that_one_of_them_names():
    lint = from_arguments([PATH], "lint_config", "Check a configuration file.")
    clauses = ["check svc/app.yaml", "then hash it"]
    found = fill_steps(" ".join(clauses), [lint, SAVE], clauses, fixed=[(), ()])
    assert values(found) == [{"path": "svc/app.yaml"}, {"path": "svc/app.yaml"}]
