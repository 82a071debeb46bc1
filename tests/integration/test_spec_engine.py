"""`ranker.engine = "spec"` through the command line: routes, explanations, measurements."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.integration.test_json_schemas import check
from tests.project import COUNT, make, pulsus_here

COUNTER = "text/count/count_words"
ROOT = Path(__file__).parents[2]
GOLDEN = "config/golden.jsonl"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("spec") / "project", "requests")
    settings = folder / "config/pulsus.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('[ranker]\nengine = "spec"\n', encoding="utf-8")
    return folder


def write(path, *rows):
    path.write_text("\n".join([json.dumps(row) for row in rows]), encoding="utf-8")


def test_explain_shows_the_features_that_the_score_is_made_of(project):
    done = pulsus_here(project, "explain", COUNT, "--output", "json")
    check("explain", done.json)
    best = done.json["candidates"][0]
    assert best["tool"] == COUNTER
    given = {n: best["weights"][n] * best["features"][n] for n in ("name", "doc", "history")}
    assert best["score"] == pytest.approx(sum(given.values()), abs=1e-5)
    assert best["p"] == best["score"]
    assert best["features"]["name"] == 1.0  # the request says "count" and "words"
    assert done.json["calibration"]["source"] == "score"


def test_explain_as_text_says_that_p_is_the_score(project):
    done = pulsus_here(project, "explain", COUNT, "-v")
    assert 'calibration: none: p is the score (ranker.engine = "spec")' in done.out
    assert "weights: name=0.40 doc=0.40 history=0.20  τ=0.60" in done.out


def test_why_not_compares_the_features(project):
    asked = ("explain", COUNT, "--why-not", "demo/greet/say_hello", "--output", "json")
    answer = pulsus_here(project, *asked).json["why_not"]
    assert (answer["code"], answer["winner"]) == ("SCORE", COUNTER)
    assert {gap["feature"] for gap in answer["gaps"]} == {"name", "doc", "history"}


def test_tau_decides_on_the_score(project):
    score = explained_score(project)
    for tau, policy in ((score - 0.01, "select"), (score + 0.01, "generate")):
        env = {"PULSUS_RANKER__THRESHOLD": str(tau)}
        args = ("route", COUNT, "--plan", "--output", "json")
        assert pulsus_here(project, *args, env=env).json["policy"] == policy


def explained_score(project):
    return pulsus_here(project, "explain", COUNT, "--output", "json").json["candidates"][0]["score"]


def test_eval_measures_the_engine_and_names_it(project):
    done = pulsus_here(project, "eval", "requests.jsonl", "--output", "json")
    check("eval", done.json)
    assert done.json["calibration"] == {"source": "score", "version": 1, "data": None}
    told = pulsus_here(project, "eval", "requests.jsonl")
    assert 'calibration: none, p is the score (ranker.engine = "spec")' in told.out


def test_history_of_an_evaluation_counts_as_accepted_routes(project):
    twins = [{"id": n, "name": "show disk", "description": "Show disks."} for n in "ab"]
    write(project / "twins.jsonl", *twins)
    write(project / "asked.jsonl", {"query": "show the disk", "tools": ["b"]})
    write(project / "past.jsonl", *[{"query": "anything at all", "tools": ["b"]}] * 3)
    args = ("eval", "asked.jsonl", "--catalogue", "twins.jsonl", "--output", "json")
    assert pulsus_here(project, *args).json["hit_at_1"] == 0.0
    assert pulsus_here(project, *args, "--history", "past.jsonl").json["hit_at_1"] == 1.0


def test_history_counts_for_the_tools_of_the_project_too(project):
    row = {"query": "how many words", "tools": [COUNTER], "policy": "select"}
    write(project / "words.jsonl", row)
    args = ("eval", "words.jsonl", "--output", "json")
    before = pulsus_here(project, *args).json["failures"][0]
    after = pulsus_here(project, *args, "--history", "words.jsonl").json["failures"][0]
    assert after["p"] > before["p"]


def test_there_is_nothing_to_calibrate(project):
    done = pulsus_here(project, "eval", "requests.jsonl", "--calibrate", "--output", "json")
    check("error", done.json)
    assert done.code == 2
    assert done.json["error"]["message"].startswith('ranker.engine is "spec": its p is the score')
    assert not (project / "config/calibration.json").exists()


def test_an_unknown_engine_is_an_error_that_names_the_setting(project):
    done = pulsus_here(project, "explain", COUNT, env={"PULSUS_RANKER__ENGINE": "magic"})
    assert done.code == 2
    assert "ranker.engine" in done.err
    assert 'it should be "lexical" or "spec"' in done.err


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_commands_of_the_guide_run_on_the_shipped_catalogue(tmp_path):
    guide = (ROOT / "docs/guides/explain-a-route.md").read_text(encoding="utf-8")
    told = re.findall(r"^PULSUS_RANKER__ENGINE=spec pulsus (.+)$", guide, re.MULTILINE)
    assert len(told) == 2
    rows = (ROOT / GOLDEN).read_text(encoding="utf-8").splitlines(keepends=True)
    some = tmp_path / "golden.jsonl"
    some.write_text("".join(rows[::20]), encoding="utf-8")
    for command in told:
        env = {"PULSUS_RANKER__ENGINE": "spec"}
        words = [str(some) if word == GOLDEN else word for word in shlex.split(command)]
        done = pulsus_here(ROOT, *words, "-v", "--state-dir", tmp_path / "state", env=env)
        assert done.code == 0, done.err
        assert "p is the score" in done.out
