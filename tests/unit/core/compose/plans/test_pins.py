"""Steps are pinned to the bytes of their tools (contracts, "Plans")."""

from dataclasses import replace
from pathlib import Path

import pytest

from pulsus.core.compose.plans import build_plan, module_source, pins
from pulsus.core.types import Plan, PlanStep
from pulsus.errors import HashMoved, PlanInvalid, ToolAmbiguous, ToolNotFound
from tests.compositions import finder, module

ONE = module("a/b/one", '"""One."""\n\n\ndef run() -> dict[str, int]:\n    return {"x": 1}\n')
TWO = module("a/b/two", '"""Two."""\n\n\ndef run(result: int) -> int:\n    return 2\n')
INNER = module(
    "c/d/inner", module_source.render_module(build_plan.compose_plan("", [ONE[0]]), [ONE[0]])
)
OUTER = module(
    "c/d/outer", module_source.render_module(build_plan.compose_plan("", [INNER[0]]), [INNER[0]])
)


def reader(*pairs):
    files = {tool.path: source for tool, source in pairs}
    return lambda path: files[Path(path)]


def one_step(tool, sha256=None):
    return Plan("", (PlanStep("s1", tool, {}, {}, sha256),))


@pytest.mark.parametrize("ref", ["a/b/one", "one", "one.py", "one.py::run"])
def test_a_tool_reference_is_pinned_to_an_id_and_a_hash(ref):
    pinned = pins.pin_steps(one_step(ref), finder(ONE[0], TWO[0]))
    assert pinned == one_step("a/b/one", ONE[0].sha256)


def test_a_misspelt_tool_of_a_step_is_told_the_nearest_id():
    with pytest.raises(ToolNotFound) as caught:
        pins.pin_steps(one_step("a/b/onne"), finder(ONE[0]), ["a/b/one", "c/d/inner"])
    assert caught.value.hint == "did you mean a/b/one?"


def test_a_step_that_is_pinned_to_other_bytes_is_refused():
    with pytest.raises(HashMoved, match="a/b/one"):
        pins.pin_steps(one_step("a/b/one", "0" * 64), finder(ONE[0]))


def test_a_reference_to_no_tool_or_to_several_is_refused():
    with pytest.raises(ToolNotFound, match="nothing"):
        pins.pin_steps(one_step("nothing"), finder(ONE[0]))
    other = replace(ONE[0], id="z/y/one")
    with pytest.raises(ToolAmbiguous, match="a/b/one or z/y/one"):
        pins.pin_steps(one_step("one"), finder(ONE[0], other))


def test_the_steps_of_nested_compositions_are_collected():
    find = finder(ONE[0], INNER[0])
    assert pins.collect_step_sources(OUTER[1], find, reader(ONE, INNER)) == {
        "a/b/one": ONE,
        "c/d/inner": INNER,
    }
    assert pins.collect_step_sources(ONE[1], find, reader()) == {}


def test_a_step_that_changed_since_the_plan_is_refused():
    moved = (ONE[0], ONE[1] + b"# changed\n")
    with pytest.raises(HashMoved):
        pins.collect_step_sources(OUTER[1], finder(ONE[0], INNER[0]), reader(moved, INNER))


def test_compositions_that_nest_too_deep_are_refused():
    pairs = [ONE]
    for number in range(pins.MAX_NESTING + 1):
        below = pairs[-1][0]
        text = module_source.render_module(build_plan.compose_plan("", [below]), [below])
        pairs.append(module(f"c/d/level{number}", text))
    tools = [tool for tool, _ in pairs]
    with pytest.raises(PlanInvalid, match="deeper than"):
        pins.collect_step_sources(pairs[-1][1], finder(*tools), reader(*pairs))
    assert (
        len(pins.collect_step_sources(pairs[-2][1], finder(*tools), reader(*pairs)))
        == pins.MAX_NESTING
    )
