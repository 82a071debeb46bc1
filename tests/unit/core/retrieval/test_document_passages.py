"""Documents are cut at their headings, and a section knows what it speaks of."""

from pulsus.core.retrieval.document_passages import MAX_CHARS, ToolIdNames, of_document, of_tools
from tests.ranking import tool

KNOWN = ToolIdNames.of(["storage/usage/disk_usage", "net/ports/open_ports", "shared/plot/plot"])


def sections(text, about=()):
    return list(of_document("docs/a.md", text, KNOWN, about))


def test_each_heading_begins_a_section():
    found = sections("intro\n# One\nfirst\n## Two ##\nsecond\n")
    assert [(s.heading, s.text) for s in found] == [
        ("", "intro"),
        ("One", "first"),
        ("Two", "second"),
    ]


def test_a_comment_inside_a_fence_is_no_heading():
    found = sections("# One\n```sh\n# not a heading\n```\nafter\n~~~\n# nor this\n~~~\n# Two\n")
    assert [s.heading for s in found] == ["One", "Two"]


def test_a_long_section_goes_on_in_the_next_one():
    found = sections("# One\n" + "x" * (2 * MAX_CHARS + 1))
    assert [len(s.text) for s in found] == [MAX_CHARS, MAX_CHARS, 1]
    assert {s.heading for s in found} == {"One"}


def test_an_empty_document_has_no_sections():
    assert sections("") == []
    assert sections("\n \n") == []


def test_a_section_speaks_of_the_tools_and_folders_it_names():
    (found,) = sections("Use `disk_usage.py::run`, then shared/plot/plot and net/ports.")
    assert found.tools == ("storage/usage/disk_usage", "shared/plot/plot")
    assert found.places == (("storage", "usage"), (None, "plot"), ("net", "ports"))


def test_a_name_of_one_word_may_be_any_word():
    (found,) = sections("We plot a course through the storage.")
    assert (found.tools, found.places) == ((), ())


def test_a_document_about_a_domain_speaks_of_it_where_it_names_nothing_nearer():
    about = (("storage", "usage"),)
    first, second = sections("# One\nroom\n# Two\nopen_ports", about)
    assert first.places == about
    assert second.places == (("net", "ports"),)


def test_a_docstring_is_a_section_about_its_tool():
    (found,) = of_tools([tool("storage/usage/disk_usage", "Show how full disks are.")])
    assert (found.source, found.heading) == ("storage/usage/disk_usage", "Show how full disks are.")
    assert found.places == (("storage", "usage"),)
