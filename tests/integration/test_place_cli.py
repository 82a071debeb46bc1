"""`pulsus place` from the command line: plans, checks, refusals and exit statuses."""

import json
import shlex
import textwrap
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


def test_a_picture_is_not_written_under_the_name_of_another_format(tmp_path):
    done = pulsus_here(write(tmp_path), "place", "cluster.json", "--plot", "load.png")
    assert done.code == 2
    assert "--plot load.svg" in done.err
    assert not (tmp_path / "load.png").exists()
    drawn = pulsus_here(tmp_path, "place", "cluster.json", "--plot", "load.svg")
    assert "drawn: load.svg" in drawn.err


def test_an_empty_name_of_a_picture_is_refused_without_a_traceback(tmp_path):
    done = pulsus_here(write(tmp_path), "place", "cluster.json", "--plot", "")
    assert done.code == 2
    assert "error[USAGE]: --plot '': the picture needs a file name" in done.err


def test_the_suggested_name_of_a_picture_can_be_pasted_into_a_shell(tmp_path):
    done = pulsus_here(write(tmp_path), "place", "cluster.json", "--plot", "my load.png")
    assert "hint: --plot 'my load.svg'" in done.err


def test_a_picture_does_not_overwrite_a_file_of_another_kind(tmp_path):
    mine = '<svg xmlns="http://www.w3.org/2000/svg"/>\n'
    (tmp_path / "logo.svg").write_text(mine, encoding="utf-8")
    done = pulsus_here(write(tmp_path), "place", "cluster.json", "--plot", "logo.svg")
    assert (done.code, done.out) == (2, "")
    assert "logo.svg exists and is no picture that Pulsus saved, because its label" in done.err
    assert (tmp_path / "logo.svg").read_text("utf-8") == mine
    for _ in range(2):  # its own picture may be replaced
        assert pulsus_here(tmp_path, "place", "cluster.json", "--plot", "load.svg").code == 0


def test_a_facts_file_in_place_of_a_cluster_is_told_its_option(tmp_path):
    (tmp_path / "facts.yaml").write_text("nodes: []\nvms: []\n")
    done = pulsus_here(tmp_path, "place", "facts.yaml")
    assert done.code == 2
    assert "facts.yaml: this is a facts file" in done.err
    assert "hint: pulsus place --facts facts.yaml" in done.err


def test_an_unknown_host_to_drain_is_named_with_its_option(tmp_path):
    done = place(write(tmp_path), "cluster.json", "--drain", "zz")
    assert (done.code, done.json["error"]["code"]) == (2, "USAGE")
    assert done.json["error"]["message"] == "--drain 'zz': there is no such host"
    assert done.json["error"]["hint"] == "the hosts are a, b"


def test_a_vm_too_large_for_every_host_has_the_reason_of_each(tmp_path):
    done = place(write(tmp_path, ram=90), "cluster.json", "--drain", "b", "--what-if", "offline a")
    assert (done.code, done.json["status"]) == (1, "infeasible")
    assert done.json["unplaced"][0]["reasons"] == {"a": "it is offline", "b": "it is drained"}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["cluster.json", "--drain", "x"], "--drain 'x': there is no such host"),
        (["cluster.json", "--what-if", "explode a"], "not one of the known changes"),
        (["--check", "cluster.json"], "1 file given, 2 needed: a cluster and a plan"),
        ([], "0 files given, 1 needed: a cluster"),
        (["cluster.json", "--facts", "f.json"], "both name a cluster"),
        (["--check", "--facts", "f.json"], "0 files given, 1 needed: a plan"),
        (["--facts", "missing.json"], "missing.json does not exist, and a facts file is expected"),
        (["--facts", "cluster.json"], "cluster.json: this is a cluster file, and a facts file"),
        (["missing.json"], "missing.json does not exist, and a cluster file"),
    ],
)
def test_a_wrong_call_ends_with_2_and_says_why(tmp_path, args, words):
    done = place(write(tmp_path), *args)
    assert done.code == 2
    assert words in done.json["error"]["message"]
    assert done.json["error"]["hint"]


def write_facts(folder, **node):
    nodes = [
        {"name": n, "health": "nominal", "ram_mib": 100, "cpu_mc": 10, "rack": f"r{n}"}
        for n in "ab"
    ]
    nodes[1].update(node)
    vms = [{"vmid": 1, "host": "a", "ram_mib": 60, "cpu_mc": 1, "ha_group": "web"}]
    vms.append({"vmid": 2, "host": None, "ram_mib": 30, "cpu_mc": 1, "ha_group": "web"})
    (folder / "facts.json").write_text(json.dumps({"nodes": nodes, "vms": vms}))
    return folder


