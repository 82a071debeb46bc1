"""Requests become chains of tools, with real rankings over a small catalogue."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pulsus.core.compose.tool_chains.chain_composer import ChainComposer
from pulsus.core.compose.tool_chains.chain_model import LinearModel, parse_linear, shipped_model
from pulsus.core.compose.tool_chains.tool_signature import SignatureTable, ToolSignature
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.types import ArgSpec, ToolSpec
from pulsus.routing.evaluation.compose_setup import rank_texts

TOOLS = [
    ("Hotels.Search", "Find a hotel at a given location", "city stars", "hotel_name price"),
    ("Hotels.Reserve", "Reserve a selected hotel for given dates", "hotel_name date", "total"),
    ("encrypt_data", "Encrypt sensitive data", "data encryption_key", "encrypted_data"),
    ("calculate_tip", "Calculate the tip amount for a bill", "bill percentage", "tip_amount"),
    ("get_joke", "Get a random joke", "", "joke"),
    ("translate_text", "Translate a text into another language", "text language", "translation"),
    ("get_translation", "Get the translation of a word", "text language", "translation"),
    ("send_sms", "Send an SMS message to a phone number", "message phone_number", "status"),
    ("calculate_area", "Calculate the area of a shape", "shape dimensions", "area"),
]


@cache
def composer():
    specs = tuple(
        ToolSpec(
            id=name,
            path=Path("/catalogue") / name,
            entry="run",
            args=tuple(ArgSpec(arg, None, False, None) for arg in inputs.split()),
            doc=summary,
            domain=None,
            action="",
            name=name,
            summary=summary,
            sha256="",
        )
        for name, summary, inputs, _ in TOOLS
    )
    table = SignatureTable(
        ToolSignature(name, name, summary, tuple(inputs.split()), tuple(outputs.split()))
        for name, summary, inputs, outputs in TOOLS
    )
    return ChainComposer.of(table, rank_texts(Ranker.build(specs)))


def test_a_result_that_the_next_clause_names_is_passed_on():
    found = composer().compose("Calculate a 20% tip on a bill of $50, then encrypt the tip amount")
    assert found.tools == ("calculate_tip", "encrypt_data")
    assert found.edges == {(0, 1)}


def test_a_needed_value_brings_the_tool_that_gives_it():
    found = composer().compose("Reserve a hotel in Rome with 4 stars for 2024-02-12")
    assert found.tools == ("Hotels.Search", "Hotels.Reserve")
    assert found.edges == {(0, 1)}
    assert "feeds Hotels.Reserve" in found.why[0]


def test_a_step_between_two_others_is_not_drawn_into_their_edge():
    request = (
        "Get a random joke, calculate the area of a circle, and send the joke as an SMS to 555"
    )
    found = composer().compose(request)
    assert found.tools == ("get_joke", "calculate_area", "send_sms")
    assert found.edges == {(0, 2)}


def test_a_tool_without_inputs_is_fed_by_none():
    edges = composer().wire("encrypt it and then get a joke from it", ["encrypt_data", "get_joke"])
    assert edges == frozenset()


def test_the_same_request_gives_the_same_chain():
    request = "Get a random joke and translate it, then encrypt the result"
    assert composer().compose(request) == composer().compose(request)


def test_edges_only_lead_forward():
    tools = [row[0] for row in TOOLS]
    edges = composer().wire("do everything and send the result of each", tools)
    assert all(first < second for first, second in edges)


def test_a_request_without_a_matching_word_gives_no_chain():
    assert composer().compose("qwertz uiop").tools == ()


def test_past_plans_decide_between_twins():
    plans = [
        (
            f"Get a random joke and translate it into {language}",
            ["get_joke", "get_translation"],
            {(0, 1)},
        )
        for language in ("Spanish", "Latin", "Greek", "Dutch")
    ]
    found = composer().remembering(plans).compose("Get a random joke and translate it into French")
    assert found.tools == ("get_joke", "get_translation")
    assert found.edges == {(0, 1)}


def test_no_past_plans_leave_the_composer_as_it_is():
    assert composer().remembering([]) is composer()


def test_weights_are_refused_for_other_columns():
    model: LinearModel = parse_linear({"intercept": 0.0, "weights": {"a": 1.0, "b": 2.0}})
    columns = np.zeros((1, 3))
    with pytest.raises(ValueError, match="3 columns, and the model has 2"):
        model.logits(columns)


@pytest.mark.parametrize("past", [False, True])
def test_shipped_weights_have_the_columns_that_the_code_computes(past):
    from pulsus.core.compose.tool_chains import (
        chain_edges,
        past_plans,
        tool_evidence,
        tool_set,
        tool_support,
    )

    model = shipped_model(past_plans=past)
    votes = past_plans.NAMES if past else ()
    evidence = (*tool_evidence.NAMES, *votes)
    assert model.evidence.names == evidence
    assert model.support.names == (*tool_support.NAMES, *evidence)
    assert model.tool_set.names == (*tool_set.NAMES, *(tool_set.PAST_NAMES if past else ()))
    assert model.edges.names == (*chain_edges.NAMES, *(chain_edges.PAST_NAMES if past else ()))
