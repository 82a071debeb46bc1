"""`pulsus show` as text: a reviewer misses nothing, and no value drives a terminal."""

import pytest

from pulsus.cli.render.plan_views.plan_page import PlanPage
from pulsus.cli.render.plan_views.saved_plan_text import saved_plan_lines
from pulsus.core.compose.saved_plans.plan_graph import draw_plan_graph
from pulsus.core.compose.saved_plans.saved_plan import Alternative, SavedInput, StepReview
from pulsus.core.types import Effects
from tests.saved_plans import HOSTILE, saved, step


def page(plan, **fields):
    return PlanPage(
        plan, fields.pop("file", "plan.yaml"), "sha256:" + "0" * 64, draw_plan_graph(plan), **fields
    )


def lines(plan, *, verbose=False, columns=None, **fields):
    return [
        *saved_plan_lines(
            page(plan, **fields), verbose=verbose, columns=columns, style=lambda text, _: text
        )
    ]


def shown(plan, **options):
    return "\n".join(lines(plan, **options))


def test_a_write_is_marked_and_says_who_approves_checks_and_reverses_it():
    review = StepReview(
        "w", "write", Effects(paths=("/etc/x",)), "approver", ("unit",), "s/s/check", "s/s/back"
    )
    text = shown(saved(step("w", inputs={"unit": "nginx"}), reviews={"w": review}))
    assert "1 w  WRITES  d/a/reader@1.0.0  abababab" in text
    for words in ("paths /etc/x", "an approver types the target", "s/s/check", "s/s/back"):
        assert words in text


def test_a_write_without_verification_or_undo_says_so():
    text = shown(saved(step("w"), writes=["w"]))
    assert "nothing checks the change" in text
    assert "none declared" in text


def test_each_control_key_is_in_words():
    text = shown(
        saved(
            step("a", outputs={"rows": "rows"}),
            step(
                "b",
                needs=["a"],
                when="{{ input.force }}",
                for_each={"items": "{{ steps.a.outputs.rows }}", "limit": 1000},
                retry={"attempts": 3, "delay_s": 2.5},
                timeout_s=30,
                on_failure="continue",
            ),
            inputs={"force": True},
        )
    )
    for words in (
        "after       a",
        "only if     the input force is true, or neither 0 nor empty",
        "for each    item of rows of a, at most 1,000",
        "retry       up to 3 attempts, 2.5 s apart",
        "timeout     30 s",
        "failure     steps that do not depend on it go on",
    ):
        assert words in text


def test_braces_of_control_keys_are_only_in_the_long_view():
    plan = saved(
        step("a", outputs={"rows": "rows"}),
        step(
            "b",
            when="{{ steps.a.outputs.rows | length > 0 }}",
            for_each={"items": "{{ steps.a.outputs.rows | sort }}", "limit": 10},
        ),
    )
    text = shown(plan)
    assert "only if     rows of a is not empty" in text
    assert "for each    item of rows of a | sort, at most 10" in text
    assert "{{" not in text
    assert "{{ steps.a.outputs.rows | length > 0 }}" in shown(plan, verbose=True)


def test_an_alternative_that_may_write_is_marked():
    others = (Alternative("a", "d/a/save", 0.4, "less probable"),)
    plan = saved(step("a"), alternatives=others)
    text = shown(plan, writers=frozenset({"d/a/save"}))
    assert "instead     d/a/save [writes] p=0.40: less probable" in text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (SavedInput(5, "request", text="top 5", p=0.93), '5 (from "top 5", p=0.93)'),
        (SavedInput("x", "option"), "x (--input)"),
        (SavedInput("x", "answer"), "x (an answer)"),
        (SavedInput(None, "default"), "null (default)"),
        (SavedInput("x", "option", file="in.txt", sha256="ab" * 32), "x (file in.txt)"),
    ],
)
def test_the_source_of_an_input_is_named(given, words):
    text = shown(saved(step("a", inputs={"value": "{{ input.value }}"}), inputs={"value": given}))
    assert f"value  {words}" in text


def test_values_that_are_computed_are_shown_as_they_are_written():
    text = shown(
        saved(
            step("a", outputs={"n": "n"}),
            step(
                "b",
                inputs={
                    "wired": "{{ steps.a.outputs.n }}",
                    "sum": "{{ steps.a.outputs.n + 1 }}",
                    "text": "n is {{ steps.a.outputs.n }}",
                    "both": ["{{ steps.a.outputs.n }}", 2],
                },
            ),
        )
    )
    for words in (
        "wired  n of a",
        "sum    {{ steps.a.outputs.n + 1 }} (computed)",
        "text   n is {{ steps.a.outputs.n }} (text with values in it)",
        'both   ["{{steps.a.outputs.n}}", 2] (with values in it)',
    ):
        assert words in text


def test_a_missing_input_is_named_with_the_command_that_gives_it():
    plan = saved(step("a", inputs={"x": "{{ input.x }}"}), params=["x"])
    assert "missing (give --input x=…)" in shown(plan)
    assert lines(plan)[-1] == "next        pulsus apply plan.yaml --input x=…"


def test_a_moved_plan_lists_each_part_and_offers_no_apply():
    text = shown(saved(step("a")), moved=("a: d/a/reader no longer exists", "the setting run.x"))
    assert "2 parts moved since the plan was made" in text
    assert "- a: d/a/reader no longer exists" in text
    assert "unchanged since it was made" not in text
    assert "pulsus apply" not in text


def test_a_long_value_is_cut_with_its_length_unless_verbose():
    plan = saved(step("a", inputs={"x": "{{ input.x }}"}), inputs={"x": "y" * 5000})
    assert "… (5,000 characters)" in shown(plan)
    assert "y" * 201 not in shown(plan)
    assert "y" * 5000 in shown(plan, verbose=True)


def test_alternatives_take_one_line_unless_verbose():
    others = tuple(Alternative("a", f"d/a/t{n}", 0.4 - n / 10, "less probable") for n in range(3))
    plan = saved(step("a"), alternatives=others)
    assert "instead     d/a/t0 p=0.40: less probable (2 more with -v)" in shown(plan)
    assert "d/a/t1" not in shown(plan)
    assert "d/a/t2 p=0.20: less probable" in shown(plan, verbose=True)


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_drives_the_terminal_or_forges_a_line(value):
    plan = saved(
        step("a", inputs={"x": "{{ input.x }}", "y": value.replace("{{", "{ {")}),
        inputs={"x": SavedInput(value, "request", text=value)},
        request=value,
        description="d",
        notes=(value,),
        alternatives=(Alternative("a", value, 0.1, value),),
        reviews={"a": StepReview("a", "write", Effects((value,)), value, (value,), value, value)},
    )
    for verbose in (False, True):
        found = lines(plan, verbose=verbose, moved=(value,), file=value)
        assert all(not set(line) & set("\x1b\x07\x00\u202e\u2028\x85\n\r") for line in found)
        # A value must not begin a line of its own.
        assert [line for line in found if line.startswith(("- item", "---", "out"))] == []
        plain = lines(saved(step("a", inputs={"x": 1, "y": 2}), writes=["a"]), verbose=verbose)
        assert len([line for line in found if line.startswith("next")]) == 1
        assert [line[:2] for line in plain if line[:2] == "1 "] == ["1 "]


def test_lines_fit_80_columns():
    words = " ".join(["word"] * 60)
    plan = saved(
        step("a", inputs={"x": words}), request=words, notes=(words,), writes=["a"],
    )  # fmt: skip
    assert max(map(len, lines(plan, columns=80))) <= 80
