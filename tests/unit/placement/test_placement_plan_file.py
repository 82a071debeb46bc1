"""A plan file that is not a plan is refused with file, line, value and fix."""

import json

import pytest

from pulsus.errors import ClusterInvalid
from pulsus.placement.cluster_file import MAX_BYTES
from pulsus.placement.placement_plan_file import load_plan

STEP = {"action": "migrate", "vmid": 1, "source": "a", "target": "b"}


def read(folder, data):
    path = folder / "plan.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data, indent=1))
    return load_plan(path)


@pytest.mark.parametrize(
    ("data", "words", "line"),
    [
        ({"actions": [{**STEP, "vmid": "1"}]}, "'1' is no vmid", 5),
        ({"actions": [{**STEP, "vmid": True}]}, "True is no vmid", 5),
        ({"actions": [{**STEP, "vmid": 1.5}]}, "1.5 is no vmid", 5),
        ({"actions": [{**STEP, "action": "stop"}]}, "'stop' is no action", 4),
        ({"actions": [{**STEP, "target": ""}]}, "'' is empty", 7),
        ({"actions": [{**STEP, "target": ["b"]}]}, r"\['b'\] is not a name", 7),
        ({"actions": [{**STEP, "target": "\x1b[2J\u202e"}]}, r"'\\x1b\[2J\\u202e' is no name", 7),
        ({"actions": [{**STEP, "source": 3}]}, "3 is not a name", 6),
        ({"actions": [{**STEP, "vmid": 0}]}, "0 is no vmid", 5),
        ({"actions": [{**STEP, "vmid": 10**4000}]}, r"1000\d+\.\.\. is no vmid", 5),
        ({"actions": [{**STEP, "force": 1}]}, "unknown key 'force'", 8),
        ({"actions": [{**STEP, "\ud800\x1b": 1}]}, r"unknown key '\\ud800\\x1b'", 1),
        ({"actions": ["migrate 1 b"]}, "'migrate 1 b' is not a mapping", 3),
        ({"actions": {}}, "there is no list of actions", 2),
        ({"steps": []}, "there is no list of actions", 1),
        ("3", "there is no list of actions", 1),
        ("", "there is no list of actions", 1),
        ({"actions": [], "unplaced": 3}, "3 is not a list", 3),
        ({"actions": [], "unplaced": ["x"]}, "'x' is no vmid", 4),
        ('{"actions": [], "actions": []}', "the key 'actions' is written twice", 1),
        ('{"actions": [', "it is not JSON", 1),
        ("[" * 100_000, "nested too deeply", 1),
        ('[{"vmid": NaN}]', "NaN is not a number of JSON", 1),
        ("actions: [\n- a: !!python/object:os.system {}", "it is not plain YAML", 2),
    ],
)
def test_a_value_that_is_no_plan_is_refused_with_its_line(tmp_path, data, words, line):
    with pytest.raises(ClusterInvalid, match=words) as refused:
        read(tmp_path, data)
    assert refused.value.exit_status == 2
    assert refused.value.hint
    assert str(refused.value.details["file"]).endswith("plan.json")
    assert refused.value.details["line"] == line


def test_a_plan_that_is_too_large_or_no_text_is_refused(tmp_path):
    with pytest.raises(ClusterInvalid, match="cannot read"):
        read(tmp_path, " " * (MAX_BYTES + 1))
    (tmp_path / "plan.json").write_bytes(b"[]\n\xff")
    with pytest.raises(ClusterInvalid, match=r"plan.json:2: this is not UTF-8"):
        load_plan(tmp_path / "plan.json")
    with pytest.raises(ClusterInvalid, match="cannot read"):
        load_plan(tmp_path)


def test_a_bare_list_and_the_json_of_a_plan_are_read(tmp_path):
    assert read(tmp_path, [STEP])[1] is None
    actions, unplaced = read(tmp_path, {"actions": [STEP], "unplaced": [{"vmid": 7}, 8]})
    assert (actions[0].source, unplaced) == ("a", frozenset({7, 8}))
    assert read(tmp_path, {"actions": [{**STEP, "source": None}]})[0][0].source == ""
