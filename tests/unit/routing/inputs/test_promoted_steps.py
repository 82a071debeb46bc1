"""The plan of a promoted composition is read from its module, or not at all."""

from dataclasses import replace

import pytest

from pulsus.core.compose.plans import build_plan, module_source
from pulsus.core.types import ParsedIntent, RouteDecision, RouteOutcome
from pulsus.routing.inputs.promoted_steps import read_promoted_plan
from tests.shipped import APP, TOOLS

STEPS = tuple(t for name in ("disk_usage", "filter_rows") for t in TOOLS if t.name == name)
PLAN = build_plan.compose_plan("full disks", STEPS)


@pytest.fixture
def composed(tmp_path):
    """Return the outcome that selects a composition, and its file."""
    path = tmp_path / "full_disks.py"
    path.write_text(module_source.render_module(PLAN, STEPS), encoding="utf-8")
    tool = replace(STEPS[0], id="storage/usage/full_disks", path=path, composed=True)
    outcome = RouteOutcome(
        run_id="",
        intent=ParsedIntent(None, None, "full disks", 1.0),
        decision=RouteDecision("r", "select", (tool,), None, ""),
        candidates=(),
        tau=0.6,
        widened=False,
    )
    return outcome, path


def test_the_steps_of_a_selected_composition_are_read(composed):
    found = read_promoted_plan(composed[0], APP.catalogue)
    assert found is not None
    assert found.plan.steps == PLAN.steps
    assert [tool.id for tool in found.tools] == [tool.id for tool in STEPS]


def test_a_composition_whose_file_is_gone_or_broken_is_read_as_one_tool(composed):
    outcome, path = composed
    path.write_text("PLAN = {'plan': {}}\nimport pulsus.steps\n", encoding="utf-8")
    assert read_promoted_plan(outcome, APP.catalogue) is None
    path.unlink()
    assert read_promoted_plan(outcome, APP.catalogue) is None


def test_a_composition_with_a_step_that_is_not_in_the_catalogue_is_read_as_one_tool(composed):
    assert read_promoted_plan(composed[0], replace(APP.catalogue, tools=())) is None


def test_a_tool_that_is_no_composition_has_no_plan(composed):
    outcome, _ = composed
    plain = replace(outcome.decision, selected=STEPS[:1])
    assert read_promoted_plan(replace(outcome, decision=plain), APP.catalogue) is None
