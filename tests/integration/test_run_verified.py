"""A write is verified by the read that its contract names (ADR 41)."""

import shlex
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from pulsus.core.compose.plans.module_source import render_module
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import OutputRef, ParamRef, Plan, PlanStep
from tests.decisions import each
from tests.integration.test_json_schemas import REGISTRY, SCHEMAS
from tests.integration.test_terminal import talk
from tests.project import make, pulsus_here
from tests.promotions import promoted
from tests.sandboxes import need_sandbox

WRITER = b'''"""Leave a mark.

Args:
    path (str): Where.
    text (str): The mark.
    dry_run (bool): True leaves none.

Returns:
    path (str): Where.
    bytes (int): How long it is.

Kind: write

Effects:
    paths: the given path
    hosts: none
    commands: none

Target: path
Verify: system/check/mark_facts {path: "{{output.path}}"}
    expect {text: "{{input.text}}", bytes: "{{output.bytes}}", ...: ...}
"""

from pathlib import Path


def run(path: str, text: str = "mark", dry_run: bool = False) -> dict:
    if not dry_run:
        Path(path).write_text(text, encoding="utf-8")
    return {"path": path, "bytes": len(text)}
'''
READER = b'''"""Read a mark.

Args:
    path (str): Where.

Returns:
    text (str): The mark.
    bytes (int): How long it is.

Kind: read

Effects:
    paths: the given path
    hosts: none
    commands: none
"""

from pathlib import Path


def run(path: str) -> dict:
    text = Path(path).read_text(encoding="utf-8")
    return {"text": text, "bytes": len(text), "ok": True}
'''
FACTS = Target("system", "check", "mark_facts")


def run(project, *more, writer=WRITER, reader=READER):
    if reader:
        promoted(project, reader, target=FACTS)
    promoted(project, writer)
    mark = project / "mark"
    args = ("run", "things", "--input", f"path={mark}", "--yes", "--output", "json", *more)
    done = pulsus_here(project, *args)
    Draft202012Validator(SCHEMAS["run"], registry=REGISTRY).validate(done.json)
    return mark.exists(), done


def test_a_change_that_its_read_confirms_is_verified(tmp_path):
    written, done = run(tmp_path)
    assert (done.code, written) == (0, True), done.out
    assert done.json["verified"] is True
    assert done.json["verification"] == {
        "tool": "system/check/mark_facts",
        "ok": True,
        "reason": "the result of system/check/mark_facts is as expected",
    }


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        (READER.replace(b'"text": text', b'"text": "lost"'), 'text: expected "mark", got "lost"'),
        (READER.replace(b'"ok": True', b'"ok": False'), "says that it is not ok"),
        (READER.replace(b"path).read", b'path + "x").read'), "EXECUTION_FAILED"),
        (READER.replace(b"Kind: read", b"Kind: write"), "is a write, and only a read verifies"),
        (READER.replace(b"path (str)", b"file (str)").replace(b"path: str", b"file: str"), "path"),
        (None, "TOOL_NOT_FOUND: system/check/mark_facts is not in the catalogue"),
    ],
    ids=["another result", "not ok", "raises", "a write", "other inputs", "no such tool"],
)
def test_a_change_that_its_read_does_not_confirm_is_an_error_that_keeps_the_result(
    reader, reason, tmp_path
):
    written, done = run(tmp_path, reader=reader)
    assert (done.code, written) == (1, True)
    assert done.json["error"]["code"] == "WRITE_UNVERIFIED"
    assert done.json["result"]["bytes"] == 4
    assert done.json["verified"] is False
    assert reason in done.json["verification"]["reason"]


def test_a_verifying_tool_that_was_changed_after_its_promotion_confirms_nothing(tmp_path):
    promoted(tmp_path, READER, target=FACTS)
    path = FACTS.path(tmp_path / "workflows")
    path.write_bytes(path.read_bytes() + b"\n")
    _, done = run(tmp_path, reader=None)
    assert (done.code, done.json["verified"]) == (1, False)
    assert done.json["verification"]["reason"].startswith("NOT_PROMOTED: ")


def test_a_dry_run_is_not_verified_because_it_changed_nothing(tmp_path):
    written, done = run(tmp_path, "--input", "dry_run=true")
    assert (done.code, written) == (0, False)
    assert (done.json["verified"], done.json["verification"]) == (None, None)


def test_a_write_promoted_without_a_check_runs_and_says_that_nothing_verified_it(tmp_path):
    bare = WRITER[: WRITER.index(b"Verify:")] + WRITER[WRITER.index(b'"""\n\nfrom') :]
    _, done = run(tmp_path, writer=bare)
    assert (done.code, done.json["verified"]) == (0, False)
    assert done.json["verification"]["tool"] is None
    again = pulsus_here(tmp_path, "run", "things", "--input", f"path={tmp_path / 'x'}", "--yes")
    assert "is not verified: system/count/things declares no `Verify:`" in again.err


