"""`pulsus place` from the command line: plans, checks, refusals and exit statuses."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.project import pulsus_here

pytest.importorskip("ortools")
SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/place.json").read_text("utf-8"))


def write(folder, pinned="", ram=60):
    vm = {"vmid": 1, "ram_mib": ram, "cpu_mc": 1, "host": "a"}
    hosts = [{"name": n, "ram_mib": 100, "cpu_mc": 10} for n in "ab"]
    data = {"hosts": hosts, "vms": [{**vm, "pinned": pinned or None}]}
    (folder / "cluster.json").write_text(json.dumps(data))
    return folder


def place(folder, *args):
    done = pulsus_here(folder, "place", *args, "--output", "json")
    Draft202012Validator(SCHEMA).validate(done.json) if "certificate" in done.json else None
    return done


def test_a_drained_host_is_emptied_and_the_plan_passes_its_check(tmp_path):
    done = place(write(tmp_path), "cluster.json", "--drain", "a", "--plot", "load.svg")
    assert done.code == 0
    assert done.json["status"] == "optimal"
    assert done.json["actions"] == [{"action": "migrate", "vmid": 1, "source": "a", "target": "b"}]
    assert (tmp_path / "load.svg").read_text("utf-8").startswith("<svg")
    (tmp_path / "plan.json").write_text(done.out)
    checked = place(tmp_path, "--check", "cluster.json", "plan.json", "--drain", "a")
    assert (checked.code, checked.json["certificate"]["ok"]) == (0, True)
    refused = place(tmp_path, "--check", "cluster.json", "plan.json", "--drain", "b")
    assert (refused.code, refused.json["certificate"]["ok"]) == (1, False)


def test_a_pin_to_a_drained_host_is_infeasible_with_a_core_of_both(tmp_path):
    done = place(write(tmp_path, pinned="a"), "cluster.json", "--drain", "a")
    assert (done.code, done.json["status"]) == (1, "infeasible")
    assert done.json["core_is_minimal"]
    assert done.json["core"] == [
        "a is drained",
        "VM 1 is pinned to a",
        "VM 1 needs a host: 60 MiB of RAM and 1 mc of CPU",
    ]
    freed = place(tmp_path, "cluster.json", "--drain", "a", "--what-if", "remove pin 1")
    assert freed.json["status"] == "optimal"


def test_a_vm_too_large_for_every_host_has_the_reason_of_each(tmp_path):
    done = place(write(tmp_path, ram=90), "cluster.json", "--drain", "b", "--what-if", "offline a")
    assert (done.code, done.json["status"]) == (1, "infeasible")
    assert done.json["unplaced"][0]["reasons"] == {"a": "it is offline", "b": "it is drained"}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["cluster.json", "--drain", "x"], "there is no host 'x'"),
        (["cluster.json", "--what-if", "explode a"], "not one of the known changes"),
        (["--check", "cluster.json"], "1 files are given"),
        (["missing.json"], "cannot read missing.json"),
    ],
)
def test_a_wrong_call_ends_with_2_and_says_why(tmp_path, args, words):
    done = place(write(tmp_path), *args)
    assert done.code == 2
    assert words in done.json["error"]["message"]
    assert done.json["error"]["hint"]
