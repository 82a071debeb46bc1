"""Tools that describe themselves almost alike."""

from dataclasses import replace

from pulsus.core.types import DeclaredCall
from pulsus.routing.maintenance.catalogue_check import CatalogueFinding
from pulsus.routing.maintenance.similar_descriptions import similar_text_findings
from tests.ranking import CATALOGUE, tool

FULL = "Show which parcels left the depot since Monday, by colour and weight."
ONE = tool("a/depot/show_parcels", FULL)
TWO = tool("b/depot/list_parcels", FULL.replace("Show", "Tell"))


def pairs(tools, known=()):
    return [found.tools for found in similar_text_findings(tools, known)]


def test_tools_that_differ_are_no_findings():
    assert pairs(CATALOGUE) == []


def test_an_almost_equal_docstring_is_reported_once_with_its_words():
    (found,) = similar_text_findings([*CATALOGUE, TWO, ONE])
    assert (found.code, found.level, found.path) == ("SIMILAR_TEXT", "warning", ONE.path)
    assert found.tools == (ONE.id, TWO.id)
    assert "almost those of b/depot/list_parcels (cosine 0." in found.reason
    assert {"parcels", "depot", "monday"} <= set(found.evidence)


def test_the_order_of_the_tools_does_not_matter():
    tools = [ONE, *CATALOGUE, TWO]
    assert list(similar_text_findings(tools)) == list(similar_text_findings(tools[::-1]))


def test_the_most_similar_pair_comes_first():
    copy = tool("c/depot/show_parcels", FULL)
    assert pairs([*CATALOGUE, ONE, TWO, copy])[0] == (ONE.id, copy.id)


def test_a_pair_that_another_finding_names_is_not_reported_twice():
    known = CatalogueFinding("NEAR_DUPLICATE", "warning", None, (TWO.id, ONE.id), "", "")
    assert pairs([*CATALOGUE, ONE, TWO], [known]) == []
    other = CatalogueFinding("TAKES_REQUESTS", "info", None, (TWO.id, ONE.id), "", "")
    assert pairs([*CATALOGUE, ONE, TWO], [other]) == [(ONE.id, TWO.id)]


def test_compositions_are_not_compared_because_their_docstrings_are_generated():
    assert pairs([*CATALOGUE, ONE, replace(TWO, composed=True)]) == []


def test_catalogues_without_words_or_tools_have_no_findings():
    assert pairs([]) == []
    assert pairs([tool("a/b/c"), tool("a/b/d")]) == []


def test_more_tools_than_one_block_are_all_compared():
    """Texts are compared in blocks of 256: a pair across two blocks must not be missed."""
    others = [tool(f"m/n{n}/word{n}", f"Alpha{n} beta{n} gamma{n}.") for n in range(600)]
    found = pairs([ONE, *others, replace(TWO, id="z/depot/list_parcels")])
    assert found == [(ONE.id, "z/depot/list_parcels")]


def test_a_write_and_its_reverse_are_not_to_be_merged():
    undone = replace(ONE, undo=DeclaredCall(TWO.id, {}))
    assert pairs([*CATALOGUE, undone, TWO]) == []
