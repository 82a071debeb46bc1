"""Plan files that are invalid, edited or moved are refused, and nothing is written."""

import json

import pytest

from pulsus.core.storage.records.promotion_target import Target
from tests.decisions import as_in_a_clone
from tests.integration.test_json_schemas import check
from tests.integration.test_run_verified import FACTS, READER, WRITER
from tests.project import copied, pulsus_here
from tests.promotions import promoted, tree

HAND = """\
plan:
  description: "read a mark"
  steps:
    - id: a
      tool: system/check/mark_facts
      inputs: {path: "{{ input.path }}"}
      outputs: {bytes: bytes}
io:
  params: [path]
  returns: [bytes]
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A project with a read and a write, and `plan.yaml`, a saved plan of the read."""
    folder = tmp_path_factory.mktemp("plans") / "project"
    promoted(folder, READER, target=FACTS)
    promoted(folder, WRITER, target=Target("system", "count", "things"))
    (folder / "mark").write_text("mark", encoding="utf-8")
    (folder / "hand.yaml").write_text(HAND, encoding="utf-8")
    done = pulsus_here(
        folder, "plan", "--file", "hand.yaml", "-o", "plan.yaml", "--input", f"path={folder}/mark"
    )
    assert done.code == 0, done.err
    return folder


def test_an_output_that_the_tool_does_not_have_is_not_told_as_a_wrong_input(shared):
    wrong = HAND.replace("{bytes: bytes}", "{bytes: size}")
    (shared / "output.yaml").write_text(wrong, encoding="utf-8")
    code, error = refused(shared, "plan", "--file", "output.yaml")
    assert code == 2
    assert "gives no 'size' for the output 'bytes'; it gives " in error["message"]
    assert "bytes" in error["message"].rpartition("it gives ")[2]
    assert error["hint"] == (
        "correct these outputs; `pulsus tools show ID` says what each tool gives"
    )


@pytest.fixture
def project(shared, tmp_path):
    return copied(shared, tmp_path / "project")


def edit(folder, name, old, new):
    text = (folder / name).read_text("utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")


def refused(folder, *args):
    """Run a command that must fail with one JSON document. Return its error."""
    done = pulsus_here(folder, *args, "--output", "json")
    check("error", done.json)
    return done.code, done.json["error"]


@pytest.mark.parametrize(
    ("data", "found", "line"),
    [
        pytest.param(b"plan: [\n", "bad.yaml:1:8: ", 1, id="YAML"),
        pytest.param(b'{"plan": ', "bad.yaml:1:10: ", 1, id="JSON"),
        pytest.param(HAND.encode() + b"plan: {}\n", "bad.yaml:11:1: ", 11, id="a key twice"),
        pytest.param(
            HAND.replace("returns", "retruns").encode(), "'retruns'", 10, id="unknown key"
        ),
        pytest.param(
            HAND.replace("tool:", "tol:").encode(), "'tol'", 5, id="unknown key of a step"
        ),
        pytest.param(HAND.replace("id: a", "id: [a]").encode(), "['a']", 4, id="wrong type"),
        pytest.param(
            HAND.replace("check/mark", "chk/mark").encode(),
            "'system/chk/mark_facts'",
            5,
            id="unknown tool",
        ),
        pytest.param(
            HAND.replace("{path:", "{pat: 1, path:").encode(),
            "no input 'pat'",
            6,
            id="unknown input",
        ),
        pytest.param(
            HAND.replace("bytes: bytes", "bytes: size").encode(), "'size'", 7, id="unknown output"
        ),
        pytest.param(b"\xff\xfe\x00", "bad.yaml:1: ", 1, id="not UTF-8"),
        pytest.param(b"# Read me\n\n**in** bold\n", "is not a plan: it begins", 1, id="Markdown"),
        pytest.param(b"", "bad.yaml:1: ", 1, id="empty"),
        pytest.param(b'{"a": ' + b"[" * 90_000, "nested too deeply", 1, id="deep JSON"),
        pytest.param(b'{"a": ' + b"9" * 6_000, "too many digits", 1, id="a huge number"),
        pytest.param(b"a: &a [x]\nb: [*a, *a]\n", "anchors", 1, id="an anchor"),
        pytest.param(HAND.replace("id: a", "id: ../a").encode(), "'../a'", 4, id="a path as id"),
        pytest.param(HAND.replace("id: a", "id: é").encode(), "'\\xe9'", 4, id="an id not ASCII"),
        pytest.param(HAND.replace("id: a", "id: " + "a" * 61).encode(), "a" * 61, 4, id="long id"),
        pytest.param(b"a" * 10_000_001, "10000001 bytes", None, id="too large"),
    ],
)
def test_an_invalid_plan_file_is_named_with_its_line_and_value(data, found, line, shared):
    (shared / "bad.yaml").write_bytes(data)
    before = tree(shared / "workflows")
    code, error = refused(shared, "plan", "--file", "bad.yaml", "-o", "out.yaml")
    assert (code, error["code"]) in ((2, "PLAN_INVALID"), (2, "TOOL_NOT_FOUND"))
    assert "bad.yaml" in error["message"]
    assert found in error["message"]
    assert error["details"].get("line") == line
    assert error["hint"]
    assert not (shared / "out.yaml").exists()
    assert tree(shared / "workflows") == before