LAZY_READER = READER.replace(b"path: str", b"path: str = ''").replace(
    b'Path(path).read_text(encoding="utf-8")', b'"mark"'
)


def with_call(call):
    """Return the writer with another call under `Verify:`."""
    end = WRITER.index(b'"""\n\nfrom')
    return WRITER[: WRITER.index(b"Verify:")] + f"Verify: {call}\n".encode() + WRITER[end:]


@pytest.mark.parametrize("expect", ["", " expect {...: ...}"])
def test_a_read_that_has_nothing_to_do_with_the_write_is_not_said_to_verify_it(tmp_path, expect):
    writer = with_call("system/check/mark_facts {}" + expect).replace(b"if not dry_run:", b"if 0:")
    written, done = run(tmp_path, writer=writer, reader=LAZY_READER)
    assert (done.code, written, done.json["verified"]) == (0, False, False), done.out
    assert done.json["verification"]["tool"] is None
    again = pulsus_here(tmp_path, "run", "things", "--input", f"path={tmp_path / 'x'}", "--yes")
    assert "the change is verified" not in again.err
    assert "is not verified: `Verify:` of system/count/things uses no input" in again.err


ALONE = 'system/check/mark_facts {path: "{{output.path}}"}'


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (ALONE, "mark"),
        (ALONE + " expect {text: ..., ...: ...}", "mark"),
        (ALONE + ' expect {text: "{{input.text}}", ...: ...}', "..."),
    ],
    ids=["no expect", "no value", "a value that is the wildcard"],
)
def test_a_read_that_compares_nothing_is_not_said_to_verify_the_write(tmp_path, call, text):
    writer = with_call(call).replace(b"if not dry_run:", b"if 0:")
    (tmp_path / "mark").write_text("older", encoding="utf-8")
    _, done = run(tmp_path, "--input", f"text={text}", writer=writer)
    reason = "system/check/mark_facts ran without an error and compared nothing"
    assert (done.code, done.json["verified"]) == (0, False), done.out
    assert done.json["verification"]["tool"] is None
    assert done.json["verification"]["reason"].startswith(reason)
    inputs = (f"path={tmp_path / 'mark'}", "--input", f"text={text}")
    again = pulsus_here(tmp_path, "run", "things", "--input", *inputs, "--yes")
    assert "the change is verified" not in again.err
    assert f"is not verified: {reason}" in again.err


def test_a_read_that_compares_nothing_and_fails_is_an_error(tmp_path):
    _, done = run(tmp_path, writer=with_call(ALONE).replace(b"if not dry_run:", b"if 0:"))
    assert (done.code, done.json["error"]["code"]) == (1, "WRITE_UNVERIFIED")


def test_tools_check_names_a_write_whose_verify_compares_nothing(tmp_path):
    promoted(tmp_path, READER, target=FACTS)
    promoted(tmp_path, with_call(ALONE))
    done = pulsus_here(tmp_path, "tools", "check", "--output", "json")
    (found,) = [f for f in done.json["findings"] if f["code"].startswith("VERIFY_")]
    assert (found["code"], found["level"]) == ("VERIFY_NO_VALUE", "warning")


def test_a_read_that_fails_is_an_error_also_if_it_has_nothing_to_do_with_the_write(tmp_path):
    reader = LAZY_READER.replace(b'"ok": True', b'"ok": False')
    _, done = run(tmp_path, writer=with_call("system/check/mark_facts {}"), reader=reader)
    assert (done.code, done.json["error"]["code"]) == (1, "WRITE_UNVERIFIED")


def test_tools_check_names_a_write_that_an_unrelated_read_verifies(tmp_path):
    promoted(tmp_path, LAZY_READER, target=FACTS)
    promoted(tmp_path, with_call('system/check/mark_facts {} expect {text: "mark", ...: ...}'))
    done = pulsus_here(tmp_path, "tools", "check", "--output", "json")
    codes = [f["code"] for f in done.json["findings"]]
    assert "VERIFY_UNRELATED" in codes
    assert "VERIFY_MISSING" not in codes


def test_a_write_that_fails_is_not_verified(tmp_path):
    failing = WRITER.replace(b"if not dry_run:", b"raise OSError\n    if not dry_run:")
    promoted(tmp_path, failing)
    done = pulsus_here(
        tmp_path, "run", "things", "--input", "path=/tmp/x", "--yes", "--output", "json"
    )
    assert (done.code, done.json["error"]["code"]) == (1, "EXECUTION_FAILED")


