"""The counters and timers of logs/metrics/ (routing spec §11), each for what it counts."""

import json
import re
from pathlib import Path

import pytest

from tests.generation import GIVEN, MODULE, OTHER, REQUEST, WRONG, fenced, module
from tests.model_server import playing, says
from tests.project import COUNT, NOTHING, make, pulsus

DOCS = Path(__file__).parents[2] / "docs/metrics.md"
PACKAGE = Path(__file__).parents[2] / "agents/pulsus"
COUNT_WORDS = "text/count/count_words"
PROMOTE = ("--domain", "text", "--action", "count", "--yes")

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]


@pytest.fixture
def project(tmp_path):
    return make(tmp_path, "candidate")


def measured(project):
    files = sorted((project / "logs/metrics").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def labels(project, metric):
    return [row["labels"] for row in measured(project) if row["metric"] == metric]


def test_a_route_counts_its_stages_candidates_validation_and_promotion(project):
    assert pulsus(project, "route", COUNT, "--non-interactive").code == 0
    (route,) = [row for row in measured(project) if row["metric"] == "route"]
    assert route["labels"] == {"decision": "done", "exit_code": 0, "policy": "select"}
    assert route["value"] > 0
    stages = [row for row in measured(project) if row["metric"] == "stage"]
    assert [row["labels"]["stage"] for row in stages] == [
        "discover",
        "parse",
        "search",
        "decide",
        "inputs",
        "deliver",
    ]
    assert sum(row["value"] for row in stages) <= route["value"] * 1.5 + 1000
    (candidates,) = [row for row in measured(project) if row["metric"] == "candidates"]
    assert candidates["value"] > 0
    steps = labels(project, "validation_step")
    assert [step["step"] for step in steps] == ["static", "ruff", "mypy", "import", "dry-run"]
    assert all(step["ok"] for step in steps)
    assert labels(project, "validations") == [{"verdict": "accepted", "proof": "behaviour"}]
    assert labels(project, "promotions") == [{"kind": "promote", "bump": None, "first": True}]


def test_a_route_that_finds_nothing_is_counted_with_its_code(project):
    assert pulsus(project, "route", NOTHING, "--non-interactive").code == 5
    (route,) = labels(project, "route")
    assert (route["exit_code"], route["policy"]) == (5, "generate")
    assert labels(project, "promotions") == []


def test_a_refused_module_is_counted_and_no_promotion(project):
    bad = project / "bad.py"
    bad.write_text('"""Say."""\n\n\ndef run() -> int:\n    return "x"\n', encoding="utf-8")
    assert pulsus(project, "promote", bad, *PROMOTE).code == 3
    (found,) = labels(project, "validations")
    assert found["verdict"] == "refused"
    assert not all(step["ok"] for step in labels(project, "validation_step"))
    assert labels(project, "promotions") == []


def test_a_rollback_and_each_run_are_counted(project):
    assert pulsus(project, "promote", "count_lines.py", *PROMOTE).code == 0
    tool = "text/count/count_lines"
    assert pulsus(project, "tools", "remove", tool, "--yes").code == 0
    assert pulsus(project, "rollback", tool, "--yes").code == 0
    kinds = [(each["kind"], each["bump"]) for each in labels(project, "promotions")]
    assert kinds == [("promote", None), ("rollback", "patch")]
    assert pulsus(project, "run", tool, "--input", "text=a").code == 0
    (run,) = labels(project, "run")
    assert run == {"tool": tool, "kind": "read", "decision": "done"}


def test_each_answer_of_a_model_is_counted_with_the_step_that_refused_it(project):
    answers = (fenced(module(counts=WRONG)), fenced(MODULE))
    place = ("--domain", "text", "--action", "count", "--name", "count_vowels")
    with playing(*map(says, answers)) as server:
        model = {"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__NAME": "tiny"}
        done = pulsus(project, "generate", REQUEST, *GIVEN, *OTHER, *place, env=model)
    assert done.code == 4, done.err
    decisions = [each["decision"] for each in labels(project, "model_answers")]
    assert len(decisions) == 2
    assert decisions[0].startswith("refused at ")
    assert decisions[1] == "accepted"


def test_a_run_does_not_fail_because_its_metrics_cannot_be_written(project):
    assert pulsus(project, "promote", "count_lines.py", *PROMOTE).code == 0
    for file in (project / "logs/metrics").iterdir():
        file.unlink()
    (project / "logs/metrics").rmdir()
    (project / "logs/metrics").write_text("in the way", encoding="utf-8")
    done = pulsus(project, "run", "text/count/count_lines", "--input", "text=a")
    assert done.code == 0
    assert "the metrics lack this run" in done.err


def test_metrics_that_are_off_are_not_written(project):
    off = {"PULSUS_LOG__METRICS": "false"}
    assert pulsus(project, "route", COUNT, "--non-interactive", env=off).code == 0
    assert not (project / "logs/metrics").exists()


def test_the_page_lists_exactly_the_metrics_that_the_code_writes():
    written = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "metrics" in text:
            written |= set(re.findall(r'\b(?:observe_ms|metrics\(?\)?\.count)\(\s*"(\w+)"', text))
        if "/agent/loop/" in path.as_posix():
            written |= {f"pulsus_ai_{n}" for n in re.findall(r'count\(\s*"(\w+_total)"', text)}
    listed = re.findall(r"^\| `(\w+)` \|", DOCS.read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == sorted(written)
