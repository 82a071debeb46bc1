"""Facts files: each fault with file, line, value and fix, and nothing read beyond the limit."""

import json
import os

import pytest

from pulsus.errors import FactsInvalid
from pulsus.kb.fact_files import MOST_BYTES, read_fact_files, read_facts_file
from tests.knowledge import DEFAULTS, NOW, nodes


def read(folder, text, name="facts.yaml"):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_fact_files([(folder / name, name)], DEFAULTS)


@pytest.mark.parametrize("name", ["facts.yaml", "facts.json", "facts"])
@pytest.mark.parametrize("dump", [json.dumps, lambda d: "nodes:\n- {name: a, health: nominal}\n"])
def test_json_and_yaml_give_the_same_facts(tmp_path, name, dump):
    found = read(tmp_path, dump({"nodes": nodes("a")}), name)
    assert [fact.text for fact in found] == ["node a is online", "health of a is nominal"]
    assert {fact.provenance.source for fact in found} == {name}


AT = "metrics:\n- {node: b, metric: m, value: 1, at: x}\n"
FAULTS = [
    ("nodes:\n- name: a\n  helth: nominal\n", 3, "'health'"),
    ("nodes:\n- name: a\n- name: a\n", 3, "remove"),
    ("nodes:\n- name: a\nlinks:\n- a: a\n  b: b\n  cost: 1\n", 5, "nodes"),
    ("nodes:\n- name: a\nvms:\n- vmid: 1\n  host: aa\n", 5, "'a'"),
    ('{"nodes": [{"name": "a",\n"name": "b"}]}', 2, "correct"),
    ('{"nodes":\n nul}', 2, "correct"),
    ('{"nodes": "NaN",\n"links": NaN}', 2, "correct"),
    ("nodes: &x []\n", 1, "correct"),
    ("[" * 100_000, 1, "sections"),
    ("nodes: " + "[" * 1000, 1, "correct"),
    (b"nodes:\n- name: \xff\n", 2, "UTF-8"),
]
REASONS = [
    ("nodes:\n- name: a\nalerts: []\n" + AT, 5, "must be an ISO 8601 time with its zone"),
    ('{\n\t"nodes": [\n\t\t{"name": "a", "ram_mib": 1.5}]}', 3, "must be a whole number"),
    ('{"observed_at":\n"0001-01-01T00:00:00Z"}', 1, "must be a time from 1970"),
    (
        '{"ttl_seconds": 31622400,\n"observed_at": "9999-12-31T23:59:59Z"}',
        2,
        "must be a time from 1970 to 8999",
    ),
    ("- a\n", 1, "must be an object"),
    ("", 1, "must be an object"),
    ("nodes: [\n", 1, "near the end of the text"),
]


@pytest.mark.parametrize(("text", "line", "fix"), FAULTS)
def test_a_fault_is_shown_with_its_line_and_its_fix(tmp_path, text, line, fix):
    with pytest.raises(FactsInvalid) as caught:
        read(tmp_path, text)
    assert caught.value.message.startswith(f"facts.yaml:{line}: ")
    assert fix in caught.value.hint
    assert caught.value.details["line"] == line


@pytest.mark.parametrize(("text", "line", "reason"), REASONS)
def test_a_wrong_value_is_shown_with_its_line_and_what_it_must_be(tmp_path, text, line, reason):
    with pytest.raises(FactsInvalid) as caught:
        read(tmp_path, text)
    assert caught.value.message.startswith(f"facts.yaml:{line}: ")
    assert reason in caught.value.message
    assert caught.value.hint in {"correct that value", "correct that line"}
    assert caught.value.details["line"] == line


def test_an_unknown_key_of_any_length_makes_a_short_error(tmp_path):
    with pytest.raises(FactsInvalid) as caught:
        read(tmp_path, json.dumps({"k" * 100_000: 1}))
    assert len(json.dumps(caught.value.details)) < 1000
    assert len(caught.value.message) < 300


def test_a_file_over_ten_megabytes_is_refused(tmp_path):
    with pytest.raises(FactsInvalid, match="limit is 10000000"):
        read(tmp_path, b"#" * (MOST_BYTES + 1))


@pytest.mark.parametrize("make", [lambda p: p.mkdir(), os.mkfifo])
def test_what_is_no_file_is_refused_without_waiting(tmp_path, make):
    make(tmp_path / "facts")
    with pytest.raises(FactsInvalid, match="cannot read facts: is a "):
        read_fact_files([(tmp_path / "facts", "facts")], DEFAULTS)


def test_a_link_may_name_a_node_of_another_file_but_no_fact_is_in_two(tmp_path):
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("nodes: [{name: a}, {name: b}]\n")
    second.write_text("links: [{a: a, b: b, cost: 1}]\n")
    assert len(read_fact_files([(first, "a"), (second, "b")], DEFAULTS)) == 3
    second.write_text("nodes: [{name: b}]\n")
    with pytest.raises(FactsInvalid, match="the same node is in a: node b"):
        read_fact_files([(first, "a"), (second, "b")], DEFAULTS)


def test_a_file_was_observed_when_it_changed_and_never_in_the_future(tmp_path):
    path = tmp_path / "facts.yaml"
    path.write_text("nodes: [{name: a}]\n")
    for changed, expected in ((-500, -500), (9999, -30)):
        os.utime(path, (NOW.timestamp() + changed,) * 2)
        (fact,) = read_facts_file(path, "facts", DEFAULTS).facts
        assert fact.provenance.age_seconds(NOW) == -expected
