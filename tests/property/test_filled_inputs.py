"""Filling inputs never raises, is bounded, and takes each word of a request once."""

import itertools
import json
import os
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.core.arguments.argument_model import shipped_model
from pulsus.core.arguments.assignment import best_assignment
from pulsus.core.arguments.features.request_reading import read_request
from pulsus.core.arguments.filler import fill, score_options
from pulsus.core.arguments.inputs import from_schema
from pulsus.core.arguments.proposals.model_confirmation import confirm, with_agreed_values
from pulsus.core.arguments.proposals.open_inputs import find_open_inputs
from pulsus.core.arguments.spans.value_patterns import value_pattern

SETS = Path(os.environ.get("PULSUS_BENCH", "../shared/bench")) / "arguments"
NOW = datetime(2026, 11, 23, 7, 0, tzinfo=UTC)
_PIECES = """
1e999 9 - / /var/log 10.0.0.1 ::1 5 GB ſ half past ſix 8am " ' ` “ C# my not web-12 */5 * * * * $5k
404s weeks may Sept 2024 2024-13-45 a=b mail.example.com:0 and , the first Paris, TX St. John 10%
20°C
"""
TYPES: dict[str, Any] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list,
}  # fmt: skip
NAMES = ["folder", "path", "host", "port", "limit", "hours", "min_bytes", "since", "city", "tags"]

requests = st.lists(st.sampled_from(_PIECES.split()) | st.text(max_size=8), max_size=20).map(
    " ".join
)
schemas = st.dictionaries(
    st.sampled_from(NAMES),
    st.fixed_dictionaries(
        {"type": st.sampled_from(sorted(TYPES))},
        optional={
            "description": st.sampled_from(["", "ISO date HH:MM", "City, State", "`a`, `b`"])
        },
    ),
    max_size=6,
)


def tool(properties):
    parameters = {"properties": properties, "required": list(properties)}
    return from_schema({"name": "t", "description": "Report.", "parameters": parameters})


@pytest.mark.seconds
@settings(max_examples=150, deadline=None)
@given(requests, schemas)
def test_values_fit_their_type_and_are_words_of_the_request(request, properties):
    got = fill(request, tool(properties), now=NOW)
    for one in got.values:
        wanted = properties[one.name]["type"]
        assert isinstance(one.value, TYPES[wanted])
        assert wanted == "boolean" or not isinstance(one.value, bool)
        assert one.text in request
        assert 0 <= one.p <= 1
        json.dumps(one.value, allow_nan=False)
    assert got == fill(request, tool(properties), now=NOW)


@settings(max_examples=100, deadline=None)
@given(requests, schemas)
def test_no_two_values_share_a_place(request, properties):
    options = score_options(read_request(request, tool(properties)), shipped_model())
    chosen = [
        option[pick][1] for option, pick in zip(options, best_assignment(options), strict=True)
    ]
    spans = [(span.start, span.end) for one in chosen if one for span in one.spans]
    for (a, b), (c, d) in itertools.combinations(spans, 2):
        assert b <= c or d <= a


@settings(max_examples=60, deadline=None)
@given(requests, schemas)
def test_given_inputs_are_not_filled_again(request, properties):
    assert fill(request, tool(properties), given=list(properties)).values == ()


def test_the_order_of_the_inputs_does_not_move_a_path():
    properties = {
        "folder": {"type": "string", "description": "The folder to search."},
        "limit": {"type": "integer", "description": "The number of files.", "default": 10},
        "host": {"type": "string", "description": "The host."},
    }
    for order in itertools.permutations(properties.items()):
        values = fill("biggest files in /var/log", tool(dict(order))).filled
        assert [(one.name, one.value) for one in values] == [("folder", "/var/log")]


def seconds(action):
    began = time.process_time()
    action()
    return time.process_time() - began


HOSTILE = [
    "a", "-", "a/", "-/", "a.", "1.", "1,", ",111", '"a', "'a ", "a@a.", "*/", "?.", "1 ", "* ",
    "a_", "aA", "Aa ", "A-", "a1-", "a:", "::", "a=", "'", "a-", " ", "half past ", "a of ",
    "Aa, ", "C:\\", "~/", "vm.a", "and ", "+1", "1k ", "(", "9",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_rules_read_a_hostile_text_in_bounded_time(piece):
    text = (piece * 20_000)[:20_000] + "!"
    assert seconds(lambda: sum(1 for _ in value_pattern(text).finditer(text))) < 2


@pytest.mark.seconds
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_request_is_filled_in_bounded_time(piece):
    inputs = tool({name: {"type": "string"} for name in NAMES})
    assert seconds(lambda: fill((piece * 4000)[:4000], inputs)) < 5


def same(value, gold):
    if isinstance(value, list) and isinstance(gold, list):
        return len(value) == len(gold) and all(map(same, value, gold))
    try:
        return float(str(value)) == pytest.approx(float(str(gold)), rel=1e-9)
    except ValueError:
        plain = [re.sub(r"[ ,./\-_*^]", "", str(one)).lower() for one in (value, gold)]
        return plain[0] == plain[1]


@pytest.mark.skipif(not SETS.is_dir(), reason="the development sets of arguments are not here")
def test_the_shipped_model_keeps_its_precision_and_recall():
    filled = right = wanted = found = 0
    for name in ("own", "golden"):
        for line in (SETS / f"{name}_dev.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            now = datetime.fromisoformat(row["now"]) if row.get("now") else None
            values = {
                v.name: v.value
                for v in fill(row["query"], from_schema(row["tool"]), now=now).filled
            }
            good = {n for n, v in values.items() if any(same(v, g) for g in row["gold"].get(n, []))}
            must = {n for n, golds in row["gold"].items() if golds and n not in row["may_omit"]}
            filled, right = filled + len(values), right + len(good)
            wanted, found = wanted + len(must), found + len(must & good)
    assert right / filled >= 0.98
    assert found / wanted >= 0.88


answers = st.none() | st.booleans() | st.integers(0, 9) | requests | st.lists(requests, max_size=2)


@pytest.mark.seconds
@settings(max_examples=150, deadline=None)
@given(requests, schemas, st.data())
def test_whatever_a_model_answers_a_value_is_words_of_the_request_that_nothing_else_took(
    request, properties, data
):
    of = tool(properties)
    words_alone = fill(request, of, now=NOW)
    found = find_open_inputs(request, of, words_alone, now=NOW)
    if found is None:
        return
    names = st.sampled_from([one.name for one in found.asked])
    given_to = {value.text: data.draw(names) for value in found.values}
    words = {
        one.name: data.draw(answers | st.sampled_from([value.text for value in found.values]))
        for one in found.asked
    }
    got = with_agreed_values(words_alone, found, confirm(given_to, words, found))
    kept = [value for value in got.values if value.by == ("words",) and value.state == "fill"]
    assert kept == list(words_alone.filled)
    added = [value for value in got.values if "model" in value.by]
    assert all(value.text in request and value.name in properties for value in added)
    assert len({value.name for value in got.values}) == len(got.values)
    for value in added:
        wanted = TYPES[properties[value.name]["type"]]
        assert isinstance(value.value, wanted)
