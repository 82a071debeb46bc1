"""`pulsus explain` and `pulsus tools check` through the command line."""

import json
from pathlib import Path

import pytest

from tests.project import COMPOSE, COUNT, lay, make, pulsus_here
from tests.ranking import ranked


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make(tmp_path_factory.mktemp("explain") / "project", "shadow", "broken")


def explained(project, *args):
    done = pulsus_here(project, "explain", *args, "--output", "json")
    assert done.code == 0, done.out + done.err
    return done.json


def files(folder):
    kept = {".pulsus/index", ".pulsus/cache"}
    found = (p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
    return {str(p) for p in found if not any(str(p).startswith(k) for k in kept)}


def test_explain_writes_no_trace_and_no_memory(tmp_path):
    project = make(tmp_path / "project")
    before = files(project)
    explained(project, COUNT)
    explained(project, COUNT, "--why-not", "top_rows")
    assert files(project) == before


def test_explain_decides_as_route_does(project):
    for request in (COUNT, COMPOSE, "bake a sourdough loaf"):
        mine = explained(project, request)
        done = pulsus_here(project, "route", request, "--explain", "--output", "json")
        theirs = done.json
        keys = ("route_id", "policy", "selected", "candidates", "subintents", "reason", "tau")
        assert [mine[k] for k in keys] == [theirs[k] for k in keys]


def test_asking_about_a_tool_does_not_change_the_decision_shown(project):
    plain = explained(project, COUNT)
    asked = explained(project, COUNT, "--why-not", "demo/greet/say_hello")
    assert asked.pop("why_not")["tool"] == "demo/greet/say_hello"
    assert asked == plain


def test_the_contributions_of_a_candidate_add_up_to_its_score_as_printed(project):
    for candidate in explained(project, COUNT)["candidates"]:
        assert round(sum(candidate["contributions"].values()), 6) == candidate["score"]


def test_the_gaps_printed_add_up_to_the_scores_printed(project):
    body = explained(project, COUNT, "--why-not", "demo/greet/say_hello")
    answer = body["why_not"]
    assert round(sum(g["lost_by"] for g in answer["gaps"]), 6) == answer["score_gap"]


@pytest.mark.parametrize(
    ("about", "code"),
    [
        ("text/count/count_words", "CHOSEN"),
        ("shared/count/count_words", "SHADOWED"),
        ("half_written", "BROKEN"),
        ("finance/convert/half_written", "BROKEN"),
        ("demo/greet/say_hello", "NO_WORDS"),
    ],
)
def test_each_kind_of_reason_is_printed(about, code, project):
    assert explained(project, COUNT, "--why-not", about)["why_not"]["code"] == code


def test_explain_names_the_filter_that_route_applies(project):
    counted = "text/count/count_words"
    answer = explained(project, COUNT, "--kind", "write", "--why-not", counted)
    assert answer["why_not"]["code"] == "FILTERED"
    assert answer["why_not"]["reason"] == "filtered out: kind read, --kind write was given"
    args = ("route", COUNT, "--kind", "write", "--explain", "--output", "json")
    routed = pulsus_here(project, *args).json
    assert counted not in routed["selected"]
    assert routed["candidates"] == answer["candidates"]


def test_a_denied_tool_is_neither_selected_nor_silently_missing(project):
    env = {"PULSUS_ACCESS__DENY": '["text/*"]'}
    args = ("explain", COUNT, "--why-not", "text/count/count_words", "--output", "json")
    body = pulsus_here(project, *args, env=env).json
    assert "text/count/count_words" not in body["selected"]
    assert "access.deny pattern 'text/*'" in body["why_not"]["reason"]


def test_a_rejected_step_is_compared_within_its_clause(project):
    answer = explained(project, COMPOSE, "--why-not", "shared/report/markdown_table")["why_not"]
    assert answer["winner"] != "shared/report/markdown_table"


def test_no_line_is_wider_than_the_terminal(project):
    from pulsus.cli.render import explain_table, outcome_text
    from pulsus.core.rankers.calibration import shipped_calibration
    from tests.outcomes import candidate, outcome

    wide = candidate(
        "domain/action/" + "name_" * 12, matched={"doc": tuple("words" for _ in range(40))}
    )
    for width in (60, 80, 200):
        lines = list(outcome_text.explain(outcome(wide), shipped_calibration(), width))
        assert max(map(len, lines)) <= max(width, len(wide.tool.id))
        assert any(wide.tool.id in line for line in lines)
    assert explain_table.unmatched_words([wide]) == ()


def test_the_gaps_name_the_tools_they_compare(project):
    done = pulsus_here(project, "explain", COUNT, "--why-not", "demo/greet/say_hello")
    assert "own: demo/greet/say_hello, winner: text/count/count_words" in done.out
    assert "first" not in done.out.split("feature", 1)[1].splitlines()[0]
    assert "winner" in done.out.split("feature", 1)[1].splitlines()[0]


def test_the_calibration_line_shows_enough_digits_of_its_data_hash():
    from pulsus.cli.render import explain_table
    from pulsus.core.rankers.calibration import Calibration

    told = {"source": "project", "version": 2, "requests": 1, "data": "sha256:" + "0123456789" * 6}
    said = explain_table.calibrated_by(Calibration(0.0, {}, told))
    assert "1 request, data sha256:012345678901; log-odds" in said


def test_candidates_of_hardly_any_p_are_counted_and_not_listed():
    from pulsus.cli.render import explain_table

    many = [ranked(f"a/b/t{n}", p) for n, p in enumerate((0.9, 0.002, 0.001, 0.02, 0.009, 0.0))]
    lines = list(explain_table.candidate_lines(many, {}, "x", None, None))
    assert [n for n in range(6) if any(f"a/b/t{n}" in line for line in lines)] == [0, 1, 2, 3]
    assert lines[-1] == "2 more with p below 0.01 (--output json has them)"


def test_every_signal_of_p_is_in_the_guide():
    from pulsus.core.rankers.calibration_signals import NAMES

    page = Path(__file__).parents[2] / "docs/guides/explain-a-route.md"
    text = page.read_text(encoding="utf-8").partition("\n## Signals\n")[2].partition("\n## ")[0]
    assert [name for name in (*NAMES, "named", "caution") if f"`{name}`" not in text] == []


def test_explain_uses_hints_from_docs_as_route_does(tmp_path):
    folder = make(tmp_path / "project")
    (folder / "docs").mkdir()
    text = "# Words\n\nTo count the words of a text use `text/count/count_words`.\n"
    (folder / "docs/words.md").write_text(text, encoding="utf-8")
    mine = explained(folder, COUNT, "--rag")
    theirs = pulsus_here(folder, "route", COUNT, "--explain", "--rag", "--output", "json").json
    assert mine["passages"] == theirs["passages"]
    assert mine["passages"]
    assert explained(folder, COUNT)["passages"] == []
    plain = explained(folder, COUNT, "--rag", "--why-not", "demo/greet/say_hello")
    del plain["why_not"]
    assert plain == mine


def test_explain_without_the_extra_for_meaning_is_a_clear_error(tmp_path, monkeypatch):
    from pulsus.core.embeddings import encoder

    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    encoder.minilm.cache_clear()
    folder = make(tmp_path / "project")
    done = pulsus_here(folder, "explain", COUNT, "--embeddings", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (2, "EXTRA_MISSING")


def test_duplicates_fail_the_check_and_name_both_files(tmp_path):
    project = make(tmp_path / "project")
    source = project / "workflows/domains/text/count/count_words.py"
    (source.parent / "tally_words.py").write_bytes(source.read_bytes())
    done = pulsus_here(project, "tools", "check", "--output", "json")
    assert done.code == 3
    found = next(f for f in done.json["findings"] if f["code"] == "SAME_BYTES")
    assert found["tools"] == ["text/count/count_words", "text/count/tally_words"]
    assert found["path"].endswith("count_words.py")
    assert found["reason"] == "the very bytes of text/count/tally_words"
    assert done.json["error"]["code"] == "VALIDATION_FAILED"


def test_warnings_fail_the_check_only_with_strict(tmp_path):
    project = make(tmp_path / "project")
    assert pulsus_here(project, "tools", "check").code == 0
    assert pulsus_here(project, "tools", "check", "--strict").code == 3


@pytest.mark.seconds
def test_a_new_project_passes_the_strict_check(tmp_path):
    """Two tools of the journal described themselves almost alike."""
    (tmp_path / ".git").mkdir()
    assert pulsus_here(tmp_path, "init").code == 0
    done = pulsus_here(tmp_path, "tools", "check", "--strict")
    assert done.code == 0, done.out


def test_tools_check_reports_a_tool_that_wins_requests_of_another(tmp_path):
    project = make(tmp_path / "project")
    asked = [COUNT, "how many words are in a text"]
    rows = [{"query": text, "tools": ["shared/sort/top_rows"]} for text in asked]
    (project / "requests.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = pulsus_here(project, "tools", "check", "--golden", "requests.jsonl", "--output", "json")
    found = next(f for f in done.json["findings"] if f["code"] == "NEAR_DUPLICATE")
    assert found["tools"] == ["shared/sort/top_rows", "text/count/count_words"]
    assert found["evidence"] == asked


def test_an_annotation_is_one_line_for_any_reason(tmp_path):
    project = make(tmp_path / "project")
    lay(project, "broken")
    done = pulsus_here(project, "tools", "check", "--output", "github")
    assert done.code == 3
    lines = done.out.splitlines()
    assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines)
    assert any("file=workflows/domains/finance/convert/no_entry.py" in line for line in lines)
