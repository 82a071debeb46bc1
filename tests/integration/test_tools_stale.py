"""`pulsus tools check --stale`: runs, owners and moved steps of a real project."""

import os
import time

import pytest

from tests.project import make, pulsus, pulsus_here

TOOL = "text/count/count_words"
PATH = "workflows/domains/text/count/count_words.py"

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]


@pytest.fixture
def project(tmp_path):
    folder = make(tmp_path)
    place = ("--domain", "text", "--action", "count")
    assert pulsus(folder, "promote", PATH, *place, "--yes").code == 0
    return folder


def backdate(project):
    """Let the promotion be of 2020. The record no longer is as it was logged: nothing runs it."""
    record = project / "workflows/domains/text/count/metadata.jsonl"
    text = record.read_text(encoding="utf-8")
    year = text.partition('"created_at": "')[2][:4]
    record.write_text(text.replace(f'"created_at": "{year}', '"created_at": "2020'), "utf-8")


def stale(project, *more):
    done = pulsus(project, "tools", "check", "--stale", "30", "--output", "json", *more)
    return {f["code"]: f for f in done.json["findings"] if f["tools"] == [TOOL]}


def test_a_tool_that_never_ran_is_a_note_while_no_run_is_recorded(project):
    assert "NEVER_RUN" not in stale(project), "a tool that was promoted today is too young"
    backdate(project)
    assert stale(project)["NEVER_RUN"]["level"] == "info"


def test_a_run_is_recorded_and_its_age_is_reported(project):
    assert pulsus(project, "run", TOOL, "--input", "text=a b").code == 0
    backdate(project)
    found = stale(project)
    assert "NEVER_RUN" not in found
    assert "NOT_RUN" not in found
    old = time.time() - 40 * 86400
    os.utime(project / ".pulsus/last_run/text.count.count_words", (old, old))
    assert stale(project)["NOT_RUN"]["fix"].startswith(f"pulsus tools remove {TOOL}")


def test_an_owner_in_the_manifest_ends_the_finding_and_is_shown(project):
    assert stale(project)["NO_OWNER"]["level"] == "warning"
    manifest = project / "workflows/domains/text/count/count_words.tool.yaml"
    manifest.write_text("owner: platform\n", encoding="utf-8")
    assert "NO_OWNER" not in stale(project)
    shown = pulsus(project, "tools", "show", TOOL, "--output", "json").json
    assert shown["owner"] == "platform"


def test_the_findings_are_in_the_text_and_the_github_output_and_strict_fails(project):
    text = pulsus(project, "tools", "check", "--stale", "30")
    assert "NO_OWNER" in text.out
    assert "`Owner: TEAM` to its docstring, or promote it again with --owner TEAM" in text.out
    annotated = pulsus(project, "tools", "check", "--stale", "30", "--output", "github")
    assert f"::warning file={PATH},title=NO_OWNER::no owner" in annotated.out
    assert "NO_OWNER" not in pulsus(project, "tools", "check").out
    assert pulsus(project, "tools", "check", "--stale", "30", "--strict").code == 3


@pytest.mark.parametrize("days", ["0", "-1", "x", "99999999"])
def test_days_that_are_no_number_of_days_are_refused(days, project):
    assert pulsus(project, "tools", "check", "--stale", days).code == 2


def test_progress_of_the_check_is_shown_on_a_terminal_only_and_is_erased(project, monkeypatch):
    from pulsus.cli import console

    args = ("tools", "check", "--stale", "30")
    assert "asking for each tool" not in pulsus_here(project, *args).err
    monkeypatch.setattr(console, "is_terminal", lambda stream: True)
    monkeypatch.setattr(console, "_PROGRESS_FROM", 1)
    monkeypatch.setattr(console, "_PROGRESS_STEP", 1)
    done = pulsus_here(project, *args)
    assert "\rasking for each tool: 1 of " in done.err
    assert "\rcomparing the intents" in done.err  # the line before it was erased
    assert "asking for each tool" not in done.out
    assert "asking for each tool" not in pulsus_here(project, *args, "-q").err
