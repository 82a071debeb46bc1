"""A stream and a whole text are cut at the same place."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from pulsus.agent.answers.tool_markup import MarkupFilter, find_leak, remove_leaks

TOOLS = frozenset({"pulsus_read", "pulsus_read_all", "pulsus_query"})
PIECES = st.sampled_from(
    [
        *("<", "</", "<|", "<｜", "|", "tool_call", "tool_calls", ">", "DSML", "plugin", "```"),
        *("tool", "json", "{", "[", '"name"', ":", '"pulsus_read"', ",", '"input"', '"args"'),
        *("}", "pulsus_", "read", "_all", "query", "(", ")", " ", "\n", "  ", "p", "a", "0", "é"),
        *("minimax:", "[tool_", '{"name": "pulsus_query", "parameters": {', "text. ", "Ħ"),
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)
CUTS = st.lists(st.integers(0, 80), max_size=8)


def streamed(text, cuts):
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    shown, current = [], MarkupFilter(TOOLS)
    for start, end in pairwise(places):
        current, visible = current.feed(text[start:end])
        shown.append(visible)
    current, rest = current.finish()
    return "".join(shown) + rest, current.leaked


@given(TEXTS, CUTS)
@example("```tool_calls", [8])
@example("a <tool_call", [3, 6])
@example("apulsus_read(", [1])
@example("done.\n\n<|plugin|>", [6, 7])
def test_any_chunks_show_the_text_that_the_whole_shows(text, cuts):
    shown, leaked = streamed(text, cuts)
    assert shown == remove_leaks(text, TOOLS)
    assert leaked == (find_leak(text, TOOLS) is not None)


@given(TEXTS)
def test_single_characters_show_the_text_that_the_whole_shows(text):
    assert streamed(text, range(len(text)))[0] == remove_leaks(text, TOOLS)


@given(TEXTS)
def test_a_cleaned_text_is_a_beginning_of_the_text_and_has_no_leak(text):
    cleaned = remove_leaks(text, TOOLS)
    assert text.startswith(cleaned)
    assert find_leak(cleaned, TOOLS) is None


@given(st.text(), CUTS)
def test_no_text_raises_an_error(text, cuts):
    assert streamed(text, cuts)[0] == remove_leaks(text, TOOLS)
