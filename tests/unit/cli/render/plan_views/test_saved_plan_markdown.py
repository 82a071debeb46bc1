"""Markdown of plans for review comments: short enough, and no value becomes markup."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.cli.render.plan_views.markdown_escape import code_span, prose, table_code
from pulsus.cli.render.plan_views.plan_diff_markdown import plan_diff_markdown
from pulsus.cli.render.plan_views.saved_plan_markdown import saved_plan_markdown
from pulsus.core.compose.saved_plans.plan_diff import compare_plans
from pulsus.core.compose.saved_plans.saved_plan import Alternative, SavedInput, StepReview
from pulsus.core.types import Effects
from tests.example_counts import examples
from tests.saved_plans import HOSTILE, saved, step
from tests.unit.cli.render.plan_views.test_saved_plan_text import page

markdown_it = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")
RENDER = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"]).render
TAGS = {
    *("h3", "h4", "ul", "li", "p", "code", "strong", "em", "pre"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
MARKUP = st.text(alphabet="`|<>@*_[]()#~\\ \n\r\t&;!:-+1.\"'ax/\x00\u2028", max_size=40)


class Tags(HTMLParser):
    """Collects the tags, their attributes, and the text that stands in no code."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.prose, self._code = [], [], "", 0
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self._code += tag == "code"

    def handle_endtag(self, tag):
        self._code -= tag == "code"

    def handle_data(self, data):
        if not self._code:
            self.prose += data


def hostile_plan(value, names=("a", "w")):
    first, second = names
    return saved(
        step(first, inputs={"x": "{{ input.x }}"}, outputs={"o": value}),
        step(
            second,
            inputs={"y": value.replace("{{", "{ {"), "z": f"{{{{ steps.{first}.outputs.o }}}}"},
        ),
        inputs={"x": SavedInput(value, "request", text=value, p=0.5)},
        reviews={
            second: StepReview(
                second,
                "write",
                Effects((value,), (value,), (value,)),
                value,
                (value,),
                value,
                value,
            )
        },
        request=value,
        notes=(value,),
        alternatives=(Alternative(first, value, 0.1, value),),
        settings={value: value},
    )


def check(markdown):
    """Fail if the Markdown holds more than what we write ourselves."""
    assert len(markdown) < 65_000
    found = Tags(RENDER(markdown))
    assert set(found.tags) <= TAGS
    assert {name for name, _ in found.attributes} <= {"class"}
    assert not re.search(r"[@]\w|https?:|www\.|#\d", found.prose)
    assert not set(markdown) & set("\x00\x07\x1b\u202e\u2028\x85\r")
    assert markdown.count("```mermaid\n") <= 1
    return found


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_of_a_plan_becomes_markup(value):
    plan = hostile_plan(value)
    harmless = check(saved_plan_markdown(page(hostile_plan("x"), moved=("x",), file="x")))
    found = check(saved_plan_markdown(page(plan, moved=(value,), file=value)))
    assert [t for t in found.tags if t != "code"] == [t for t in harmless.tags if t != "code"]


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_of_a_difference_becomes_markup(value):
    changes = compare_plans(hostile_plan("x"), hostile_plan(value))
    assert any(change.section == "setting" for change in changes)
    check(plan_diff_markdown(changes, value, value))


@settings(max_examples=examples(200), deadline=None)
@given(MARKUP)
def test_a_text_is_one_code_span_whatever_it_holds(text):
    for shown in (code_span(text), prose(text)):
        for tail in ("", " and `code` | *more*"):
            found = Tags(RENDER(f"- word {shown}{tail}"))
            assert set(found.tags) <= {"ul", "li", "p", "code", "em"}
            assert found.tags.count("li") == 1
            assert found.tags.count("em") == bool(tail)


@settings(max_examples=examples(200), deadline=None)
@given(MARKUP)
def test_a_text_stays_in_its_cell(text):
    html = RENDER(f"| a | b |\n| --- | --- |\n| {table_code(text)} | **end** |\n")
    found = Tags(html)
    assert found.tags.count("td") == 2
    assert re.search(r"<td><strong>end</strong></td>", html)
    assert set(found.tags) <= TAGS


def test_the_largest_plan_is_shorter_than_65000_characters():
    long = "`|@<" * 10_000
    steps = [
        step(f"s{n}" + "x" * 56, "d/" + "t" * 400, version="|`" * 300,
             inputs={f"i{k}": long[: 400 + k] for k in range(100)})
        for n in range(50)
    ]  # fmt: skip
    names = [each["id"] for each in steps]
    plan = saved(
        *steps,
        writes=names[40:],
        request=long,
        notes=(long,) * 100,
        alternatives=tuple(Alternative(names[0], long, 0.1, long) for _ in range(9)),
    )
    markdown = saved_plan_markdown(page(plan, moved=(long,) * 100, file=long[:4000]))
    check(markdown)
    assert "not fit here" in markdown
    # The table has every step, and the writes are told before the reads.
    assert markdown.count("**WRITES** |") == 10
    assert "#### `s40" in markdown
    diff = plan_diff_markdown(compare_plans(saved(step("a")), plan), long[:4000], "b")
    check(diff)
    assert "not fit here" in diff


def test_a_value_is_whole_or_says_how_long_it_is():
    plan = saved(step("a", inputs={"x": "y" * 161, "z": "w" * 160}))
    markdown = saved_plan_markdown(page(plan))
    assert f"`{'y' * 160}… (161 characters)`" in markdown
    assert f"`{'w' * 160}`" in markdown