def test_an_unknown_key_names_the_nearest_one(shared):
    (shared / "near.yaml").write_text(HAND.replace("returns", "retruns"), encoding="utf-8")
    assert "did you mean 'returns'?" in refused(shared, "plan", "--file", "near.yaml")[1]["hint"]


@pytest.mark.parametrize("recorded", [False, True], ids=["own kind", "kind on record"])
def test_a_plan_that_retries_a_write_is_not_pinned(recorded, project):
    if recorded:
        promoted(project, WRITER.replace(b"Kind: write", b"Kind: read"))
        records = project / "workflows/domains/system/count/metadata.jsonl"
        *older, last = records.read_text("utf-8").splitlines()
        told = json.dumps(json.loads(last) | {"kind": "write"})
        records.write_text("\n".join([*older, told, ""]), encoding="utf-8")
        as_in_a_clone(project)  # the log would contradict the record
    wrong = HAND.replace("check/mark_facts", "count/things").replace(
        "      outputs:", "      retry: {attempts: 2, delay_s: 0}\n      outputs:"
    )
    (project / "retry.yaml").write_text(wrong, encoding="utf-8")
    code, error = refused(project, "plan", "--file", "retry.yaml", "-o", "retry-pinned.yaml")
    assert (code, error["code"], error["details"]["line"]) == (2, "PLAN_INVALID", 7)
    assert "step a: retry is for reads, and system/count/things may change" in error["message"]
    assert error["hint"] == "remove retry; a person decides whether a failed write is run again"
    assert not (project / "retry-pinned.yaml").exists()


def test_two_steps_with_one_id_are_refused(shared):
    step = HAND[HAND.index("    - id") : HAND.index("io:")]
    (shared / "twice.yaml").write_text(HAND.replace("io:", step + "io:"), encoding="utf-8")
    code, error = refused(shared, "plan", "--file", "twice.yaml")
    assert (code, error["code"]) == (2, "PLAN_INVALID")
    assert "'a'" in error["message"]


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("missing.yaml", "USAGE", "missing.yaml does not exist, and a plan is expected there"),
        ("workflows", "PLAN_INVALID", "cannot read workflows: is a folder, not a file"),
    ],
)
@pytest.mark.parametrize("command", ["apply", "show"])
def test_a_missing_file_is_not_called_an_invalid_or_a_large_plan(command, name, code, says, shared):
    status, error = refused(shared, command, name)
    assert (status, error["code"], error["message"]) == (2, code, says)
    assert "MB" not in error["hint"]


def test_an_edited_plan_is_not_applied(project):
    edit(project, "plan.yaml", "read a mark", "read another mark")
    code, error = refused(project, "apply", "plan.yaml")
    assert (code, error["code"]) == (6, "PLAN_EDITED")
    assert not (project / ".pulsus/state.db").exists()


