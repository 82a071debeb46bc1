"""Route and explain name the values and clauses that a decision ignores."""

import shutil
from pathlib import Path

import pytest

from tests.project import CHAINED, COUNT, make, pulsus_here

pytestmark = pytest.mark.seconds

WORKFLOWS = Path(__file__).parents[2] / "workflows"
PARTLY = f"{COUNT}, then bake a sourdough loaf"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make(tmp_path_factory.mktemp("notes") / "project")


@pytest.mark.parametrize("args", [("explain",), ("route", "--plan"), ("route", "--explain")])
def test_an_ignored_value_or_clause_is_noted(project, args):
    command, *flags = args
    request = f"{COUNT} in /srv/report.txt"
    done = pulsus_here(project, command, request, *flags)
    said = "missing: text (str, the request proposes /srv/report.txt): The text."
    assert said in " ".join(f"{done.out} {done.err}".split())
    told = pulsus_here(project, command, request, *flags, "--output", "json").json
    assert told["proposed"]["text"]["value"] == "/srv/report.txt"
    request = f"{COUNT} 'a b' 10.1.2.3"
    done = pulsus_here(project, command, request, *flags, "--output", "json").json
    named = [
        *done["unused"],
        *(v["text"] for v in (*done["inputs"].values(), *done["proposed"].values())),
    ]
    assert {"a b", "10.1.2.3"} <= set(named)
    part = "no tool was found for the part 'bake a sourdough loaf'"
    done = pulsus_here(project, command, PARTLY, *flags)
    assert part in done.out + done.err
    told = pulsus_here(project, command, PARTLY, *flags, "--output", "json").json["notes"]
    assert part in told


LOOSE = f"{COUNT}, then look up the addresses of a host name"


@pytest.mark.parametrize("args", [("explain",), ("route", "--plan"), ("route", "--explain")])
def test_steps_without_a_connection_are_marked(project, args):
    command, *flags = args
    found = pulsus_here(project, command, LOOSE, *flags, "--output", "json").json
    assert found["policy"] == "compose"
    (loose,) = found["unconnected"]
    assert (loose["step"], loose["tool"]) == ("s2", found["selected"][1])
    note = f"independent results: s2 ({loose['tool']}) uses no result of s1"
    assert any(note in told for told in found["notes"])
    shown = pulsus_here(project, command, LOOSE, *flags)
    assert note in shown.out + shown.err


def test_the_summary_has_a_plus_between_steps_without_a_connection(project):
    shown = pulsus_here(project, "route", LOOSE, "--explain").out
    assert "steps: count_words + " in shown
    assert "(not connected with the first step)" in shown
    chained = pulsus_here(project, "route", CHAINED, "--explain").out
    assert "steps: top_rows -> markdown_table" in chained


def test_a_clause_that_no_tool_covers_is_in_the_json(project):
    found = pulsus_here(project, "explain", PARTLY, "--output", "json").json
    assert found["uncovered"] == ["bake a sourdough loaf"]
    joined = pulsus_here(project, "explain", f"{COUNT} and bake a sourdough loaf").out
    assert "part 'bake a sourdough loaf': not covered" in joined


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """A project with the starter catalogue."""
    folder = tmp_path_factory.mktemp("shipped")
    shutil.copytree(WORKFLOWS, folder / "workflows")
    return folder


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("request_text", "left_out"),
    [
        ("hash /srv/a.iso, then hash /srv/b.iso", ["hash /srv/b.iso"]),
        (
            "set log_level to warn in svc/app.toml and set max_connections to 10 in svc/db.ini",
            ["set max_connections to 10 in svc/db.ini"],
        ),
        ("hash /srv/a.iso", []),
        ("compare s1.env and s2.env", []),
        ("set log_level to warn in svc/app.toml", []),
    ],
)
def test_a_second_call_of_one_tool_is_not_lost_in_silence(shipped, request_text, left_out):
    told = pulsus_here(shipped, "route", request_text, "--plan", "--output", "json").json
    assert told["uncovered"] == left_out
    assert [n for n in told["notes"] if "is called once" in n] == [
        f"{told['selected'][0]} is called once: the part {part!r} asks for a second call and is "
        "left out; ask for it in a request of its own"
        for part in left_out
    ]


def test_a_value_of_a_part_that_is_left_out_reaches_no_input(shipped):
    request = (
        "count the levels in logs/api.log, then delete files in logs/old untouched for 40 days"
    )
    told = pulsus_here(shipped, "route", request, "--plan", "--output", "json").json
    assert told["uncovered"] == ["count the levels in logs/api.log"]
    named = {name: value["value"] for name, value in told["proposed"].items()}
    assert named == {"folder": "logs/old", "days": 40.0}


LOST = "delete the old logs in /var/log/app, then mail the list to bob"


@pytest.mark.seconds
@pytest.mark.parametrize("args", [("route", "--plan"), ("route", "--run"), ("plan",)])
def test_a_change_that_no_step_makes_is_no_success(shipped, tmp_path, args):
    command, *flags = args
    target = tmp_path / "plan.yaml"
    more = ["-o", str(target)] if command == "plan" else []
    done = pulsus_here(shipped, command, LOST, *flags, *more, "--non-interactive")
    assert done.code == 5
    assert "error[PART_LEFT_OUT]: 'mail the list to bob'" in done.err
    assert not target.exists()


@pytest.mark.seconds
@pytest.mark.parametrize("words", ["except *.gz", "but not *.gz", "without *.gz"])
@pytest.mark.parametrize("args", [("route", "--run"), ("plan",)])
def test_what_a_request_excludes_is_not_changed_without_a_person(shipped, tmp_path, args, words):
    """Before, `pattern=*.gz` was filled: the run deleted exactly what was to stay."""
    command, *flags = args
    request = f"delete files in {tmp_path} older than 30 days {words}"
    done = pulsus_here(shipped, command, request, *flags, "--non-interactive")
    assert done.code == 4
    assert f"no input follows '{words}'" in done.err
    told = pulsus_here(shipped, "explain", request, "--output", "json").json
    assert f"left out: '{words}'; nothing in this answer follows these words" in told["notes"]
    assert told["inputs"]["pattern"]["value"] == "*"
    assert "pattern" not in told["proposed"]


ROWS_AND_LOAD = "how many rows are in stock.csv, and what is the load average"


def test_two_independent_reads_run_without_a_promotion(shipped):
    """Before, two unconnected reads were answered only after a promotion, for a single use."""
    (shipped / "stock.csv").write_text("sku,qty\na1,3\nb2,4\n", encoding="utf-8")
    done = pulsus_here(shipped, "route", ROWS_AND_LOAD, "--run", "--non-interactive")
    assert done.code == 0, done.err
    assert "row_count" in done.out
    assert "limit_per_core" in done.out
    assert not list((shipped / "workflows/_tmp").glob("*.py"))


@pytest.mark.parametrize(
    "request_text",
    [
        "how many rows are in stock.csv, and what is the load average of its host",
        "show the load average and delete files in logs/old untouched for 40 days",
    ],
    ids=["a pronoun", "a write"],
)
def test_steps_that_may_mean_an_earlier_result_or_change_something_do_not_run_alone(
    shipped, request_text
):
    (shipped / "stock.csv").write_text("sku,qty\na1,3\nb2,4\n", encoding="utf-8")
    done = pulsus_here(shipped, "route", request_text, "--run", "--non-interactive")
    assert done.code in (4, 5)
    assert "limit_per_core" not in done.out
