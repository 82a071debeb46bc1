"""Leaked markup of tool calls: what is cut, and what is left alone."""

import pytest

from pulsus.agent.answers.tool_markup import (
    MarkupFilter,
    MarkupLeak,
    find_leak,
    remove_leaks,
    split_name_prefix,
)

TOOLS = frozenset({"pulsus_read", "pulsus_query"})


@pytest.mark.parametrize(
    "leak",
    [
        "<tool_call>{}", "</tool_call>", "<TOOL_CALLS>", "<function_calls><invoke name='x'>",
        "<function=pulsus_read>", "<invoke name='x'>", "<minimax:tool_call>", "minimax:tool_call",
        "[TOOL_CALLS]", "<|plugin|>", "<|python_tag|>", "<|DSML|invoke>",
        "<｜｜DSML｜｜tool_calls>",
        "<｜tool▁calls▁begin｜>", "<｜end▁of▁thinking｜>", "<DSML", "```tool\npulsus_read",
        "```tool_code\n",
        "pulsus_read(command='df')", "```python\npulsus_read()\n```",
        '{"name": "pulsus_read", "arguments": {}}', '{ "name" : "pulsus_read" }',
        '{"tool": "pulsus_read", "args": {}}', '```json\n{"name": "pulsus_query", "input": {}}',
        '[{"name": "pulsus_query", "parameters": {}}]', '{"tool_calls": [{"id": 1}]}',
    ],
)  # fmt: skip
def test_a_leak_and_what_follows_is_cut(leak):
    assert remove_leaks(f"The answer. \n{leak} and more", TOOLS) == "The answer."


@pytest.mark.parametrize(
    "text",
    [
        "", "Use df -h.", "I used pulsus_read to look.", "my_pulsus_read(x)", "helper(c='df')",
        '{"name": "frobnicate", "parameters": {}}', '{"name": "pulsus_read", "kind": "read"}',
        "a <b> c", "x <| y", "<|>", "`pulsus_read`", '```json\n{"a": 1}\n```', "if a < b and b > c",
        "```toolbox\nx\n```", "xs |> map f", "tool_call is a tag", "pulsus_reads(1)", "space  \n",
        "<tools>", "1 < 2", "[tool] note", "```sh\nls\n```",
    ],
)  # fmt: skip
def test_text_about_tools_or_code_is_left_alone(text):
    assert remove_leaks(text, TOOLS) == text
    assert find_leak(text, TOOLS) is None


def test_a_fenced_or_json_call_begins_with_its_line_break():
    assert find_leak('Call:\n{"name": "pulsus_read"}', TOOLS) == MarkupLeak(5, 5)
    assert find_leak("Call: \n<tool_call>", TOOLS) == MarkupLeak(7, 5)


def test_a_stream_shows_no_part_of_a_call():
    current, shown = MarkupFilter(TOOLS), []
    for part in ("Let me ", "check. pul", "sus_", "read", "(command=", "'df')", "done"):
        current, visible = current.feed(part)
        shown.append(visible)
    assert shown == ["Let me", " check.", "", "", "", "", ""]
    assert current.leaked


def test_a_stream_shows_a_word_that_only_began_like_a_tool():
    current, first = MarkupFilter(TOOLS).feed("A pul")
    current, second = current.feed("ley turns.")
    assert (first, second) == ("A", " pulley turns.")
    assert current.finish()[1] == ""


@pytest.mark.parametrize(
    ("text", "held"),
    [("Check. pu", "pu"), ("Calling pulsus_re", "pulsus_re"), ("pulsus_read", "pulsus_read"),
     ("prose", ""), ("pulsus_zz", ""), ("xpu", ""), ("done.\n", ""), ("", "")],
)  # fmt: skip
def test_only_the_beginning_of_a_tool_name_is_held_back(text, held):
    assert split_name_prefix(text, TOOLS) == (text.removesuffix(held), held)