@pytest.mark.sandbox
def test_an_edited_plan_keeps_its_request_for_the_memory_of_past_plans(project):
    edit(project, "plan.yaml", "request: read a mark", "request: leave a mark")
    done = pulsus_here(project, "plan", "--file", "plan.yaml", "-o", "edited.yaml")
    assert done.code == 0, done.err
    assert "request: leave a mark\n" in (project / "edited.yaml").read_text("utf-8")
    assert pulsus_here(project, "apply", "edited.yaml").code == 0
    rows = (project / ".pulsus/accepted.jsonl").read_text("utf-8").splitlines()
    kept = json.loads(rows[-1])
    assert (kept["request"], kept["tools"]) == ("leave a mark", ["system/check/mark_facts"])
    assert kept["outcome"] == "accepted"


def test_a_plan_whose_tool_changed_is_not_applied(project):
    edit(project, "workflows/domains/system/check/mark_facts.py", "Read a mark", "Read the mark")
    code, error = refused(project, "apply", "plan.yaml")
    assert (code, error["code"]) == (6, "PLAN_MOVED")
    assert "a: system/check/mark_facts is " in error["message"]
    assert not (project / ".pulsus/state.db").exists()


@pytest.mark.parametrize("tightened", [True, False])
def test_a_plan_is_refused_if_a_trusted_setting_moved(tightened, project):
    settings = project / "config/pulsus.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("[access]\nkinds = ['resolve', 'read']\n", encoding="utf-8")
    if not tightened:
        done = pulsus_here(
            project, "plan", "--file", "hand.yaml", "-o", "plan.yaml", "--input", "path=mark"
        )
        assert done.code == 0, done.err
        settings.unlink()
    code, error = refused(project, "apply", "plan.yaml")
    assert (code, error["code"]) == (6, "PLAN_MOVED")
    assert "the setting access.kinds is " in error["message"]
    assert not (project / ".pulsus/state.db").exists()


def test_a_reviewed_value_is_not_replaced_by_an_option(project):
    code, error = refused(project, "apply", "plan.yaml", "--input", "path=other")
    assert (code, error["code"]) == (6, "PLAN_MOVED")
    assert "--input path" in error["message"]


def test_a_plan_is_refused_if_the_file_of_an_input_changed(project):
    (project / "name.txt").write_text(f"{project}/mark", encoding="utf-8")
    done = pulsus_here(
        project, "plan", "--file", "hand.yaml", "-o", "at.yaml", "--input", "path=@name.txt"
    )
    assert done.code == 0, done.err
    (project / "name.txt").write_text("/etc/passwd", encoding="utf-8")
    code, error = refused(project, "apply", "at.yaml")
    assert (code, error["code"]) == (6, "PLAN_MOVED")
    assert "name.txt" in error["message"]


@pytest.mark.sandbox
def test_another_tool_that_changed_is_only_a_note(project):
    edit(project, "workflows/domains/system/count/things.py", "Leave a mark", "Leave one mark")
    done = pulsus_here(project, "apply", "plan.yaml")
    assert done.code == 0, done.err
    assert "note: the catalogue changed since the plan was made" in done.err


def test_a_secret_is_not_written_into_a_plan_file(project):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    code, error = refused(
        project, "plan", "--file", "hand.yaml", "-o", "out.yaml", "--input", f"path={secret}"
    )
    assert (code, error["code"]) == (2, "USAGE")
    assert "looks like a secret" in error["message"]
    assert secret not in json.dumps(error)
    assert not (project / "out.yaml").exists()


def test_a_secret_constant_is_not_written_into_a_plan_file(project):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = HAND.replace("{{ input.path }}", secret).replace("params: [path]", "params: []")
    (project / "secret.yaml").write_text(text, encoding="utf-8")
    code, error = refused(project, "plan", "--file", "secret.yaml", "-o", "out.yaml")
    assert (code, error["code"]) == (2, "USAGE")
    assert secret not in json.dumps(error)
    assert not (project / "out.yaml").exists()


def test_a_value_of_a_wrong_type_is_refused_before_anything_runs(project):
    text = HAND.replace('"{{ input.path }}"', "[1, 2]").replace("params: [path]", "params: []")
    (project / "typed.yaml").write_text(text, encoding="utf-8")
    code, error = refused(project, "plan", "--file", "typed.yaml")
    assert (code, error["code"]) == (2, "PLAN_INVALID")
    assert "path" in error["message"]
