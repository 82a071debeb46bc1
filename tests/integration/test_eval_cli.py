"""`pulsus eval` as a command: calibration, baseline, review comment, plot."""

import json
import os
from pathlib import Path

import pytest

from tests.integration.test_json_schemas import check
from tests.project import COUNT, make, pulsus_here

pytestmark = pytest.mark.seconds

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


def calibration_line(project):
    """Return the check of `pulsus doctor` that names the calibration."""
    checks = pulsus_here(project, "doctor", "--output", "json").json["checks"]
    return next(check for check in checks if check["name"] == "calibration")


@pytest.mark.seconds
def test_a_stored_calibration_is_used_and_named(project):
    done = pulsus_here(project, "eval", "many.jsonl", "--calibrate", "--output", "json")
    check("eval", done.json)
    fitted = done.json["calibrated"]
    assert done.json["calibration"]["source"] == "shipped"
    assert (fitted["stored"], fitted["version"]) == ("config/calibration.json", 1)
    assert fitted["requests"] == 48
    assert fitted["after"]["ece"] < fitted["before"]["ece"]

    again = pulsus_here(project, "eval", "many.jsonl", "--output", "json").json["calibration"]
    assert again == {"source": "project", "version": 1, "data": fitted["data"]}
    explained = pulsus_here(project, "explain", ASKED[0][0], "-v")
    assert "project version 1" in explained.out
    assert "fitted on" in calibration_line(project)["found"]


@pytest.mark.seconds
def test_calibration_is_reproducible(project):
    pulsus_here(project, "eval", "many.jsonl", "--calibrate")
    path = project / "config/calibration.json"
    first = json.loads(path.read_text("utf-8"))
    pulsus_here(project, "eval", "many.jsonl", "--calibrate")
    second = json.loads(path.read_text("utf-8"))
    assert first["coefficients"] == second["coefficients"]
    assert first["intercept"] == second["intercept"]
    assert (first["version"], second["version"]) == (1, 2)


def test_a_calibration_for_other_signals_is_ignored_with_one_warning(project):
    pulsus_here(project, "eval", "many.jsonl", "--calibrate")
    path = project / "config/calibration.json"
    old = json.loads(path.read_text("utf-8")) | {"signals": 1}
    path.write_text(json.dumps(old), encoding="utf-8")
    done = pulsus_here(project, "eval", "requests.jsonl", "--output", "json")
    assert done.json["calibration"]["source"] == "shipped"
    assert done.err.count("config/calibration.json is not used") == 1
    line = calibration_line(project)
    assert not line["ok"]
    assert "not used" in line["found"]
    routed = pulsus_here(project, "route", ASKED[0][0], "--plan")
    assert routed.err.count("config/calibration.json is not used") == 1


def test_too_few_requests_are_refused_and_nothing_is_stored(project):
    done = pulsus_here(project, "eval", "requests.jsonl", "--calibrate", "--output", "json")
    check("error", done.json)
    assert (done.code, done.json["error"]["code"]) == (2, "CALIBRATION_REFUSED")
    assert not (project / "config/calibration.json").exists()
    told = pulsus_here(project, "eval", "requests.jsonl", "--calibrate")
    assert told.out == ""  # known before anything is measured
    assert "4 requests are too few" in told.err
    assert "the shipped calibration (version" in told.err
    pulsus_here(project, "eval", "many.jsonl", "--calibrate")
    told = pulsus_here(project, "eval", "requests.jsonl", "--calibrate")
    assert "the project's calibration (version 1 on 48 requests) stays in use" in told.err


