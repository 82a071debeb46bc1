"""The shell steps of .github/actions/eval, and of the guide, on a real project."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.project import PULSUS, make

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / ".github/actions/eval/action.yml").read_text(encoding="utf-8"))
BASH = shutil.which("bash")

pytestmark = pytest.mark.skipif(BASH is None, reason="no bash")


def measure(project, **inputs):
    """Run the action's measuring step as a runner does: inputs become its environment."""
    (step,) = [s for s in ACTION["runs"]["steps"] if s["name"] == "Measure"]
    defaults = {name: value["default"] for name, value in ACTION["inputs"].items()}
    given = defaults | {"queries": "requests.jsonl", "floors": "hit_at_1=1"} | inputs
    told = {
        name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step["env"].items()
    }
    return subprocess.run(
        [str(BASH), "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=project,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")},
            "PATH": f"{PULSUS.parent}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
            **told,
        },
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def project(tmp_path):
    return make(tmp_path / "project", "requests")


@pytest.mark.seconds
def test_a_floor_that_is_met_passes_with_a_summary_and_a_report(project):
    done = measure(project)
    assert done.returncode == 0, done.stderr
    assert "✅ every floor is kept" in (project / "summary.md").read_text(encoding="utf-8")
    report = json.loads((project / "pulsus-eval.json").read_text(encoding="utf-8"))
    assert report["ok"] is True
    assert report["schema_version"] == 1


@pytest.mark.seconds
def test_a_floor_that_is_missed_fails_the_job_with_a_summary_and_a_report(project):
    row = {"query": "count the words of the text", "tools": ["text/count/gone"]}
    with (project / "requests.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    done = measure(project)
    assert done.returncode == 3
    assert "❌ 1 below the floor" in (project / "summary.md").read_text(encoding="utf-8")
    assert json.loads((project / "pulsus-eval.json").read_text("utf-8"))["ok"] is False


@pytest.mark.seconds
def test_the_report_of_one_run_is_the_baseline_of_the_next(project):
    measure(project, report="main.json")
    done = measure(project, baseline="main.json")
    assert done.returncode == 0, done.stderr
    summary = (project / "summary.md").read_text(encoding="utf-8")
    assert summary.count("since baseline") == 1
    assert "| +0.000 |" in summary


@pytest.mark.seconds
def test_a_first_run_has_no_baseline_and_needs_none(project):
    assert measure(project, baseline="gone.json").returncode == 0


def test_every_input_is_used_and_documented():
    text = (ROOT / ".github/actions/eval/action.yml").read_text(encoding="utf-8")
    guide = (ROOT / "docs/guides/evaluate.md").read_text(encoding="utf-8")
    for name, value in ACTION["inputs"].items():
        assert f"inputs.{name}" in text
        assert value["description"]
        assert f"`{name}`" in guide
