"""`pulsus eval` as a command: calibration, baseline, review comment, plot."""

import json

import pytest

from tests.integration.test_json_schemas import check
from tests.project import make, pulsus_here

ASKED = (
    ("count the words of the text", "text/count/count_words"),
    ("summarise the matrix", "analysis/summarise/summarize_matrix"),
    ("plot the matrix as a picture", "analysis/visualise/plot_matrix"),
)


@pytest.fixture
def project(tmp_path):
    folder = make(tmp_path / "project", "requests")
    rows = [
        {"query": f"{text} number {n} of {'many different wishes ' * (n % 3)}", "tools": [tool]}
        for n in range(14)
        for text, tool in ASKED
    ]
    rows += [{"query": f"bake {n} loaves of bread", "tools": []} for n in range(6)]
    lines = "\n".join(json.dumps(row) for row in rows)
    (folder / "many.jsonl").write_text(lines, encoding="utf-8")
    return folder


def test_a_calibration_is_stored_used_and_named_afterwards(project):
    done = pulsus_here(project, "eval", "many.jsonl", "--calibrate", "--output", "json")
    check("eval", done.json)
    fitted = done.json["calibrated"]
    assert done.json["calibration"]["source"] == "shipped"
    assert (fitted["stored"], fitted["version"]) == ("config/calibration.json", 1)
    assert fitted["requests"] == 48
    assert fitted["after"]["ece"] < fitted["before"]["ece"]

    again = pulsus_here(project, "eval", "many.jsonl", "--output", "json").json["calibration"]
    assert again == {"source": "project", "version": 1, "data": fitted["data"]}
    explained = pulsus_here(project, "explain", ASKED[0][0])
    assert "project version 1" in explained.out


def test_the_same_requests_calibrate_to_the_same_weights(project):
    pulsus_here(project, "eval", "many.jsonl", "--calibrate")
    path = project / "config/calibration.json"
    first = json.loads(path.read_text("utf-8"))
    pulsus_here(project, "eval", "many.jsonl", "--calibrate")
    second = json.loads(path.read_text("utf-8"))
    assert first["coefficients"] == second["coefficients"]
    assert first["intercept"] == second["intercept"]
    assert (first["version"], second["version"]) == (1, 2)


def test_a_calibration_for_other_signals_is_left_aside_with_one_warning(project):
    pulsus_here(project, "eval", "many.jsonl", "--calibrate")
    path = project / "config/calibration.json"
    old = json.loads(path.read_text("utf-8")) | {"signals": 1}
    path.write_text(json.dumps(old), encoding="utf-8")
    done = pulsus_here(project, "eval", "requests.jsonl", "--output", "json")
    assert done.json["calibration"]["source"] == "shipped"
    assert done.err.count("config/calibration.json is not used") == 1
    routed = pulsus_here(project, "route", ASKED[0][0], "--plan")
    assert routed.err.count("config/calibration.json is not used") == 1


def test_too_few_requests_are_refused_and_nothing_is_stored(project):
    done = pulsus_here(project, "eval", "requests.jsonl", "--calibrate", "--output", "json")
    check("error", done.json)
    assert (done.code, done.json["error"]["code"]) == (2, "CALIBRATION_REFUSED")
    assert not (project / "config/calibration.json").exists()


def test_a_calibration_fits_bare_rows_too_and_is_used_for_them(project):
    (project / "tools.jsonl").write_text(
        "\n".join(
            json.dumps({"id": tool, "name": tool.split("/")[-1], "description": text})
            for text, tool in ASKED
        ),
        encoding="utf-8",
    )
    bare = ("eval", "many.jsonl", "--catalogue", "tools.jsonl", "--output", "json")
    assert pulsus_here(project, *bare, "--calibrate").json["calibrated"]["version"] == 1
    assert pulsus_here(project, *bare).json["calibration"]["source"] == "project"


def test_a_review_comment_compares_with_an_earlier_report(project):
    kept = pulsus_here(project, "eval", "requests.jsonl", "--output", "json")
    (project / "main.json").write_text(kept.out, encoding="utf-8")
    done = pulsus_here(
        project, "eval", "requests.jsonl", "--output", "markdown",
        "--baseline", "main.json", "--floor", "hit_at_1=1",
    )  # fmt: skip
    assert done.code == 0
    assert "### Routing: ✅ every floor is kept" in done.out
    assert "| hit_at_1 | 1.000 | 1 | ✅ | +0.000 |" in done.out
    since = pulsus_here(
        project, "eval", "requests.jsonl", "--baseline", "main.json", "--output", "json"
    ).json
    check("eval", since)
    assert since["since_baseline"]["hit_at_1"] == 0.0


def test_a_failure_can_be_acted_on(project):
    row = {"query": "count the words of the text", "tools": ["text/count/gone"]}
    (project / "wrong.jsonl").write_text(json.dumps(row), encoding="utf-8")
    found = pulsus_here(project, "eval", "wrong.jsonl", "--output", "json").json["failures"]
    assert found[0]["why"] == "no such tool: text/count/gone"
    assert found[0]["fix"]


@pytest.mark.parametrize("name", ["r.svg", "r.png"])
def test_a_reliability_plot_is_the_same_bytes_each_time(project, name):
    pytest.importorskip("matplotlib")
    args = ("eval", "requests.jsonl", "--plot", name)
    assert pulsus_here(project, *args).code == 0
    first = (project / name).read_bytes()
    assert pulsus_here(project, *args).code == 0
    assert (project / name).read_bytes() == first
    assert len(first) > 1000


def test_a_plot_of_another_kind_is_refused_before_anything_is_measured(project):
    done = pulsus_here(project, "eval", "requests.jsonl", "--plot", "r.pdf")
    assert done.code == 2
    assert ".png" in done.err


def test_embeddings_without_their_extra_are_a_clear_error(project, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    from pulsus.core.embeddings import encoder

    encoder.minilm.cache_clear()
    done = pulsus_here(project, "eval", "requests.jsonl", "--embeddings", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (2, "EXTRA_MISSING")
    assert "pulsus-workbench[embeddings]" in done.json["error"]["hint"]