@pytest.mark.seconds
def test_a_fit_worse_than_the_current_one_is_refused(project, monkeypatch):
    from pulsus.routing.evaluation import calibration_fit

    pulsus_here(project, "eval", "many.jsonl", "--calibrate")
    path = project / "config/calibration.json"
    good = path.read_text("utf-8")
    rows = [json.loads(line) for line in (project / "many.jsonl").read_text("utf-8").splitlines()]
    few = "\n".join(json.dumps(row) for row in rows[:36])
    (project / "few.jsonl").write_text(few, encoding="utf-8")
    args = ("eval", "few.jsonl", "--calibrate")
    losses = iter([0.25, 0.5])
    with monkeypatch.context() as patched:
        patched.setattr(calibration_fit, "log_loss", lambda stated: next(losses))
        done = pulsus_here(project, *args)
    assert done.code == 2
    assert "CALIBRATION_REFUSED" in done.err
    assert "worse out of fold than the project's calibration (version 1" in done.err
    assert "log loss 0.5000 against 0.2500" in done.err
    assert "hit_at_1" in done.out
    assert path.read_text("utf-8") == good
    forced = pulsus_here(project, *args, "--force")
    assert forced.code == 0
    assert "version 2 in place of the project's calibration (version 1 on 48" in " ".join(
        forced.out.split()
    )


def test_a_calibration_works_with_a_catalogue_of_bare_rows(project):
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


def test_a_failed_request_is_reported_with_reason_and_fix(project):
    row = {"query": "count the words of the text", "tools": ["text/count/gone"]}
    (project / "wrong.jsonl").write_text(json.dumps(row), encoding="utf-8")
    found = pulsus_here(project, "eval", "wrong.jsonl", "--output", "json").json["failures"]
    assert found[0]["why"] == "no such tool: text/count/gone"
    assert found[0]["fix"]


@pytest.mark.parametrize("name", ["r.svg", "r.png"])
def test_a_reliability_plot_is_reproducible(project, name):
    pytest.importorskip("matplotlib")
    args = ("eval", "requests.jsonl", "--plot", name)
    assert pulsus_here(project, *args).code == 0
    first = (project / name).read_bytes()
    assert pulsus_here(project, *args).code == 0
    assert (project / name).read_bytes() == first
    assert len(first) > 1000


def test_an_unknown_plot_format_is_refused_before_measuring(project):
    done = pulsus_here(project, "eval", "requests.jsonl", "--plot", "r.pdf")
    assert done.code == 2
    assert ".png" in done.err


def everything(folder):
    """Every file but the caches, with its bytes."""
    found = (p for p in folder.rglob("*") if p.is_file() and ".pulsus" not in p.parts)
    return {str(p.relative_to(folder)): p.read_bytes() for p in found}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--plot", "gone/r.svg"], "--plot cannot write gone/r.svg: there is no folder gone"),
        (["--plot", "many.jsonl/r.svg"], "many.jsonl is no folder"),
        (["--plot", "r.pdf"], "neither .png nor .svg"),
        (["--keep", "gone/k.json"], "--keep cannot write gone/k.json: there is no folder gone"),
        (["--keep", "many.jsonl"], "--keep many.jsonl is QUERIES too"),
        (["--keep", "r.svg", "--plot", "r.svg"], "--plot r.svg is --keep too"),
        (["--keep", "/dev/null"], "it is no regular file"),
        (["--keep", "k" * 300], "File name too long"),
    ],
)
def test_one_unwritable_file_stops_eval_before_measuring(project, given, said):
    pytest.importorskip("matplotlib")
    before = everything(project)
    done = pulsus_here(project, "eval", "many.jsonl", "--calibrate", *given)
    assert done.code == 2
    assert said in done.err
    assert "settings" not in done.err
    assert done.out == ""
    assert everything(project) == before