APPROVED = WRITER.replace(b"Target: path", b"Target: path\nApproval: approver")


def test_yes_alone_does_not_stand_for_an_approver(tmp_path):
    promoted(tmp_path, APPROVED)
    args = ("run", "things", "--input", f"path={tmp_path / 'm'}", "--yes", "--output", "json")
    done = pulsus_here(tmp_path, *args)
    assert (done.code, (tmp_path / "m").exists()) == (4, False)
    assert done.json["error"]["code"] == "APPROVAL_REQUIRED"
    assert "type the target" in done.json["error"]["hint"]


@pytest.mark.seconds
@pytest.mark.parametrize(("typed", "code"), [("{}", 0), ("y", 4), ("", 4)])
def test_an_approver_types_the_target(typed, code, tmp_path):
    promoted(tmp_path, READER, target=FACTS)
    promoted(tmp_path, APPROVED)
    mark = str(tmp_path / "m")
    args = ["run", "things", "--input", f"path={mark}"]
    done, shown = talk(tmp_path, args, (f"{mark}: ", typed.format(mark) + "\n"))
    assert (done, (tmp_path / "m").exists()) == (code, code == 0), shown
    consents = [r.data["consent"] for r in each(tmp_path / ".pulsus/audit") if r.kind == "run"]
    assert consents == (["typed"] if code == 0 else [])


def test_a_dry_run_needs_no_approver(tmp_path):
    promoted(tmp_path, APPROVED)
    args = ("run", "things", "--input", "path=/tmp/m", "--input", "dry_run=true")
    assert pulsus_here(tmp_path, *args).code == 0


def promote(project, source, name="things"):
    path = project / f"{name}.py"
    path.write_bytes(source)
    args = ("promote", path, "--domain", "system", "--action", "count", "--yes")
    return pulsus_here(project, *args, "--output", "json")


@pytest.mark.sandbox
@pytest.mark.seconds
def test_a_new_write_is_promoted_only_with_a_check_that_fits_the_catalogue(tmp_path):
    need_sandbox()
    project = make(tmp_path)
    bare = WRITER[: WRITER.index(b"Verify:")] + WRITER[WRITER.index(b'"""\n\nfrom') :]
    done = promote(project, bare)
    assert (done.code, done.json["error"]["code"]) == (3, "VERIFY_MISSING")
    assert "Verify: " in done.json["error"]["hint"]
    done = promote(project, WRITER)
    assert (done.code, done.json["error"]["code"]) == (3, "VERIFY_INVALID")
    assert "there is no tool system/check/mark_facts" in done.json["error"]["message"]
    promoted(project, READER, target=FACTS)
    call = 'system/check/mark_facts {path: "/etc/hostname"} expect {ok: true, ...: ...}'
    done = promote(project, with_call(call))
    assert (done.code, done.json["error"]["code"]) == (3, "VERIFY_UNRELATED")
    done = promote(project, WRITER)
    assert done.code == 0, done.out
    assert promote(project, bare).code == 0  # it was promoted before: an old tool stays usable


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b"", b"", None),
        (b'path: "{{output.path}}"', b"", "VERIFY_INVALID"),
        (b'{path: "', b'{paths: "', "VERIFY_INVALID"),
        (b'{path: "{{output.path}}"', b"{path: 1", "VERIFY_INVALID"),
        (b'{path: "{{output.path}}"', b'{path: "{{output.bytes}}"', "VERIFY_INVALID"),
        (b"check/mark_facts", b"count/things", "VERIFY_INVALID"),
        (b"check/mark_facts", b"check/mark_fact", "VERIFY_INVALID"),
        (b"Verify:", b"Undo:", None),
        (b"Verify: system/check/mark_facts", b"Undo: system/count/things", None),
    ],
)
def test_tools_check_names_a_call_that_does_not_fit_the_catalogue(old, new, code, tmp_path):
    promoted(tmp_path, READER, target=FACTS)
    source = WRITER.replace(old, new)
    promoted(tmp_path, source.split(b"\n    expect")[0] + source[source.index(b'\n"""\n\nfrom') :])
    done = pulsus_here(tmp_path, "tools", "check", "--output", "json")
    found = [f["code"] for f in done.json["findings"] if "_INVALID" in f["code"]]
    assert set(found) == ({code} if code else set())


def test_tools_check_names_a_write_that_nothing_verifies(tmp_path):
    bare = WRITER[: WRITER.index(b"Verify:")] + WRITER[WRITER.index(b'"""\n\nfrom') :]
    promoted(tmp_path, bare)
    done = pulsus_here(tmp_path, "tools", "check", "--output", "json")
    assert "VERIFY_MISSING" in [f["code"] for f in done.json["findings"]]


