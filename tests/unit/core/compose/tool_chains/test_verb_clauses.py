"""Requests are cut into clauses by their words alone."""

import pytest

from pulsus.core.compose.tool_chains.verb_clauses import mask_values, split_clauses


def clauses(request):
    spans = split_clauses(request)
    return [spans.clause_text(n).strip(" ,.") for n in range(len(spans.clauses))]


@pytest.mark.parametrize(
    ("request_", "masked"),
    [
        ("send 'Send an SMS' to John", "send _ to John"),
        ("pay $100 by 2023-01-01", "pay _ by _ "),
        ("open https://a.example/b now", "open _ now"),
    ],
)
def test_words_inside_a_value_do_not_match_tools(request_, masked):
    assert mask_values(request_) == masked


def test_each_verb_begins_a_clause():
    found = clauses("Encrypt the file, then send it by mail. Finally, delete the file.")
    assert found == ["Encrypt the file, then", "send it by mail. Finally", "delete the file"]


def test_a_list_of_things_stays_in_one_clause():
    assert clauses("Find offers, reviews and details of the phone") == [
        "Find offers, reviews and details of the phone"
    ]


def test_a_polite_lead_is_no_clause_of_its_own():
    assert clauses("I want to find a house and book it") == [
        "I want to find a house and",
        "book it",
    ]


def test_a_request_without_content_has_no_clauses():
    assert split_clauses("please").clauses == ()
