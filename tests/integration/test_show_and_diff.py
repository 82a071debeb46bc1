"""`pulsus show` and `pulsus diff` on plans of a real project."""

import json

import pytest

from tests.integration.test_json_schemas import check
from tests.project import make, pulsus_here

MATRIX = ("--input", "matrix:=[[1,2],[3,4]]")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("views") / "project", "plans")
    for source, target in (("picture.yaml", "plan.yaml"), ("copy.yaml", "new.yaml")):
        given = ["--input", "figure_path=out.svg"] if source == "copy.yaml" else []
        done = pulsus_here(folder, "plan", "--file", source, "-o", target, *MATRIX, *given)
        assert done.code == 0, done.err
    return folder


def test_show_prints_its_schema(project):
    done = pulsus_here(project, "show", "plan.yaml", "--output", "json")
    assert done.code == 0, done.out
    check("show", done.json)
    assert done.json["writes"] == ["picture"]
    assert done.json["stages"] == [["summary", "words"], ["picture"]]
    assert done.json["unmoved"] is True


@pytest.mark.parametrize(("flags", "code"), [((), 0), (("--detailed-exitcode",), 7)])
def test_diff_prints_its_schema_and_ends_with_7_only_if_asked(project, flags, code):
    done = pulsus_here(project, "diff", "plan.yaml", "new.yaml", "--output", "json", *flags)
    assert done.code == code
    check("diff", done.json)
    assert done.json["equal"] is False
    assert [change["writes"] for change in done.json["changes"]] == [True, True, False]


@pytest.mark.parametrize("output", ["text", "json", "markdown"])
def test_equal_plans_end_with_0(project, output):
    done = pulsus_here(
        project, "diff", "plan.yaml", "plan.yaml", "--detailed-exitcode", "--output", output
    )
    assert done.code == 0
    if output == "json":
        check("diff", done.json)
        assert done.json["equal"] is True


@pytest.mark.parametrize("command", [["show", "FILE"], ["diff", "plan.yaml", "FILE"]])
@pytest.mark.parametrize(
    ("text", "code", "status"),
    [
        (None, "USAGE", 2),
        ("plan: [", "PLAN_INVALID", 2),
        ("a: 1", "PLAN_INVALID", 2),
        ("pulsus_plan: 9", "PLAN_INVALID", 2),
        ("EDITED", "PLAN_EDITED", 6),
    ],
)
def test_a_file_that_is_no_saved_plan_is_refused(project, command, text, code, status):
    path = project / "wrong.yaml"
    path.unlink(missing_ok=True)
    if text == "EDITED":
        saved = (project / "plan.yaml").read_text(encoding="utf-8")
        path.write_text(saved.replace("attempts: 2", "attempts: 3"), encoding="utf-8")
    elif text:
        path.write_text(text, encoding="utf-8")
    words = ["wrong.yaml" if word == "FILE" else word for word in command]
    done = pulsus_here(project, *words, "--output", "json")
    assert (done.json["error"]["code"], done.code) == (code, status)
    assert "wrong.yaml" in done.json["error"]["message"]


def test_show_names_a_tool_and_a_file_that_moved(tmp_path):
    project = make(tmp_path / "project", "plans")
    (project / "m.json").write_text("[[1,2]]", encoding="utf-8")
    given = ["--input", "matrix=@m.json"]
    done = pulsus_here(project, "plan", "--file", "picture.yaml", "-o", "plan.yaml", *given)
    assert done.code == 0, done.err
    (project / "m.json").write_text("[[1,3]]", encoding="utf-8")
    (project / "workflows/domains/text/count/count_words.py").unlink()
    shown = pulsus_here(project, "show", "plan.yaml", "--output", "json")
    assert shown.code == 0
    assert len(shown.json["moved"]) == 2
    assert "text/count/count_words no longer exists" in shown.json["moved"][0]
    assert "the file m.json" in shown.json["moved"][1]
    text = pulsus_here(project, "show", "plan.yaml").out
    assert "2 parts moved since the plan was made" in text
    assert "unchanged since it was made" not in text


def test_the_json_of_a_plan_is_accepted_as_a_plan_file(project):
    done = pulsus_here(project, "plan", "--file", "plan.yaml", "--output", "json")
    saved = {k: v for k, v in done.json.items() if k not in ("schema_version", "file", "missing")}
    (project / "plan.json").write_text(json.dumps(saved), encoding="utf-8")
    equal = pulsus_here(project, "diff", "plan.yaml", "plan.json", "--detailed-exitcode")
    assert equal.code == 0, equal.out


def test_an_id_of_a_tool_in_place_of_a_plan_is_not_refused_without_the_command(project):
    done = pulsus_here(project, "show", "demo/greet/say_hello")
    assert done.code == 2
    assert "pulsus tools show demo/greet/say_hello" in done.err
    assert "tools show" not in pulsus_here(project, "show", "nowhere.yaml").err