COPY = Target("system", "copy", "copy_mark")


def copied_mark(project, returns, writer=WRITER):
    """Promote a composition that reads a mark and leaves it elsewhere, and run it."""
    promoted(project, READER, target=FACTS)
    promoted(project, writer)
    tools = [read(READER, FACTS), read(writer, Target("system", "count", "things"))]
    steps = (
        PlanStep(
            "s1", tools[0].id, {"path": ParamRef("source")}, {"text": "text"}, tools[0].sha256
        ),
        PlanStep(
            "s2",
            tools[1].id,
            {"path": ParamRef("path"), "text": OutputRef("s1", "text")},
            {"mark": "path", "size": "bytes"},
            tools[1].sha256,
        ),
    )
    plan = Plan("Copy a mark.", steps, ("source", "path"), returns)
    promoted(project, render_module(plan, tools).encode(), target=COPY)
    (project / "old").write_text("old mark", encoding="utf-8")
    inputs = ("--input", f"source={project / 'old'}", "--input", f"path={project / 'new'}")
    done = pulsus_here(project, "run", "copy_mark", *inputs, "--yes", "--output", "json")
    assert (project / "new").read_text("utf-8") == "old mark"
    return done


def read(source, target):
    path = target.path(Path("/w"))
    names = {"domain": target.domain, "action": target.action, "name": target.name}
    return read_tool(source, path=path, tool_id=target.tool_id, max_bytes=10_000, **names)


@pytest.mark.seconds
@pytest.mark.parametrize("returns", [("text", "mark", "size"), ("mark", "size")])
def test_a_writing_step_is_verified_with_its_own_values_also_if_they_are_not_returned(
    tmp_path, returns
):
    done = copied_mark(tmp_path, returns)
    assert (done.code, done.json["verified"]) == (0, True), done.out
    assert done.json["confinement"]["writes"] == "by step"


def test_a_verify_with_a_bare_name_is_refused_with_the_whole_id_of_the_tool(tmp_path):
    folder = make(tmp_path / "project")
    wrong = folder / "leave_mark.py"
    wrong.write_bytes(WRITER.replace(b"system/check/mark_facts", b"count_words"))
    told = "'count_words' is no whole tool id: write `text/count/count_words`"
    for more in ((), ("-v",), ("--output", "github")):
        done = pulsus_here(folder, "validate", wrong, *more)
        assert (done.code, told in done.out) == (3, True), done.out
    shutil.copy(wrong, folder / "workflows/domains/text/count/leave_mark.py")
    assert told in pulsus_here(folder, "tools", "check").out


def with_undo(inputs):
    """Return the writer with an undo that calls itself with these inputs."""
    undo = f"Target: path\nUndo: system/count/things {inputs}".encode()
    return WRITER.replace(b"Target: path", undo)


def test_a_verified_write_says_the_command_that_takes_it_back(tmp_path):
    promoted(tmp_path, READER, target=FACTS)
    promoted(tmp_path, with_undo('{path: "{{output.path}}", text: "it\'s old"}'))
    mark = tmp_path / "mark"
    done = pulsus_here(tmp_path, "run", "things", "--input", f"path={mark}", "--yes")
    assert done.code == 0, done.err
    command = done.err.partition("to take it back: pulsus ")[2].splitlines()[0]
    assert pulsus_here(tmp_path, *shlex.split(command), "--yes").code == 0
    assert mark.read_text(encoding="utf-8") == "it's old"
    there = ("--project", str(tmp_path))
    done = pulsus_here(tmp_path, "run", "things", "--input", f"path={mark}", "--yes", *there)
    assert f" --project {tmp_path}\n" in done.err.partition("to take it back: ")[2]
    dry = ("--input", f"path={mark}", "--input", "dry_run=true")
    assert "to take it back" not in pulsus_here(tmp_path, "run", "things", *dry).err


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ('{path: "{{output.path}}", text: "{{input.text}}"}', "password=Sup3rS3cretValue99"),
        ('{path: "{{output.path}}", text: "{{input.text}}"}', "x" * 3000),
        ('{path: "{{output.path}}", text: "{{input.text}}"}', "a\x1b[2Jb"),
    ],
    ids=["a secret", "too long", "a control character"],
)
def test_a_command_that_cannot_be_shown_whole_is_not_told(inputs, text, tmp_path):
    promoted(tmp_path, READER, target=FACTS)
    promoted(tmp_path, with_undo(inputs))
    given = ("--input", f"path={tmp_path / 'mark'}", "--input", f"text={text}")
    done = pulsus_here(tmp_path, "run", "things", *given, "--yes")
    assert (tmp_path / "mark").exists()
    assert "to take it back" not in done.err