def test_a_cluster_of_facts_is_planned_and_its_plan_passes_the_check(tmp_path):
    done = place(write_facts(tmp_path), "--facts", "facts.json", "--what-if", "use racks")
    assert (done.code, done.json["status"]) == (0, "optimal")
    assert done.json["actions"] == [{"action": "start", "vmid": 2, "source": None, "target": "b"}]
    assert done.json["ram_shares"] == {
        "a": {"before": 0.6, "after": 0.6},
        "b": {"before": 0.0, "after": 0.3},
    }
    (tmp_path / "plan.json").write_text(done.out)
    checked = place(tmp_path, "--check", "--facts", "facts.json", "plan.json")
    assert (checked.code, checked.json["ok"]) == (0, True)
    refused = place(tmp_path, "--check", "--facts", "facts.json", "plan.json", "--drain", "b")
    assert (refused.code, refused.json["ok"]) == (1, False)


def test_racks_of_the_facts_count_in_the_plan_and_in_its_check(tmp_path):
    write_facts(tmp_path)
    facts = json.loads((tmp_path / "facts.json").read_text())
    third = {"name": "c", "health": "nominal", "ram_mib": 100, "cpu_mc": 10, "rack": "ra"}
    facts["nodes"].append(third)
    (tmp_path / "facts.json").write_text(json.dumps(facts))
    plan = [{"action": "start", "vmid": 2, "source": None, "target": "c"}]
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    planned = place(tmp_path, "--facts", "facts.json")
    assert planned.json["actions"] == [plan[0] | {"target": "b"}]
    refused = place(tmp_path, "--check", "--facts", "facts.json", "plan.json")
    assert refused.code == 1
    assert "is in rack ra too" in refused.json["certificate"]["violations"][0]["reason"]
    without = ("--check", "--facts", "facts.json", "plan.json", "--what-if", "remove racks")
    assert place(tmp_path, *without).code == 0
    del facts["nodes"][2]["rack"]
    (tmp_path / "facts.json").write_text(json.dumps(facts))
    lacking = place(tmp_path, "--facts", "facts.json")
    assert (lacking.code, lacking.json["error"]["code"]) == (1, "FACTS_INCOMPLETE")
    assert place(tmp_path, *without).code == 0


def test_a_node_of_unknown_health_takes_no_vm(tmp_path):
    done = place(write_facts(tmp_path, health="unknown"), "--facts", "facts.json")
    assert done.json["actions"] == [{"action": "start", "vmid": 2, "source": None, "target": "a"}]
    assert done.json["objective"]["soft_violations"] == 2  # one host, and one rack


def test_a_cluster_with_nothing_to_place_ends_without_a_traceback(tmp_path):
    hosts = [{"name": n, "ram_mib": 100, "cpu_mc": 10, "drain": True} for n in "ab"]
    (tmp_path / "cluster.json").write_text(json.dumps({"hosts": hosts, "vms": []}))
    done = place(tmp_path, "cluster.json")
    assert (done.code, done.json["status"], done.json["actions"]) == (0, "optimal", [])
    (tmp_path / "facts.json").write_text('{"nodes": []}')
    done = place(tmp_path, "--facts", "facts.json")
    assert (done.code, done.json["error"]["code"]) == (1, "FACTS_INCOMPLETE")


def test_facts_without_a_size_are_refused_by_name_and_never_guessed(tmp_path):
    write_facts(tmp_path)
    facts = json.loads((tmp_path / "facts.json").read_text())
    del facts["vms"][0]["ram_mib"]
    (tmp_path / "facts.json").write_text(json.dumps(facts))
    done = place(tmp_path, "--facts", "facts.json")
    assert (done.code, done.json["error"]["code"]) == (1, "FACTS_INCOMPLETE")
    assert "VM 1" in done.json["error"]["message"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ram_mib": "100"}, "is not a whole number"),
        ({"ram_gib": 100}, "ram_gib"),
        ({"name": "a"}, "twice"),
    ],
)
def test_invalid_facts_end_with_2_and_name_the_file_and_line(tmp_path, change, words):
    done = place(write_facts(tmp_path, **change), "--facts", "facts.json")
    assert (done.code, done.json["error"]["code"]) == (2, "FACTS_INVALID")
    assert done.json["error"]["message"].startswith("facts.json:1")
    assert done.json["error"]["hint"]
    (tmp_path / "facts.json").write_bytes(b" " * 10_000_001)
    assert place(tmp_path, "--facts", "facts.json").code == 2


