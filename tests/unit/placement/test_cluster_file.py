"""A bad cluster file is refused with line, value and fix."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from pulsus.errors import ClusterInvalid
from pulsus.placement.cluster_file import MAX_BYTES, load_cluster

ROOT = Path(__file__).parents[3]
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs/schemas/cluster-file.json").read_text()))
GOOD = {
    "hosts": [{"name": "a", "ram_mib": 10, "cpu_mc": 10}],
    "vms": [{"vmid": 1, "ram_mib": 1, "cpu_mc": 1, "host": "a", "pinned": True}],
}


def changed(**vm):
    return {**GOOD, "vms": [{**GOOD["vms"][0], **vm}]}


def host(**values):
    return {**GOOD, "hosts": [{**GOOD["hosts"][0], **values}]}


@pytest.mark.parametrize(
    ("data", "words", "in_schema"),
    [
        (changed(ram_gib=4), "unknown key 'ram_gib'", True),
        (changed(ram_mib="4"), "'4' is not a whole number", True),
        (changed(ram_mib=True), "True is not a whole number", True),
        (changed(host="b"), "there is no host 'b'", False),
        ({**GOOD, "vms": GOOD["vms"] * 2}, "1 is a VM already", False),
        ({**GOOD, "hosts": GOOD["hosts"] * 2}, "'a' is a host already", False),
        ({**GOOD, "hosts": []}, "there are no hosts", True),
        ({"hosts": GOOD["hosts"]}, "the key 'vms' is missing", True),
        (changed(ram_mib=-1), "-1 is not between 0 and", True),
        (changed(ram_mib=2**41), "is not between 0 and", True),
        (changed(ram_mib=1.5), "1.5 is not a whole number", True),
        (changed(cpu_mc=None), "None is not a whole number", True),
        (changed(vmid=0), "0 is not between 1 and 999999999", True),
        (changed(priority="high"), "'high' is not a whole number", True),
        (changed(ha_group=" "), "is no name", False),
        (changed(ha_group="a\u202eb"), "is no name", False),
        (changed(host=7), "7 is not a name", True),
        (changed(host="-a"), "is no name", True),
        (changed(host=None), "VM 1 is pinned to its host, and has no host", False),
        (changed(pinned="b"), "there is no host 'b'", False),
        (changed(pinned=[]), r"[] is not a name", True),
        (host(status="on"), "'on' is neither 'online' nor 'offline'", True),
        (host(drain="yes"), "'yes' is not true or false", True),
        (host(ram_mib=0), "0 is not between 1 and", True),
        (host(reserve={"ram": 1}), "unknown key 'ram'", True),
        (host(reserve=5), "5 is not a mapping", True),
        (host(name="a b"), "is no name", True),
        ({**GOOD, "use_rack_constraints": True}, "the key 'rack' is missing", False),
        ({**GOOD, "racks": ["r1", "r1"]}, "the rack 'r1' is listed twice", True),
        ({**host(rack="r2"), "racks": ["r1"]}, "'r2' is not one of the racks: r1", False),
        ({**GOOD, "vms": {}}, "{} is not a list", True),
        ({**GOOD, "vms": [[]]}, "[] is not a mapping", True),
        ([], "[] is not a mapping", True),
        (changed(ram_mib=float("1e999")), "Infinity is not a number of JSON", True),
        (changed(ram_mib=10**4000), "1000", True),
        (changed(**{"\x1b[2J\u202e\ud800": 1}), r"'\x1b[2J\u202e\ud800'", True),
        (changed(**{"k" * 100_000: 1}), "unknown key 'kkkk", True),
        (host(status=["online" * 10_000]), "is neither 'online' nor 'offline'", True),
    ],
)
def test_a_wrong_value_is_refused_with_its_line(tmp_path, data, words, in_schema):
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(data, indent=2))
    with pytest.raises(ClusterInvalid) as refused:
        load_cluster(file)
    assert words in refused.value.message
    assert len(refused.value.message) < len(str(tmp_path)) + 400
    assert refused.value.message.isprintable()
    json.dumps(refused.value.details, ensure_ascii=False, allow_nan=False).encode("utf-8")
    assert refused.value.hint
    assert SCHEMA.is_valid(data) is not in_schema
    assert isinstance(refused.value.details["line"], int)
    if "ram_gib" in words:
        assert '"ram_gib"' in file.read_text().splitlines()[refused.value.details["line"] - 1]


def test_a_good_file_fits_the_schema_and_reads_as_yaml_too(tmp_path):
    file = tmp_path / "cluster.yaml"
    file.write_text("hosts:\n- {name: a, ram_mib: 10, cpu_mc: 10}\nvms: []\n")
    assert load_cluster(file).hosts[0].ram_mib == 10
    assert SCHEMA.is_valid(GOOD)


def test_a_key_that_is_written_twice_is_refused(tmp_path):
    file = tmp_path / "cluster.json"
    file.write_text('{"hosts": [],\n "hosts": []}')
    with pytest.raises(ClusterInvalid, match=r"json:2: .*'hosts' is written twice"):
        load_cluster(file)


def test_a_file_that_is_too_large_is_refused(tmp_path):
    file = tmp_path / "cluster.json"
    file.write_bytes(b" " * (MAX_BYTES + 1))
    with pytest.raises(ClusterInvalid, match="cannot read"):
        load_cluster(file)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hosts: [\n", r"yaml:1: .*it is not plain YAML"),
        ("hosts: []\nhosts: []\nvms: []\n", r"yaml:2: .*it is not plain YAML"),
        ("hosts: &a []\nvms: *a\n", "it is not plain YAML"),
        ("hosts: !!python/object:os.system []\nvms: []\n", "it is not plain YAML"),
        ("\n", "None is not a mapping"),
    ],
)
def test_yaml_beyond_plain_values_is_refused(tmp_path, text, words):
    file = tmp_path / "cluster.yaml"
    file.write_text(text)
    with pytest.raises(ClusterInvalid, match=words):
        load_cluster(file)


def test_a_file_that_is_no_text_is_refused_with_its_line(tmp_path):
    file = tmp_path / "cluster.json"
    file.write_bytes(b'{"hosts":\n"\xff"}')
    with pytest.raises(ClusterInvalid, match=r"json:2: this is not UTF-8 text: byte 11 is 0xff"):
        load_cluster(file)