def test_a_calibration_that_cannot_be_stored_is_refused_before_measuring(project):
    (project / "config").write_text("in the way", encoding="utf-8")
    done = pulsus_here(project, "eval", "many.jsonl", "--calibrate", "--keep", "k.json")
    assert (done.code, done.out) == (2, "")
    assert "--calibrate cannot write" in done.err
    assert not (project / "k.json").exists()


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_failed_write_does_not_lose_the_report(project, monkeypatch, form):
    from pulsus.core.system import atomic_write
    from pulsus.errors import DiskFull

    def full(path, text):
        raise DiskFull(f"cannot write {path}", hint="make room")

    monkeypatch.setattr(atomic_write, "write_text", full)
    args = ("eval", "many.jsonl", "--calibrate", "--keep", "k.json", "--output", form)
    done = pulsus_here(project, *args)
    assert done.code == 75
    assert "hit_at_1" in done.out
    assert "stored" not in done.out
    assert not (project / "config/calibration.json").exists()


def test_an_unwritable_folder_is_named_before_measuring(project, monkeypatch):
    (project / "closed").mkdir(mode=0o500)
    if os.geteuid() == 0:  # who may write everywhere
        access = os.access
        monkeypatch.setattr(
            os, "access", lambda at, *how: Path(at).name != "closed" and access(at, *how)
        )
    done = pulsus_here(project, "eval", "many.jsonl", "--keep", "closed/k.json")
    assert (done.code, done.out) == (2, "")
    assert "closed is not writable" in done.err


def test_a_denied_tool_is_named_in_a_warning_and_in_the_failure(project):
    env = {"PULSUS_ACCESS__DENY": '["text/*"]'}
    done = pulsus_here(project, "eval", "requests.jsonl", "--output", "json", env=env)
    (failure,) = (f for f in done.json["failures"] if f["expected"] == [ASKED[0][1]])
    assert "access.deny pattern 'text/*'" in failure["why"]
    assert "access.deny pattern 'text/*'" in done.err
    remembered = ("eval", "requests.jsonl", "--history", "requests.jsonl", "--output", "json")
    again = pulsus_here(project, *remembered, env=env).json
    assert [f["why"] for f in again["failures"]] == [f["why"] for f in done.json["failures"]]


def test_an_empty_file_of_requests_is_an_error(project):
    (project / "empty.jsonl").write_text("\n \n", encoding="utf-8")
    for args in (
        ["eval", "empty.jsonl"],
        ["eval", "requests.jsonl", "--history", "empty.jsonl"],
        ["eval", "requests.jsonl", "--catalogue", "empty.jsonl"],
        ["tools", "check", "--golden", "empty.jsonl"],
    ):
        done = pulsus_here(project, *args)
        assert (done.code, done.out) == (2, "")
        assert "empty.jsonl holds no" in done.err


FILLED = [
    {"query": f"{COUNT} 'a b c'", "tools": [ASKED[0][1]], "inputs": {"text": "a b c"}},
    {"query": f"{COUNT} 'a b c'", "tools": [ASKED[0][1]], "inputs": {"text": "a b"}},
    {"query": COUNT, "tools": [ASKED[0][1]], "inputs": {"text": {"any": ["x", "y"]}}},
    {"query": COUNT, "tools": [ASKED[1][1]], "inputs": {}},
]


def test_filled_inputs_are_counted_and_wrong_ones_named(project):
    rows = "\n".join(map(json.dumps, FILLED))
    (project / "filled.jsonl").write_text(rows, encoding="utf-8")
    found = pulsus_here(project, "eval", "filled.jsonl", "--output", "json").json
    check("eval", found)
    counts = {"rows": 4, "right": 1, "wrong": 1, "missing": 1, "other_tools": 1}
    assert (found["inputs"], found["inputs_right"]) == (counts, 0.25)
    named = [each for failure in found["failures"] for each in failure["inputs"]]
    assert [(each["what"], each["filled"], each["wanted"]) for each in named] == [
        ("wrong", "a b c", "a b"),
        ("missing", None, {"any": ["x", "y"]}),
    ]
    text = pulsus_here(project, "eval", "filled.jsonl", "--floor", "inputs_right=0.5")
    assert text.code == 3
    assert "inputs of 4 requests: 1 all right, 1 with a wrong value" in text.out
    assert 'wanted "x" or "y"' in text.out


