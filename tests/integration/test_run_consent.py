"""A write tool runs only after confirmation (exit 4, `--yes`)."""

import json
import shlex
import subprocess

import pytest

from tests.decisions import as_in_a_clone, each
from tests.integration.test_terminal import talk
from tests.project import PULSUS, pulsus_here
from tests.promotions import promoted

WRITER = b'''"""Leave a mark.

Args:
    path (str): Where.
    dry_run (bool): True leaves none.

Kind: write
"""

from pathlib import Path


def run(path: str, dry_run: bool) -> dict:
    if not dry_run:
        Path(path).write_text("mark", encoding="utf-8")
    return {"written": not dry_run}
'''
UNDECLARED = WRITER.replace(b"Kind: write\n", b"")
CAREFUL = WRITER.replace(b"dry_run: bool)", b"dry_run: bool = True)")
BARE = WRITER.replace(b", dry_run: bool", b"").replace(b"not dry_run", b"True")
NAMESAKE = WRITER.replace(b"dry_run: bool)", b"dry_run: str)")


def run(project, *more):
    mark = project / "mark"
    args = ("run", "things", "--input", f"path={mark}", "--output", "json", *more)
    return mark.exists, pulsus_here(project, *args)


def consents(project):
    return [r.data["consent"] for r in each(project / ".pulsus/audit") if r.kind == "run"]


@pytest.mark.parametrize("source", [WRITER, UNDECLARED], ids=["declared", "undeclared"])
@pytest.mark.parametrize("option", [(), ("--non-interactive",)], ids=["no terminal", "option"])
def test_a_write_tool_does_not_run_non_interactively(source, option, tmp_path):
    promoted(tmp_path, source)
    written, done = run(tmp_path, "--input", "dry_run=false", *option)
    assert (done.code, written()) == (4, False)
    assert done.json["error"]["code"] == "APPROVAL_REQUIRED"
    assert "pulsus run system/count/things --input " in done.json["error"]["hint"]
    assert "--input dry_run=false --yes" in done.json["error"]["hint"]
    assert consents(tmp_path) == []


@pytest.mark.seconds
def test_a_yes_from_a_pipe_does_not_confirm_a_write_tool(tmp_path):
    promoted(tmp_path, WRITER)
    args = ("run", "things", "--input", f"path={tmp_path / 'mark'}", "--input", "dry_run=false")
    done = subprocess.run(
        [PULSUS, *args], cwd=tmp_path, input=b"y\n" * 9, capture_output=True, check=False
    )
    assert (done.returncode, (tmp_path / "mark").exists()) == (4, False)


def test_the_option_yes_confirms_a_write_tool_and_is_logged(tmp_path):
    promoted(tmp_path, WRITER)
    written, done = run(tmp_path, "--input", "dry_run=false", "--yes", "--non-interactive")
    assert (done.code, written()) == (0, True)
    assert consents(tmp_path) == ["yes"]


@pytest.mark.parametrize("source", [WRITER, UNDECLARED, CAREFUL])
def test_a_dry_run_call_counts_as_a_read(source, tmp_path):
    promoted(tmp_path, source)
    written, done = run(tmp_path, "--input", "dry_run=true")
    assert (done.code, written()) == (0, False), done.err
    assert consents(tmp_path) == ["dry_run"]


@pytest.mark.parametrize(
    ("source", "given"),
    [
        pytest.param(CAREFUL, ("--input", "dry_run=false"), id="default taken back"),
        pytest.param(CAREFUL, (), id="only by default"),
        pytest.param(BARE, (), id="no such argument"),
        pytest.param(NAMESAKE, ("--input", "dry_run=true"), id="only of that name"),
    ],
)
def test_a_call_without_a_dry_run_does_not_count_as_a_read(source, given, tmp_path):
    promoted(tmp_path, source)
    written, done = run(tmp_path, *given)
    assert (done.code, written()) == (4, False), done.err


def test_a_read_tool_that_was_observed_writing_counts_as_write_despite_its_dry_run(tmp_path):
    """The gate never tried a read tool with `dry_run` true, so the word means nothing there."""
    promoted(tmp_path, WRITER.replace(b"Kind: write", b"Kind: read"))
    path = tmp_path / "workflows/domains/system/count/metadata.jsonl"
    row = json.loads(path.read_bytes()) | {"kind": "write"}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    as_in_a_clone(tmp_path)  # the log would contradict the record
    written, done = run(tmp_path, "--input", "dry_run=true")
    assert (done.code, written()) == (4, False)
    assert done.json["error"]["code"] == "APPROVAL_REQUIRED"


@pytest.mark.seconds
@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 4), ("", 4)])
def test_a_person_at_the_terminal_is_asked(answer, code, tmp_path):
    promoted(tmp_path, WRITER)
    mark = tmp_path / "mark"
    args = ["run", "things", "--input", f"path={mark}", "--input", "dry_run=false"]
    done, shown = talk(tmp_path, args, ("[y/N]", answer + "\n"))
    assert "may change things" in shown
    assert (done, mark.exists()) == (code, code == 0)
    assert consents(tmp_path) == (["asked"] if code == 0 else [])


@pytest.mark.seconds
def test_the_environment_variable_prevents_the_question(tmp_path):
    promoted(tmp_path, WRITER)
    args = ["run", "things", "--input", "path=mark", "--input", "dry_run=false"]
    done, shown = talk(tmp_path, args, env={"PULSUS_NON_INTERACTIVE": "1"})
    assert (done, "[y/N]" in shown) == (4, False)


def offered(done, before):
    """Return the words of the command that stands behind `before` in the last line."""
    shown = " ".join(done.err.split())
    return shlex.split(shown.partition(before)[2])[1:]


def test_the_command_for_a_request_that_writes_does_not_fail_when_it_is_followed(tmp_path):
    promoted(tmp_path, WRITER)
    asked = [
        "leave a mark: count system things",
        "--input",
        f"path={tmp_path}/mark",
        "--input",
        "dry_run=false",
    ]
    done = pulsus_here(tmp_path, *asked)
    assert done.code == 0, done.err
    assert "add --run" not in done.err
    again = pulsus_here(tmp_path, *offered(done, "confirm and run it: "))
    assert (again.code, (tmp_path / "mark").exists()) == (0, True), again.err


def test_the_command_offered_at_a_terminal_where_nobody_is_asked_names_the_missing_inputs(tmp_path):
    """It was `pulsus run system/count/things` alone, which always failed."""
    promoted(tmp_path, WRITER)
    silent = {"PULSUS_NON_INTERACTIVE": "1"}
    _, shown = talk(tmp_path, ["leave a mark: count system things"], env=silent)
    offer = "run it: pulsus run system/count/things --input path=… --input dry_run=…"
    assert offer in " ".join(shown.split())


def test_a_request_whose_write_needs_an_approver_is_not_offered_the_option_yes(tmp_path):
    strict = WRITER.replace(b"Kind: write\n", b"Kind: write\nApproval: approver\n")
    promoted(tmp_path, strict)
    given = ["--input", f"path={tmp_path}/mark", "--input", "dry_run=false"]
    done = pulsus_here(tmp_path, "leave a mark: count system things", *given)
    words = offered(done, "run it at a terminal and type its target: ")
    assert (words[0], "--yes" in words) == ("run", False), done.err
