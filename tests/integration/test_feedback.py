"""`pulsus feedback`: feedback on a run decides the next similar request."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from pulsus.core.memory import past_routes
from pulsus.core.memory.past_routes import PastRoute
from pulsus.core.telemetry.ids import utc_now
from pulsus.core.telemetry.redaction import Redactor
from tests.project import COUNT, NOTHING, make, pulsus_here

pytestmark = pytest.mark.seconds

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path):
    return make(tmp_path / "project", warm=False)


def routed(project, request):
    done = pulsus_here(project, "route", request, "--plan", "--output", "json")
    return done.json


def test_feedback_json_fits_its_schema(project):
    schema = json.loads((ROOT / "docs/schemas/feedback.json").read_text(encoding="utf-8"))
    run = routed(project, COUNT)
    for _ in range(2):
        Draft202012Validator(schema).validate(told(project, run["run_id"], "--none").json)


def told(project, *args):
    return pulsus_here(project, "feedback", *args, "--output", "json")


def history(route, tool):
    found = (c for c in route["candidates"] if c["tool"] == tool)
    return next((c["features"]["history"] for c in found), 0.0)


def test_the_right_tool_rises_and_the_wrong_one_falls(project):
    request = "how long is this piece of text"
    before = routed(project, request)
    chosen = [c["tool"] for c in before["candidates"]][:1]
    done = told(project, before["run_id"], "--right", "say_hello")
    assert done.code == 0, done.err
    assert done.json["right"] == ["demo/greet/say_hello"]
    assert done.json["recorded"] is True
    after = routed(project, request)
    assert history(after, "demo/greet/say_hello") > history(before, "text/greet/say_hello")
    assert after["candidates"][0]["tool"] == "demo/greet/say_hello"
    assert chosen != ["demo/greet/say_hello"]


def test_feedback_lists_the_selected_tool_as_wrong(project):
    run = routed(project, COUNT)
    assert run["selected"] == ["text/count/count_words"]
    done = told(project, run["run_id"], "--right", "say_hello")
    assert done.json["wrong"] == ["text/count/count_words"]


def test_the_same_feedback_twice_is_stored_once(project):
    run = routed(project, COUNT)
    assert told(project, run["run_id"], "--right", "count_words").json["recorded"] is True
    path = project / ".pulsus" / "accepted.jsonl"
    kept = path.read_bytes()
    again = told(project, run["run_id"], "--right", "count_words")
    assert (again.code, again.json["recorded"]) == (0, False)
    assert path.read_bytes() == kept


def test_later_feedback_replaces_earlier_feedback(project):
    run = routed(project, COUNT)
    told(project, run["run_id"], "--right", "say_hello")
    assert told(project, run["run_id"], "--right", "count_words").json["recorded"] is True
    after = routed(project, COUNT)
    assert history(after, "text/count/count_words") > 0.4
    assert history(after, "demo/greet/say_hello") == 0.0


def test_feedback_can_say_that_nothing_fits(project):
    run = routed(project, COUNT)
    done = told(project, run["run_id"], "--none")
    assert done.json["right"] == []
    assert done.json["wrong"] == ["text/count/count_words"]
    after = routed(project, COUNT)
    scores = {c["tool"]: c["score"] for c in after["candidates"]}
    before = {c["tool"]: c["score"] for c in run["candidates"]}
    assert scores["text/count/count_words"] < before["text/count/count_words"]


def test_feedback_can_name_the_tool_of_a_request_without_one(project):
    run = routed(project, NOTHING)
    done = told(project, run["run_id"], "--right", "say_hello")
    assert done.json["wrong"] == []
    assert routed(project, NOTHING)["candidates"][0]["tool"] == "demo/greet/say_hello"


@pytest.mark.parametrize("run_id", ["run-20260301-120000-1a2b3c", "../../etc/passwd", "nonsense"])
def test_an_unknown_run_is_an_error_with_its_code(project, run_id):
    done = told(project, run_id, "--none")
    assert (done.code, done.json["error"]["code"]) == (2, "RUN_NOT_FOUND")


def test_feedback_for_an_unknown_tool_is_an_error_and_stores_nothing(project):
    run = routed(project, COUNT)
    done = told(project, run["run_id"], "--right", "no_such_tool")
    assert (done.code, done.json["error"]["code"]) == (2, "TOOL_NOT_FOUND")
    assert not (project / ".pulsus" / "accepted.jsonl").exists()


@pytest.mark.parametrize(
    "args",
    [(), ("--none", "--right", "count_words"), ("--undo", "--none")],
    ids=["neither", "both", "undo and none"],
)
def test_feedback_without_a_verdict_is_a_usage_error(project, args):
    run = routed(project, COUNT)
    done = told(project, run["run_id"], *args)
    assert (done.code, done.json["error"]["code"]) == (2, "USAGE")


def test_a_secret_in_the_request_is_not_stored(project):
    run = routed(project, COUNT + " password=hunter2")
    told(project, run["run_id"], "--right", "count_words")
    for path in [*project.glob(".pulsus/*.jsonl"), *project.glob("logs/**/*.log")]:
        assert "hunter2" not in path.read_text(encoding="utf-8")


def test_feedback_does_not_change_the_results_of_eval(project):
    rows = project / "rows.jsonl"
    row = {"query": COUNT, "tools": ["text/count/count_words"]}
    rows.write_text(json.dumps(row) + "\n", encoding="utf-8")

    def measured():
        report = pulsus_here(project, "eval", "rows.jsonl", "--output", "json").json
        return {k: v for k, v in report.items() if "ms" not in k and "seconds" not in k}

    before = measured()
    run = routed(project, COUNT)
    told(project, run["run_id"], "--right", "say_hello")
    assert measured() == before


def approved(project, request, tool):
    """Remember a route of the request to the tool, approved by a person."""
    remembered(project, request, tool, "accepted")


def remembered(project, request, tool, outcome):
    route = PastRoute(utc_now(), "run-20260301-120000-aaaaaa", None, request, (tool,), outcome)
    past_routes.record_route(project / ".pulsus", route, Redactor.from_environment({}))


def test_nothing_fits_outweighs_three_runs_of_the_same_words(project):
    run = routed(project, COUNT)
    for _ in range(3):
        approved(project, COUNT, "text/count/count_words")
    assert history(routed(project, COUNT), "text/count/count_words") > 0.5
    told(project, run["run_id"], "--none")
    after = routed(project, COUNT)
    assert history(after, "text/count/count_words") < 0.1
    scores = {c["tool"]: c["score"] for c in after["candidates"]}
    before = {c["tool"]: c["score"] for c in run["candidates"]}
    assert scores["text/count/count_words"] < before["text/count/count_words"]


def test_feedback_that_was_taken_back_counts_as_never_given(project):
    schema = json.loads((ROOT / "docs/schemas/feedback.json").read_text(encoding="utf-8"))
    run = routed(project, COUNT)
    told(project, run["run_id"], "--right", "say_hello")
    assert history(routed(project, COUNT), "demo/greet/say_hello") > 0
    log = project / ".pulsus/accepted.jsonl"
    before = log.read_bytes()
    done = told(project, run["run_id"], "--undo")
    Draft202012Validator(schema).validate(done.json)
    assert (done.code, done.json["undone"], done.json["recorded"]) == (0, True, True)
    assert done.json["next"]["as_told"] is True
    assert log.read_bytes().startswith(before)  # the log only grows
    after = routed(project, COUNT)
    assert [(c["tool"], c["p"]) for c in after["candidates"]] == [
        (c["tool"], c["p"]) for c in run["candidates"]
    ]
    again = told(project, run["run_id"], "--undo")
    assert (again.code, again.json["undone"], again.json["recorded"]) == (0, False, False)
    assert told(project, run["run_id"], "--right", "say_hello").json["recorded"] is True


def test_an_undo_brings_earlier_feedback_of_another_run_back(project):
    first, second = routed(project, COUNT), routed(project, COUNT)
    told(project, first["run_id"], "--right", "say_hello")
    told(project, second["run_id"], "--none")
    assert history(routed(project, COUNT), "demo/greet/say_hello") == 0.0
    told(project, second["run_id"], "--undo")
    assert history(routed(project, COUNT), "demo/greet/say_hello") > 0


def test_an_undo_on_another_run_names_the_run_with_the_feedback(project):
    first, second = routed(project, COUNT), routed(project, COUNT)
    told(project, first["run_id"], "--none")
    done = pulsus_here(project, "feedback", second["run_id"], "--undo")
    other = first["run_id"]
    assert f"this run has no feedback; {other} of this request has" in done.out
    assert f"pulsus feedback {other} --undo" in done.out
    assert "taken back: " in pulsus_here(project, "feedback", other, "--undo").out
    assert "this run has no feedback" not in pulsus_here(project, "feedback", other, "--undo").out


def test_feedback_is_taken_back_after_the_trace_was_removed(project):
    run = routed(project, COUNT)
    told(project, run["run_id"], "--none")
    for trace in project.glob(f"logs/runs/{run['run_id']}/*"):
        trace.unlink()
    said = pulsus_here(project, "feedback", run["run_id"], "--undo")
    assert (said.code, said.out.splitlines()[0]) == (0, f"taken back: {COUNT!r}")
    assert "the next route selects: text/count/count_words" in said.out
    assert "not enough" not in said.out
    none = pulsus_here(project, "feedback", run["run_id"], "--undo")
    assert none.out.startswith("no feedback to take back: ")


def test_repeated_feedback_counts_as_the_newest(project):
    first, second = routed(project, COUNT), routed(project, COUNT)
    told(project, first["run_id"], "--right", "count_words")
    told(project, second["run_id"], "--none")
    assert told(project, first["run_id"], "--right", "count_words").json["recorded"] is True
    assert history(routed(project, COUNT), "text/count/count_words") > 0.4


def test_feedback_announces_the_next_route(project):
    run = routed(project, COUNT)
    done = told(project, run["run_id"], "--right", "count_words")
    coming, after = done.json["next"], routed(project, COUNT)
    assert (coming["as_told"], coming["selected"]) == (True, after["selected"])
    assert coming["p"] == after["candidates"][0]["p"]
    said = pulsus_here(project, "feedback", run["run_id"], "--right", "count_words").out
    assert f"the next route selects: text/count/count_words, p {coming['p']:.2f}" in said


def test_feedback_reports_an_anti_intent_that_overrides_it(project):
    hints = project / "workflows/domains/text/count/count_words.tool.yaml"
    hints.write_text("hints:\n  anti_intents: [sourdough]\n", encoding="utf-8")
    run = routed(project, NOTHING)
    done = told(project, run["run_id"], "--right", "count_words")
    coming = done.json["next"]
    assert not coming["as_told"]
    (missed,) = coming["missed"]
    assert missed["tool"] == "text/count/count_words"
    assert "manifest says it is not for 'sourdough'" in missed["reason"]
    assert routed(project, NOTHING)["selected"] == coming["selected"] == []
    said = pulsus_here(project, "feedback", run["run_id"], "--right", "count_words").out
    assert "the feedback is not enough for text/count/count_words: " in said
    assert f"pulsus explain '{NOTHING}' --why-not text/count/count_words" in said


def test_feedback_reports_a_tool_still_selected_after_nothing_fits(project):
    run = routed(project, "count_words")
    done = told(project, run["run_id"], "--none")
    assert done.json["next"]["as_told"] is (routed(project, "count_words")["selected"] == [])
    if not done.json["next"]["as_told"]:
        assert (
            "the feedback is not enough to rule out text/count/count_words, "
            in pulsus_here(project, "feedback", run["run_id"], "--none").out
        )


def test_feedback_reports_a_filter_that_excludes_the_tool(project):
    run = routed(project, COUNT)
    (project / "config").mkdir(exist_ok=True)
    (project / "config/pulsus.toml").write_text('[access]\ndeny = ["text/*"]\n', encoding="utf-8")
    (missed,) = told(project, run["run_id"], "--right", "count_words").json["next"]["missed"]
    assert (missed["code"], "access.deny" in missed["reason"]) == ("FILTERED", True)


def test_a_route_id_or_last_means_the_newest_run(project):
    first = routed(project, COUNT)
    newest = routed(project, NOTHING)
    by_route = told(project, first["route_id"], "--none")
    assert (by_route.code, by_route.json["request"]) == (0, COUNT)
    last = told(project, "last", "--none").json
    assert (last["run_id"], last["request"]) == (newest["run_id"], NOTHING)


def test_the_run_a_route_prints_last_is_the_one_feedback_takes(project):
    last = pulsus_here(project, "route", NOTHING, "--explain").out.splitlines()[-1]
    done = told(project, last.removeprefix("[PULSUS] run_id="), "--none")
    assert (done.code, done.json["request"]) == (0, NOTHING)
    plan = pulsus_here(project, "route", COUNT, "--plan")
    assert "run_id" not in plan.out + plan.err, "a plan stands alone in a pipe"


def test_feedback_on_last_without_any_run_is_a_clear_error(project):
    done = told(project, "last", "--none")
    assert done.json["error"]["code"] == "RUN_NOT_FOUND"
    assert (
        "route-00000000 is known"
        in told(project, "route-00000000", "--none").json["error"]["message"]
    )


def test_a_run_that_nobody_confirmed_does_not_make_its_tool_the_answer(project):
    request = "how long is this piece of text"
    before = routed(project, request)
    for _ in range(20):
        remembered(project, request, "demo/greet/say_hello", "ran")
    after = routed(project, request)
    assert after["selected"] == before["selected"]
    assert history(after, "demo/greet/say_hello") < 0.2
    remembered(project, request, "demo/greet/say_hello", "accepted")
    assert history(routed(project, request), "demo/greet/say_hello") > 0.5


def test_feedback_outside_a_project_does_not_say_that_the_run_is_missing(tmp_path):
    for run in ("last", "run-20260301-120000-1a2b3c"):
        done = told(tmp_path, run, "--none")
        assert (done.code, done.json["error"]["code"]) == (2, "WORKFLOWS_MISSING")


def test_a_misspelt_last_is_answered_with_last(project):
    assert "`last` means the newest run" in told(project, "lst", "--none").json["error"]["hint"]