def test_an_input_that_no_tool_has_is_named(project):
    row = {**FILLED[0], "inputs": {"texd": "a b c"}}
    (project / "typo.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert "no tool of the row has the input texd" in pulsus_here(project, "eval", "typo.jsonl").err


def test_inputs_are_not_measured_with_a_catalogue_of_bare_rows(project):
    (project / "filled.jsonl").write_text(json.dumps(FILLED[0]), encoding="utf-8")
    tool = {"id": ASKED[0][1], "name": "count_words", "description": "Count the words of a text."}
    (project / "tools.jsonl").write_text(json.dumps(tool), encoding="utf-8")
    done = pulsus_here(
        project, "eval", "filled.jsonl", "--catalogue", "tools.jsonl", "--output", "json"
    )
    assert (done.code, done.json["inputs"], done.json["inputs_right"]) == (0, None, None)
    assert "inputs are not measured with --catalogue" in done.err


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_invalid_rows_are_named_with_their_lines_and_the_others_are_measured(project, form):
    rows = [json.dumps(FILLED[0]), "{", json.dumps({"query": "x"}), json.dumps(FILLED[1])]
    (project / "some.jsonl").write_text("\n".join(rows), encoding="utf-8")
    done = pulsus_here(project, "eval", "some.jsonl", "--output", form)
    assert done.code == 2
    if form == "json":
        check("eval", done.json)
        assert [row["line"] for row in done.json["invalid"]] == [2, 3]
        assert (done.json["queries"], done.json["error"]["code"]) == (2, "USAGE")
        return
    assert "2 requests" in done.out
    assert "line 2: not JSON" in done.out
    assert "line 3: tools is not a list" in done.out
    assert "2 of 4 rows of some.jsonl are invalid, the first in line 2" in done.err


def test_a_request_that_no_route_takes_is_an_invalid_row(project):
    queries = ["full disks " * 10_000, "\x07 disks", "\ud800 disks", "?!", "wie voll", "磁盘"]
    rows = [json.dumps({"query": query, "tools": [ASKED[0][1]]}) for query in queries]
    (project / "odd.jsonl").write_text("\n".join(rows), encoding="utf-8")
    done = pulsus_here(project, "eval", "odd.jsonl", "--output", "json")
    check("eval", done.json)
    assert (done.code, done.json["queries"]) == (2, 2)
    assert [row["line"] for row in done.json["invalid"]] == [1, 2, 3, 4]
    assert "at most 4000 are read" in done.json["invalid"][0]["message"]


def test_nothing_is_calibrated_on_a_file_with_invalid_rows(project):
    path = project / "many.jsonl"
    path.write_text(path.read_text("utf-8") + "\n{", encoding="utf-8")
    done = pulsus_here(project, "eval", "many.jsonl", "--calibrate")
    assert (done.code, done.out) == (2, "")
    assert not (project / "config/calibration.json").exists()


def test_an_unknown_tool_id_is_an_error_with_a_suggestion(project):
    row = {"query": "count the words of the text", "tools": ["count_words"]}
    (project / "bare.jsonl").write_text(json.dumps(row), encoding="utf-8")
    done = pulsus_here(project, "eval", "bare.jsonl")
    assert "no such tool: count_words (did you mean text/count/count_words?)" in done.err
    assert "did you mean text/count/count_words for count_words?" in done.out
    past = pulsus_here(project, "eval", "requests.jsonl", "--history", "bare.jsonl")
    assert "--history: no such tool: count_words (did you mean text/count" in past.err


def test_eval_uses_hints_from_docs_as_route_does(project):
    done = pulsus_here(project, "eval", "requests.jsonl", "--rag", "--output", "json")
    assert done.code == 0
    check("eval", done.json)
    assert (project / ".pulsus/cache/rag/passages.jsonl").exists()
    (project / "tools.jsonl").write_text('{"id": "a", "name": "a"}', encoding="utf-8")
    refused = pulsus_here(project, "eval", "requests.jsonl", "--rag", "--catalogue", "tools.jsonl")
    assert refused.code == 2
    assert "--rag has no meaning with --catalogue" in refused.err


@pytest.mark.seconds
def test_progress_is_shown_on_a_terminal_only_and_is_erased(project, monkeypatch):
    from pulsus.cli import console

    lines = (project / "many.jsonl").read_text(encoding="utf-8")
    (project / "more.jsonl").write_text(f"{lines}\n{lines}", encoding="utf-8")
    args = ("eval", "more.jsonl", "--calibrate")
    assert pulsus_here(project, *args).err == ""
    monkeypatch.setattr(console, "is_terminal", lambda stream: True)
    done = pulsus_here(project, *args)
    assert "\rasking, request: 10 of 96" in done.err
    assert "\rcalibrating, request:" in done.err
    assert done.err.endswith("\r")  # and clears the line, which no file is told
    assert "asking" not in done.out
    assert pulsus_here(project, *args, "-q").err == ""


def test_embeddings_without_their_extra_are_a_clear_error(project, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    from pulsus.core.embeddings import encoder
    from pulsus.install_hint import install_command

    monkeypatch.chdir(project)  # the hint names a clone from there
    encoder.minilm.cache_clear()
    done = pulsus_here(project, "eval", "requests.jsonl", "--embeddings", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (2, "EXTRA_MISSING")
    assert install_command("embeddings") in done.json["error"]["hint"]


@pytest.mark.parametrize("bytes_", [b"title: my app\n", b'{"a": 1}', b"[1]", b"\x89PNG\xff"])
@pytest.mark.parametrize("option", ["--keep k.json", "--plot k.svg", "--plot k.png"])
def test_a_file_of_another_kind_is_not_overwritten_by_a_report_or_a_picture(
    project, option, bytes_
):
    pytest.importorskip("matplotlib")
    name, file = option.split()
    (project / file).write_bytes(bytes_)
    done = pulsus_here(project, "eval", "requests.jsonl", name, file)
    assert (done.code, done.out) == (2, "")
    noun = "report" if name == "--keep" else "picture"
    assert f"{file} exists and is no {noun} that Pulsus saved, because " in done.err
    assert f"so no {noun} is written there" in done.err
    assert "hint: name another file, or move this one away" in done.err
    assert (project / file).read_bytes() == bytes_


@pytest.mark.parametrize("option", ["--keep k.json", "--plot k.svg", "--plot k.png"])
def test_an_empty_file_and_an_earlier_output_of_eval_can_be_replaced(project, option):
    pytest.importorskip("matplotlib")
    name, file = option.split()
    (project / file).touch()
    for _ in range(2):
        assert pulsus_here(project, "eval", "requests.jsonl", name, file).code == 0
        assert (project / file).stat().st_size > 500


def test_a_link_to_a_file_of_another_kind_is_not_overwritten_by_a_report(project):
    (project / "app.yaml").write_text("title: my app\n", encoding="utf-8")
    (project / "k.json").symlink_to("app.yaml")
    done = pulsus_here(project, "eval", "requests.jsonl", "--keep", "k.json")
    assert (done.code, done.out) == (2, "")
    assert (project / "k.json").is_symlink()


def test_a_file_that_appears_while_eval_measures_is_not_overwritten(project, monkeypatch):
    from pulsus.cli.evaluate.output_files import OutputFiles

    check = OutputFiles.check

    def check_then_appear(self, inputs):
        check(self, inputs)
        self.keep.write_text("mine\n", encoding="utf-8")

    monkeypatch.setattr(OutputFiles, "check", check_then_appear)
    done = pulsus_here(project, "eval", "requests.jsonl", "--keep", "k.json")
    assert done.code == 2
    assert "hit_at_1" in done.out  # the report is shown all the same
    assert (project / "k.json").read_text("utf-8") == "mine\n"
