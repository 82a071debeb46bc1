"""A promoted composition answers its request again, as long as its steps are unchanged."""

import pytest

from tests.project import CHAINED, make, pulsus_here
from tests.sandboxes import need_sandbox

COMPOSED = "shared/report/top_rows_then_markdown_table"


@pytest.fixture
def folder(tmp_path):
    need_sandbox()
    made = make(tmp_path / "project", "chained")
    done = pulsus_here(made, "route", CHAINED, "--non-interactive", "--output", "json")
    assert (done.code, done.json["policy"]) == (0, "compose")
    return made


@pytest.mark.sandbox
def test_the_same_request_selects_the_promoted_composition(folder):
    done = pulsus_here(folder, "route", CHAINED, "--plan", "--output", "json")
    assert (done.json["policy"], done.json["selected"]) == ("select", [COMPOSED])
    assert done.json["candidates"][0]["tool"] == COMPOSED
    assert done.json["candidates"][0]["p"] >= done.json["tau"]
    assert "promoted for the same request" in done.json["reason"]


@pytest.mark.sandbox
def test_a_composition_whose_step_changed_is_composed_anew_and_said(folder):
    step = folder / "workflows/shared_tools/sort/top_rows.py"
    step.write_text(step.read_text("utf-8") + "\n# changed\n", encoding="utf-8")
    done = pulsus_here(folder, "route", CHAINED, "--plan", "--output", "json")
    assert done.json["selected"] != [COMPOSED]
    assert any(COMPOSED in note and "is not used" in note for note in done.json["notes"])


@pytest.mark.sandbox
def test_feedback_against_the_composition_is_followed(folder):
    again = pulsus_here(folder, "route", CHAINED, "--non-interactive", "--output", "json").json
    assert again["selected"] == [COMPOSED]
    pulsus_here(folder, "feedback", again["run_id"], "--none")
    done = pulsus_here(folder, "route", CHAINED, "--plan", "--output", "json")
    assert "promoted for the same request" not in done.json["reason"]