def test_files_of_another_kind_are_told_what_they_are(tmp_path):
    write(tmp_path)
    done = pulsus_here(tmp_path, "place", "--facts", "cluster.json")
    assert "cluster.json: this is a cluster file, and a facts file is expected" in done.err
    (tmp_path / "plan.json").write_text('{"schema_version": 1, "actions": []}')
    done = pulsus_here(tmp_path, "place", "--check", "plan.json", "cluster.json")
    assert "plan.json: this is a placement plan, and a cluster file is expected" in done.err
    assert "hint: the cluster comes first" in done.err
    (tmp_path / "plan.yaml").write_text("steps: []\n")
    done = pulsus_here(tmp_path, "place", "--check", "cluster.json", "plan.yaml")
    assert "this is no placement plan" in done.err
    assert "hint: make one with `pulsus place CLUSTER.json --output json > plan.json`" in done.err


def test_a_host_without_capacity_is_not_left_out_without_a_word(tmp_path):
    write_facts(tmp_path)
    facts = json.loads((tmp_path / "facts.json").read_text())
    facts["nodes"] += [
        {"name": "c", "health": "nominal", "ram_mib": 100},
        {"name": "d", "health": "nominal"},
        {"name": "e", "health": "nominal"},
    ]
    (tmp_path / "facts.json").write_text(json.dumps(facts))
    done = place(tmp_path, "--facts", "facts.json", "--what-if", "remove racks")
    shown = " ".join(done.err.split())
    assert (done.code, set(done.json["ram_shares"])) == (0, {"a", "b"})
    one = "note: c takes no part in the plan: the facts have no cpu_mc, so add cpu_mc to facts.json"
    assert one in shown
    assert (
        "note: d, e take no part in the plan: the facts have no ram_mib and no cpu_mc, so add "
        "ram_mib and cpu_mc to facts.json" in shown
    )
    quiet = place(tmp_path, "--facts", "facts.json", "--what-if", "remove racks", "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    facts["nodes"] = [{"ram_mib": 100, "cpu_mc": 10, **each} for each in facts["nodes"]]
    (tmp_path / "facts.json").write_text(json.dumps(facts))
    added = place(tmp_path, "--facts", "facts.json", "--what-if", "remove racks")
    assert "takes no part" not in added.err
    assert set(added.json["ram_shares"]) == {*"abcde"}, "the fix of the note works"


def test_a_missing_figure_is_to_be_added_to_the_file_that_counts(tmp_path):
    node = "nodes: [{name: a, health: nominal, ram_mib: 8192, cpu_mc: 4000}]\n"
    (tmp_path / "f2.yaml").write_text(node + "vms: [{vmid: 1, host: a, cpu_mc: 500}]\n")
    done = pulsus_here(tmp_path, "place", "--facts", "f2.yaml")
    assert "the facts have no ram_mib of VM 1" in done.err
    assert "hint: add ram_mib of VM 1 to f2.yaml" in done.err
    assert "kb.files" not in done.err, "with --facts those files do not count"


def examples_of(page, files):
    """Return the calls that a help page lists, once it has no other files than these."""
    listed = page.partition("  Examples:\n")[2].partition("\n\n")[0]
    calls = [shlex.split(line, comments=True)[1:] for line in listed.splitlines()]
    assert {w for call in calls for w in call if w.endswith((".json", ".yaml"))} == files
    return calls


def test_every_example_of_the_help_works_with_the_files_that_the_help_shows(tmp_path):
    """A newcomer could not find what `place` reads."""
    page = pulsus_here(tmp_path, "place", "--help").out
    cluster = page.partition("A CLUSTER.json ")[2].partition("\n")[2].partition("\n\n")[0]
    (tmp_path / "cluster.json").write_text(cluster, encoding="utf-8")
    assert "A facts file: `pulsus kb --help` shows one." in page
    facts = pulsus_here(tmp_path, "kb", "--help").out.partition("A facts file ")[2]
    text = textwrap.dedent(facts.partition("\n")[2].partition("\n\n")[0])
    (tmp_path / "facts.yaml").write_text(text, encoding="utf-8")
    for call in examples_of(page, {"cluster.json", "plan.json", "facts.yaml"}):
        words, _, target = " ".join(call).partition(" > ")
        done = pulsus_here(tmp_path, *words.split())
        assert done.code == 0, (call, done.err)
        if target:
            (tmp_path / target).write_text(done.out, encoding="utf-8")
    for page in (("kb",), ("kb", "query"), ("kb", "explain"), ("kb", "facts")):
        for call in examples_of(pulsus_here(tmp_path, *page, "--help").out, {"facts.yaml"}):
            done = pulsus_here(tmp_path, *call)
            assert (done.code, bool(done.out)) == (0, True), (call, done.err)


@pytest.mark.parametrize("call", [["cluster.json"], ["--facts", "facts.yaml"]])
def test_a_missing_file_leads_to_the_help_that_shows_one(tmp_path, call):
    command = "place" if call[0] == "cluster.json" else "kb"
    done = pulsus_here(tmp_path, "place", *call)
    assert (done.code, f"`pulsus {command} --help` has an example" in done.err) == (2, True)
