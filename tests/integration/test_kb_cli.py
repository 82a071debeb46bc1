"""`pulsus kb` through the real command: answers, proofs, refusals (docs/knowledge-base.md)."""

import json
import re
import shlex
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from pulsus.core.system.strict_yaml import load_yaml
from pulsus.kb.facts_document import parse_document
from pulsus.kb.predicates import PREDICATES
from tests.knowledge import DEFAULTS
from tests.project import make, pulsus_here
from tests.unit.kb.test_facts_document import FAULTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/knowledge-base.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "docs/schemas/kb-facts-file.json").read_text(encoding="utf-8"))
FACTS = re.findall(r"<!-- file: facts.yaml -->\n```yaml\n(.*?)```", PAGE, re.DOTALL)[0]
COMMANDS = re.findall(r"^\$ pulsus (kb .*)$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("kb") / "project", warm=False)
    (folder / "facts.yaml").write_text(FACTS, encoding="utf-8")
    return folder


def ask(project, *args):
    return pulsus_here(project, "kb", *args, "--facts", "facts.yaml")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_on_the_page_works(project, command):
    assert pulsus_here(project, *shlex.split(command)).code == 0


def test_the_page_says_what_its_commands_print(project):
    done = ask(project, "query", "node_health(Node, Status)")
    assert done.out.splitlines() == [
        "Node = pve1, Status = nominal",
        "Node = pve2, Status = nominal",
        "Node = pve3, Status = degraded",
        "Node = pve4, Status = unknown",
    ]
    done = ask(project, "explain", "node_health(pve4, Status)")
    assert "expired after 5 min: not used" in done.out
    done = ask(project, "explain", "can_reach(pve1, pve3)")
    assert done.out.startswith("false\n  the health of pve3 is degraded")


def test_the_page_names_every_predicate_and_module():
    for predicate in PREDICATES.values():
        assert f"| `{predicate.signature}` |" in PAGE
        assert all(f"`{module}:{predicate.name}`" in PAGE for module in predicate.modules)


def test_the_json_has_goal_answers_and_truncated(project):
    done = ask(project, "query", "live_shortest_path(pve1, pve2, Path)", "--output", "json")
    assert done.json == {
        "schema_version": 1,
        "goal": "live_shortest_path(pve1, pve2, Path)",
        "answers": [{"Path": ["pve1", "pve2"]}],
        "truncated": False,
        "unknown": [],
    }


@pytest.mark.parametrize(
    ("goal", "code"),
    [
        ("node_health(pve0,S), assertz(x)", 6),
        ("shell('rm -rf /')", 6),
        ("node_health(pve1, S, T)", 6),
        ("node_he\u0430lth(pve1, S)", 6),
        ("node_health(pve1", 2),
        ("", 2),
    ],
)
def test_a_goal_is_refused_before_the_facts_are_read(project, goal, code):
    done = pulsus_here(project, "kb", "query", goal, "--facts", "no-such-file.yaml")
    assert done.code == code
    assert "no-such-file" not in done.err
    assert ask(project, "query", goal).code == code


def test_an_unknown_node_is_warned_about_and_has_no_answer(project):
    done = ask(project, "query", "node_health(pve9, S)")
    assert (done.code, done.out) == (0, "false\n")
    assert "no fresh fact knows pve9" in done.err


@pytest.mark.parametrize("args", [("query", "node_health(pve9, S)"), ("facts", "--node", "pve9")])
def test_the_hint_for_an_unknown_node_lists_the_nodes_of_the_same_files(project, args):
    done = ask(project, *args)
    assert "`pulsus kb facts --kind node --facts facts.yaml` lists the nodes" in done.err


def test_a_facts_file_with_a_fault_names_the_line(project):
    (project / "bad.yaml").write_text("nodes:\n- name: a\n  health: fine\n", encoding="utf-8")
    done = pulsus_here(project, "kb", "facts", "--facts", "bad.yaml", "--output", "json")
    assert done.code == 2
    error = done.json["error"]
    assert error["code"] == "FACTS_INVALID"
    said = "nodes[0].health is 'fine', and must be one of nominal, degraded, critical, unknown"
    assert error["message"] == f"bad.yaml:3: {said}"
    assert (error["details"]["line"], error["hint"]) == (3, "correct that value")


def test_an_open_bracket_is_told_at_the_last_line_and_not_behind_it(project):
    (project / "bad.yaml").write_text("nodes: [\n", encoding="utf-8")
    done = pulsus_here(project, "kb", "facts", "--facts", "bad.yaml", "--output", "json")
    error = done.json["error"]
    assert error["message"].startswith("bad.yaml:1: it is not plain YAML: ")
    assert error["message"].endswith(", near the end of the text")


def sources(project, **env):
    done = pulsus_here(project, "kb", "facts", "--output", "json", env=env)
    return {row["source"] for row in done.json["facts"]}


def test_the_files_of_the_settings_and_this_machine_count_without_facts(project):
    own = {"PULSUS_KB__FILES": '["facts.yaml"]'}
    assert sources(project, **own) == {"facts.yaml", "local"}
    own["PULSUS_KB__LOCAL_METRICS"] = "false"
    assert sources(project, **own) == {"facts.yaml"}
    reach = ("kb", "query", "can_reach(pve1, pve3)")
    assert pulsus_here(project, *reach, env=own).out == "false\n"
    own["PULSUS_KB__USE_DEGRADED"] = "true"
    assert pulsus_here(project, *reach, env=own).out == "true\n"


def test_a_file_of_the_settings_lies_in_the_project(project):
    done = pulsus_here(project, "kb", "facts", env={"PULSUS_KB__FILES": '["../facts.yaml"]'})
    assert done.code == 2
    assert "outside the project" in done.err


def test_facts_of_one_node_or_kind_are_listed(project):
    done = ask(project, "facts", "--node", "pve3", "--output", "json")
    assert [row["kind"] for row in done.json["facts"]] == ["node", "health", "link", "link"]
    done = ask(project, "facts", "--kind", "vm")
    assert "VM 101 runs on pve1" in done.out
    assert "VM 102 is stopped" in done.out
    assert ask(project, "facts", "--node", "pve9").code == 2


def test_the_schema_agrees_with_the_reader_about_faults_and_the_example():
    validator = Draft202012Validator(SCHEMA)
    validator.validate(load_yaml(FACTS))
    parse_document(load_yaml(FACTS), "page", DEFAULTS)
    # What a schema cannot say: duplicates, links to themselves, and times.
    beyond = ("nodes[1]", "links[1]", "vms[1]", "links[0].b")
    for document, place, fix in FAULTS:
        if place not in beyond and fix not in ("ISO", "zone") and "nan" not in str(document):
            assert not validator.is_valid(document), place
