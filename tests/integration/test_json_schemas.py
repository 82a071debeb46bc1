"""Every command's `--output json` fits its committed schema, and every failure is one document."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.project import COMPOSE, COUNT, NOTHING, make, pulsus_here
from tests.sandboxes import need_sandbox

ROOT = Path(__file__).parents[2]
SCHEMAS = {p.stem: json.loads(p.read_text("utf-8")) for p in (ROOT / "docs/schemas").glob("*.json")}
REGISTRY: Registry = Registry().with_resources(
    (f"{name}.json", Resource.from_contents(schema)) for name, schema in SCHEMAS.items()
)

FILES = {"cluster-file", "plan-file", "kb-facts-file"}
"""Schemas of files that Pulsus reads. An unknown key in them is an error."""
PRINTED = sorted({*SCHEMAS} - FILES)

RAN = [
    ("route", 0, ["route", COUNT, "--plan"]),
    ("route", 0, ["route", COMPOSE, "--explain"]),
    ("route", 0, ["route", COMPOSE, "--plan", "--explain"]),
    ("route", 5, ["route", NOTHING]),
    ("generate", 0, ["generate", "count the hyphens", "--scaffold"]),
    ("explain", 0, ["explain", COMPOSE]),
    ("explain", 0, ["explain", COUNT, "--why-not", "top_rows"]),
    ("explain", 0, ["explain", NOTHING, "--why-not", "say_hello"]),
    ("tools-list", 0, ["tools", "list"]),
    ("tools-show", 0, ["tools", "show", "delete_old_files"]),
    ("tools-check", 0, ["tools", "check"]),
    ("commands-classify", 0, ["commands", "classify", "df -h | sort"]),
    ("commands-classify", 6, ["commands", "classify", "sort -o a b", "--explain"]),
    ("commands-list", 0, ["commands", "list"]),
    ("commands-show", 0, ["commands", "show", "egrep"]),
    ("commands-check", 3, ["commands", "check", "wrong.yaml"]),
    ("kb-query", 0, ["kb", "query", "live_shortest_path(A, B, Path)", "--facts", "facts.yaml"]),
    ("kb-facts", 0, ["kb", "facts", "--facts", "facts.yaml"]),
    ("kb-facts", 0, ["kb", "facts"]),
    ("kb-explain", 0, ["kb", "explain", "node_health(pve4, S)", "--facts", "facts.yaml"]),
    ("kb-explain", 0, ["kb", "explain", "can_reach(pve1, pve4)", "--facts", "facts.yaml"]),
    ("init", 0, ["init", "new"]),
    ("config", 0, ["config", "show"]),
    ("config-trust", 0, ["config", "trust", "--list"]),
    ("config-trust", 4, ["config", "trust", "--all"]),
    ("config-trust", 0, ["config", "trust", "--revoke", "tools.python"]),
    ("plugins", 0, ["plugins", "list"]),
    ("eval", 0, ["eval", "requests.jsonl", "--floor", "hit_at_1=1"]),
    ("eval", 3, ["eval", "requests.jsonl", "--limit", "1", "--floor", "compose_exact=1"]),
    ("gc", 0, ["gc", "--dry-run"]),
    ("audit", 0, ["audit"]),
    ("place", 1, ["place", "--check", "cluster.json", "moves.json"]),
    ("doctor", 3, ["doctor", "--state-dir", "requests.jsonl/state"]),
]
PROVEN = [
    ("doctor", 0, ["doctor"]),
    ("route", 0, ["route", COMPOSE, "--dry-run"]),
    ("route", 4, ["route", COUNT]),
    ("route", 0, ["route", COUNT, "--non-interactive", "--run", "--input", "text=a b"]),
    ("route", 3, ["route", "convert money to another currency", "--non-interactive"]),
    ("validate", 3, ["validate", "workflows/domains/text", "workflows/domains/finance"]),
    ("promote", 4, ["promote", "count_lines.py", "--domain", "text", "--action", "count"]),
    ("promote", 0, ["promote", "count_lines.py", "--domain", "text", "--action", "count", "--yes"]),
    ("promote", 3, ["promote", "count_vowels.py", "--action", "count", "--yes"]),
    (
        "promote",
        0,
        ["promote", "two/count_lines.py", "--domain", "text", "--action", "count", "--yes"],
    ),
    ("rollback", 0, ["rollback", "count_lines", "--yes"]),
    ("tools-show", 0, ["tools", "show", "count_lines"]),
    (
        "promote",
        0,
        [
            "promote",
            "workflows/domains/text/count/count_words.py",
            *("--domain", "text", "--action", "count", "--yes", "--owner", "ops"),
        ],
    ),
    (
        "deprecate",
        0,
        [
            *("deprecate", "count_words", "--replacement", "count_lines"),
            *("--sunset", "2999-12-31", "--yes"),
        ],
    ),
    ("tools-list", 0, ["tools", "list"]),
    ("deprecate", 0, ["deprecate", "count_words", "--undo", "--yes"]),
    ("tools-remove", 0, ["tools", "remove", "count_lines", "--yes"]),
    ("tools-remove", 0, ["tools", "remove", "count_lines"]),
    ("rollback", 0, ["rollback", "count_lines", "--yes"]),
    ("run", 0, ["run", "count_words", "--input", "text=a b"]),
    ("tools-adopt", 0, ["tools", "adopt", "word_count.py", "--domain", "text"]),
    ("tools-adopt", 3, ["tools", "adopt", "convert.py", "--action", "convert"]),
    ("audit", 0, ["audit", "--quick"]),
    ("audit", 1, ["audit", "--expect-head", "0" * 64]),
    ("audit-accept-records", 0, ["audit", "--accept-records"]),
]
FAILED = [
    ("USAGE", 2, ["route"]),
    ("USAGE", 2, ["rout"]),
    ("USAGE", 2, ["audit", "--expect-head", "abc"]),
    ("USAGE", 2, ["tools", "show"]),
    ("USAGE", 2, ["validate", "missing.py"]),
    ("USAGE", 2, ["eval", "requests.jsonl", "--floor", "speed=1"]),
    ("USAGE", 2, ["run", "say_hello", "--input", "nobody=x"]),
    ("REQUEST_INVALID", 2, ["route", " "]),
    ("TOOL_NOT_FOUND", 2, ["run", "no_such_tool"]),
    ("TOOL_NOT_FOUND", 2, ["rollback", "no_such_tool"]),
    ("USAGE", 2, ["deprecate", "say_hello"]),
    ("TOOL_NOT_FOUND", 2, ["tools", "show", "no_such_tool"]),
    ("TOOL_NOT_FOUND", 2, ["tools", "remove", "no_such_tool"]),
    ("GOAL_REFUSED", 6, ["kb", "query", "shell(ls)"]),
    ("GOAL_INVALID", 2, ["kb", "explain", "node_health(pve1"]),
    ("FACTS_INVALID", 2, ["kb", "facts", "--facts", "requests.jsonl"]),
    ("RUN_NOT_FOUND", 2, ["feedback", "run-20260301-120000-1a2b3c", "--none"]),
    ("TOOL_NOT_FOUND", 2, ["explain", COUNT, "--why-not", "no_such_tool"]),
    ("NOT_PROMOTED", 6, ["run", "say_hello"]),
    ("INPUT_MISSING", 4, ["route", COUNT, "--run", "--non-interactive"]),
    ("TARGET_REFUSED", 6, ["promote", "count_lines.py", "--action", "../../agents", "--yes"]),
    ("STORAGE_UNWRITABLE", 2, ["init", "requests.jsonl/new"]),
]


def check(name, document):
    """Fail with every place where the document does not fit the schema."""
    found = Draft202012Validator(SCHEMAS[name], registry=REGISTRY).iter_errors(document)
    assert [f"{error.json_path}: {error.message}" for error in found] == []
    assert next(iter(document)) == "schema_version"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = make(
        tmp_path_factory.mktemp("json") / "project", "requests", "candidate", "tables", "knowledge"
    )
    host = {"name": "a", "ram_mib": 1, "cpu_mc": 1}
    (root / "cluster.json").write_text(json.dumps({"hosts": [host], "vms": []}))
    (root / "moves.json").write_text('[{"action": "start", "vmid": 1, "target": "a"}]')
    return root


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("schema", "code", "args"),
    RAN,
    ids=lambda v: " ".join(v[:2]) if isinstance(v, list) else str(v),
)
def test_json_output_fits_its_schema(schema, code, args, project):
    done = pulsus_here(project, *args, "--output", "json")
    assert done.code == code, done.out + done.err
    check(schema, done.json)


@pytest.mark.seconds
@pytest.mark.sandbox
def test_json_output_of_validating_commands_fits_its_schema(tmp_path):
    need_sandbox()
    project = make(tmp_path / "project", "candidate", "versions", "wrong_types", "script")
    for schema, code, args in PROVEN:
        done = pulsus_here(project, *args, "--output", "json")
        assert done.code == code, done.out + done.err
        check(schema, done.json)


@pytest.mark.parametrize(
    ("code", "status", "args"), FAILED, ids=lambda v: " ".join(v) if isinstance(v, list) else None
)
def test_a_failed_command_prints_one_json_document_and_nothing_else(code, status, args, project):
    done = pulsus_here(project, *args, "--output", "json")
    check("error", done.json)
    assert done.json["error"]["code"] == code
    assert done.code == status


def test_tools_check_lists_broken_tools_as_json(tmp_path):
    project = make(tmp_path / "project", "broken", "shadow", warm=False)
    done = pulsus_here(project, "tools", "check", "--output", "json")
    assert done.code == 3
    check("tools-check", done.json)
    codes = {finding["code"] for finding in done.json["findings"]}
    assert codes == {"SYNTAX_ERROR", "NO_ENTRY", "SHADOWED", "INCOMPLETE", "NOT_PROMOTED"}


@pytest.mark.parametrize("name", PRINTED)
def test_a_schema_is_valid_and_lets_keys_be_added(name):
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == f"{name}.json"
    assert SCHEMAS[name]["properties"]["schema_version"] == {"const": 1}
    assert "schema_version" in SCHEMAS[name]["required"]
    assert '"additionalProperties": false' not in json.dumps(SCHEMAS[name])


@pytest.mark.parametrize("name", [n for n in PRINTED if n != "error"])
def test_a_document_without_a_required_key_does_not_fit(name):
    """A schema that accepts anything would prove nothing."""
    validator = Draft202012Validator(SCHEMAS[name], registry=REGISTRY)
    assert not validator.is_valid({"schema_version": 1})
    assert not validator.is_valid({"schema_version": 2})


def test_every_schema_and_every_command_is_on_the_page():
    from pulsus.cli.command_group import COMMANDS

    page = (ROOT / "docs/json.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\(schemas/([\w-]+)\.json\)", page)) == sorted(SCHEMAS)
    assert [name for name in COMMANDS if f"`pulsus {name}" not in page] == []
