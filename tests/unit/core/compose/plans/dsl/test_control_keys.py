"""The keys of a step that spec §6 does not have (docs/plans.md)."""

import pytest

from pulsus.core.compose.plans.dsl import plan_file, plan_mapping
from pulsus.core.compose.plans.dsl.step_references import list_dependencies, uses_control
from pulsus.errors import PlanInvalid

PLAN = """
plan:
  description: Look at the largest files of each folder
  steps:
    - id: s1
      tool: storage/usage/folder_sizes
      inputs: {folder: "{{input.folder}}"}
      outputs: {rows: rows}
    - id: s2
      tool: storage/usage/biggest_files
      needs: [s1]
      when: "{{ steps.s1.outputs.rows | length > 0 }}"
      for_each: {items: "{{ steps.s1.outputs.rows }}", limit: 20}
      retry: {attempts: 3, delay_s: 0.5}
      timeout_s: 30
      on_failure: continue
      inputs: {folder: "{{ item.path }}", limit: "{{ input.limit }}"}
      outputs: {files: rows}
io:
  params: [folder, limit]
  returns: [files]
"""


def refusal(old, new):
    assert old in PLAN
    with pytest.raises(PlanInvalid) as caught:
        plan_file.parse_yaml(PLAN.replace(old, new))
    return caught.value


def test_a_plan_with_every_key_is_written_as_it_was_read():
    plan = plan_file.parse_yaml(PLAN)
    assert plan_file.parse_yaml(plan_file.render_yaml(plan)) == plan
    assert plan_file.parse_json(plan_file.render_json(plan)) == plan
    assert plan_mapping.plan_from_dict(plan_mapping.plan_to_dict(plan)) == plan
    assert [uses_control(step) for step in plan.steps] == [False, True]
    assert [list_dependencies(step) for step in plan.steps] == [(), ("s1",)]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("needs: [s1]", "needs: [s2]", "plan.steps[1].needs[0]"),
        ("needs: [s1]", "needs: s1", "plan.steps[1].needs"),
        ('when: "{{', 'when: "x {{', "plan.steps[1].when"),
        ("limit: 20", "limit: 0", "plan.steps[1].for_each.limit"),
        ("limit: 20", "limit: 10001", "plan.steps[1].for_each.limit"),
        ("limit: 20", "limit: yes", "plan.steps[1].for_each.limit"),
        (", limit: 20", "", "plan.steps[1].for_each"),
        ('items: "{{ steps.s1', 'items: "{{ item.x }}{{ steps.s1', "plan.steps[1].for_each.items"),
        ("attempts: 3", "attempts: 11", "plan.steps[1].retry.attempts"),
        ("delay_s: 0.5", "delay_s: -1", "plan.steps[1].retry.delay_s"),
        ("timeout_s: 30", "timeout_s: 0", "plan.steps[1].timeout_s"),
        ("timeout_s: 30", "timeout_s: soon", "plan.steps[1].timeout_s"),
        ("on_failure: continue", "on_failure: ignore", "plan.steps[1].on_failure"),
        ("needs: [s1]", "command: rm -rf /", "plan.steps[1].command"),
        ('{folder: "{{input.folder}}"}', '{folder: "{{ item }}{{input.folder}}"}', "inputs.folder"),
        ("rows | length", "nothing | length", "plan.steps[1].when"),
        # It is computed once, before there is an item.
        ('when: "{{', 'when: "{{ item and', "plan.steps[1].when"),
    ],
)
def test_an_invalid_key_is_refused_with_its_place_and_a_fix(old, new, place):
    error = refusal(old, new)
    assert place in error.message
    assert error.hint


def test_an_unknown_key_names_the_nearest_one():
    assert "did you mean 'for_each'?" in refusal("for_each:", "foreach:").hint
