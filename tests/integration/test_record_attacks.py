"""A writer of the repository or of `.pulsus/` gets nothing run that no person approved (ADR 31)."""

import hashlib
import json
import re
import shutil
import subprocess

import pytest

from pulsus.cli.catalogue import audit_records
from pulsus.core.storage.decision_log import log_record
from pulsus.core.storage.records.promotion_target import Target
from pulsus.errors import StateCorrupt
from pulsus.execution.confinement.kernel_support import find_support
from tests.decisions import append, as_in_a_clone, each, head
from tests.project import pulsus_here
from tests.promotions import promoted

READER = b'''"""Count the words of a text.

Args:
    text (str): The text.

Kind: read
"""


def run(text: str) -> dict:
    return {"words": len(text.split())}
'''
PLANTED = READER.replace(b"len(text.split())", b"99")
WRITER = READER.replace(b"Kind: read", b"Kind: write")
PLACE = "workflows/domains/system/count"


def rows(project):
    path = project / PLACE / "metadata.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def write(project, source, records):
    (project / PLACE / "things.py").write_bytes(source)
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in records)
    (project / PLACE / "metadata.jsonl").write_text(text, encoding="utf-8")


def named(row, source, **changes):
    """Return a forged record: the true one, with the hash of these bytes."""
    return row | {"tool_hash": f"sha256:{hashlib.sha256(source).hexdigest()}"} | changes


def planted(project, source=PLANTED, *, revision="rev-20260302-001"):
    """Add a version as a pull would, made with another machine's log."""
    old = rows(project)
    new = named(old[-1], source, id=revision, version="1.0.1")
    del new["log"]
    write(project, source, [*old, new])


def run(project, *more):
    return pulsus_here(project, "run", "things", "--input", "text=a b", "--output", "json", *more)


def code(done):
    return done.code, done.json["error"]["code"] if done.code else done.json["result"]


@pytest.fixture
def project(tmp_path):
    promoted(tmp_path, READER)
    assert code(run(tmp_path)) == (0, {"words": 2})
    return tmp_path


# The repository alone: a module and its record changed consistently.


def test_a_module_and_its_record_edited_together_are_not_run(project):
    (row,) = rows(project)
    write(project, PLANTED, [named(row, PLANTED)])
    assert code(run(project)) == (6, "RECORD_CHANGED")


def test_an_edited_module_whose_record_does_not_name_the_log_is_not_run(project):
    (row,) = rows(project)
    new = named(row, PLANTED)
    del new["log"]
    write(project, PLANTED, [new])
    assert code(run(project)) == (6, "RECORD_CHANGED")


def test_an_edited_module_with_the_record_of_another_revision_is_not_run(project):
    (row,) = rows(project)
    write(project, PLANTED, [named(row, PLANTED, id="rev-20260302-001")])
    assert code(run(project)) == (6, "RECORD_CHANGED")


def test_a_new_record_that_claims_to_be_of_this_log_is_not_run(project):
    (row,) = rows(project)
    write(project, PLANTED, [row, named(row, PLANTED, id="rev-20260302-001", version="1.0.1")])
    assert code(run(project)) == (6, "RECORD_CHANGED")


def test_a_kind_edited_from_write_to_read_is_noticed(tmp_path):
    promoted(tmp_path, WRITER)
    (row,) = rows(tmp_path)
    source = WRITER.replace(b"Kind: write", b"Kind: read")
    write(tmp_path, source, [named(row, source, kind="read")])
    assert code(run(tmp_path)) == (6, "RECORD_CHANGED")


def test_a_write_tool_of_an_unknown_record_ends_with_4_whatever_was_confirmed(tmp_path):
    promoted(tmp_path, WRITER)
    planted(tmp_path, WRITER.replace(b"len(text.split())", b"99"))
    for more in ((), ("--yes",), ("--yes", "--non-interactive")):
        done = run(tmp_path, *more)
        assert code(done) == (4, "RECORD_UNKNOWN")
        assert "pulsus audit --accept-records" in done.json["error"]["hint"]


def test_a_read_tool_of_an_unknown_record_runs_confined_only_and_with_a_warning(project):
    planted(project)
    done = run(project)
    assert re.search(
        r"count/things runs confined only: rev-\S+ is not in your decision log", done.err
    )
    assert "pulsus audit --accept-records" in done.err
    if find_support().files == "none":
        assert code(done) == (4, "CONFINEMENT_UNAVAILABLE")
    else:
        assert code(done) == (0, {"words": 99})
        assert done.json["confinement"]["files"] != "none"


@pytest.mark.parametrize(
    "contract",
    [
        b"Effects:\n    paths: none\n    hosts: evil.example:443\n    commands: none\n",
        b"Effects:\n    paths: none\n    hosts: none\n    commands: docker\n",
        b"Secrets: AWS_SECRET_ACCESS_KEY\n",
    ],
    ids=["host", "program", "secret"],
)
def test_a_read_tool_of_an_unknown_record_does_not_run_if_confinement_has_a_gap(contract, project):
    planted(project, PLANTED.replace(b"Kind: read\n", b"Kind: read\n\n" + contract))
    assert code(run(project)) == (4, "RECORD_UNKNOWN")


def test_without_confinement_no_unknown_record_runs(project):
    from pulsus import bootstrap
    from pulsus.errors import RecordUnknown
    from pulsus.routing.runs.run_checks import require_approved_records

    planted(project)
    app = bootstrap.build(project, {})
    with pytest.raises(RecordUnknown):
        require_approved_records(app, [app.tool("things")], "off")


def test_an_unknown_record_is_refused_before_a_question_about_unconfined(project):
    planted(project)
    for more in ((), ("--yes",)):
        assert code(run(project, "--unconfined", *more)) == (4, "RECORD_UNKNOWN")


def test_a_record_set_back_to_an_older_version_is_not_run(tmp_path):
    """An older version may have been replaced because it does harm."""
    promoted(tmp_path, WRITER)
    promoted(tmp_path, WRITER.replace(b"Count", b"Count all"))
    write(tmp_path, WRITER, rows(tmp_path)[:1])
    assert code(run(tmp_path, "--yes")) == (4, "RECORD_UNKNOWN")


def test_a_rollback_does_not_restore_a_planted_version(project):
    promoted(project, READER.replace(b"Count", b"Count all"))
    first, second = rows(project)
    write(project, (project / PLACE / "things.py").read_bytes(), [named(first, PLANTED), second])
    digest = hashlib.sha256(PLANTED).hexdigest()
    kept = project / PLACE / f".versions/things-{digest}.py"
    kept.parent.mkdir(exist_ok=True)
    kept.write_bytes(PLANTED)
    done = pulsus_here(project, "rollback", "things@1.0.0", "--yes", "--output", "json")
    assert code(done) == (4, "RECORD_UNKNOWN")


def test_a_step_of_an_unknown_record_counts_for_the_composition(project):
    source = b'''"""Count twice.

Args:
    text (str): The text.

Kind: read
"""

import pulsus.steps

PLAN = {"plan": {"description": "x", "steps": [{"id": "s1", "tool": "system/count/things",
    "sha256": "%s", "inputs": {"text": "{{input.text}}"}, "outputs": {"words": "words"}}]},
    "io": {"params": ["text"], "returns": ["words"]}}


def run(text: str) -> dict:
    return pulsus.steps.call("system/count/things", text=text)
''' % hashlib.sha256(PLANTED.replace(b"read", b"write")).hexdigest().encode()
    promoted(project, source, target=Target("system", "count", "twice"))
    others = [row for row in rows(project) if row["name"] == "twice.py"]
    things = [row for row in rows(project) if row["name"] == "things.py"]
    evil = PLANTED.replace(b"read", b"write")
    new = named(things[-1], evil, id="rev-20260302-001", kind="write")
    del new["log"]
    write(project, evil, [*things, *others, new])
    done = pulsus_here(project, "run", "twice", "--yes", "--input", "text=a", "--output", "json")
    assert code(done) == (4, "RECORD_UNKNOWN")


# `.pulsus/` too: a log that is removed, cut, replaced, or brought by the repository.


def test_a_removed_log_is_an_error_on_the_machine_that_kept_it(project):
    planted(project)
    shutil.rmtree(project / ".pulsus")
    done = run(project)
    assert code(done) == (1, "AUDIT_TAMPERED")
    assert "--accept-break" in done.json["error"]["hint"]
    audit = pulsus_here(project, "audit", "--output", "json")
    assert audit.code == 1
    assert "LOG_MISSING" in [f["code"] for f in audit.json["findings"]]


def test_a_log_that_was_cut_together_with_its_head_is_an_error(project):
    log = project / ".pulsus/audit/decisions-000001.jsonl"
    old_head, old_log = (log.parent / "head.json").read_bytes(), log.read_bytes()
    promoted(project, READER.replace(b"Count", b"Count all"))
    log.write_bytes(old_log)
    (log.parent / "head.json").write_bytes(old_head)
    write(project, READER, rows(project)[:1])
    assert code(run(project)) == (1, "AUDIT_TAMPERED")
    audit = pulsus_here(project, "audit", "--output", "json")
    assert "LOG_SHORTER" in [f["code"] for f in audit.json["findings"]]


def test_a_log_that_was_replaced_by_another_valid_one_is_an_error(project, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    promoted(other, PLANTED)
    shutil.rmtree(project / ".pulsus")
    shutil.copytree(other / ".pulsus", project / ".pulsus")
    write(project, PLANTED, rows(other))
    assert code(run(project)) == (1, "AUDIT_TAMPERED")
    audit = pulsus_here(project, "audit", "--output", "json")
    assert "LOG_DIFFERENT" in [f["code"] for f in audit.json["findings"]]


def test_audit_names_the_reason_why_nothing_runs_after_a_line_changed_its_length(project):
    log = project / ".pulsus/audit/decisions-000001.jsonl"
    log.write_bytes(log.read_bytes().replace(b",", b", ", 1))
    refused = run(project)
    assert code(refused) == (1, "AUDIT_TAMPERED")
    assert "(LOG_DIFFERENT)" in refused.json["error"]["message"]
    audit = pulsus_here(project, "audit", "--output", "json")
    assert {"ALTERED", "LOG_DIFFERENT"} <= {f["code"] for f in audit.json["findings"]}


def test_a_record_that_was_added_to_the_log_by_hand_approves_nothing(project):
    """There is no key: the line is valid. This user's Pulsus did not write it."""
    planted(project)
    new = rows(project)[-1]
    line = json.dumps(new, ensure_ascii=False).encode()
    key = f"{new['id']}:{hashlib.sha256(line).hexdigest()[:16]}"
    folder = project / ".pulsus/audit"
    now = head(folder)
    data = {"tool": "system/count/things", "revision": new["id"], "tool_hash": new["tool_hash"]}
    made = log_record.encode(
        now.seq + 1, "2026-03-02T00:00:00+00:00", "promote", data, key, now.hash
    )
    with (folder / "decisions-000001.jsonl").open("ab") as file:
        file.write(made)
    record, _ = log_record.decode(made[:-1])
    forged = log_record.Head(now.log, record.seq, record.hash)
    (folder / "head.json").write_bytes(log_record.head_bytes(forged))
    audit = pulsus_here(project, "audit", "--output", "json", "-v")
    codes = [f["code"] for f in audit.json["findings"]]
    assert "RECORD_UNKNOWN" in codes
    assert "LOG_AHEAD" in codes


def test_a_log_that_came_with_the_repository_approves_nothing(tmp_path):
    """A planted, valid `.pulsus/audit/` in a clone; the tool writes, so it does not run."""
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    promoted(theirs, WRITER)
    shutil.copytree(theirs, mine)
    assert code(run(mine, "--yes")) == (4, "RECORD_UNKNOWN")
    audit = pulsus_here(mine, "audit", "--output", "json")
    codes = {f["code"]: f["level"] for f in audit.json["findings"]}
    assert codes["LOG_UNSEEN"] == codes["RECORD_UNKNOWN"] == "warning"


def test_a_journal_that_came_with_the_repository_approves_nothing(tmp_path):
    """Recovery finishes an interrupted promotion; this one was never this user's."""
    promoted(tmp_path, WRITER)
    planted(tmp_path, WRITER.replace(b"len(text.split())", b"99"))
    new = rows(tmp_path)[-1]
    line = json.dumps(new, ensure_ascii=False).encode()
    key = f"{new['id']}:{hashlib.sha256(line).hexdigest()[:16]}"
    data = {"tool": "system/count/things", "revision": new["id"], "tool_hash": new["tool_hash"]}
    note = {"decisions": [{"key": key, "kind": "promote", "data": data}]}
    records = (tmp_path / PLACE / "metadata.jsonl").read_bytes()
    change = {
        "folders": ["domains", "system", "count"],
        "name": "metadata.jsonl",
        "before": None,
        "after": hashlib.sha256(records).hexdigest(),
    }
    journal = {"root": str(tmp_path / "workflows"), "files": [change], "note": note}
    (tmp_path / ".pulsus/promotion.json").write_text(json.dumps(journal), encoding="utf-8")
    with pytest.raises(StateCorrupt, match="this user did not write it on this machine"):
        promoted(tmp_path, READER, target=Target("text", "count", "words"))
    assert key not in [record.key for record in each(tmp_path / ".pulsus/audit")]
    assert code(run(tmp_path, "--yes")) == (2, "STATE_CORRUPT")
    (tmp_path / ".pulsus/promotion.json").unlink()
    promoted(tmp_path, READER, target=Target("text", "count", "words"))
    assert code(run(tmp_path, "--yes")) == (4, "RECORD_UNKNOWN")


def test_a_foreign_journal_approves_nothing_after_this_user_wrote_to_it(tmp_path):
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    promoted(theirs, WRITER)
    shutil.copytree(theirs, mine)
    promoted(mine, READER, target=Target("text", "count", "words"))
    assert code(run(mine, "--yes")) == (4, "RECORD_UNKNOWN")
    done = pulsus_here(mine, "run", "words", "--input", "text=a", "--output", "json")
    assert code(done) == (0, {"words": 1})


# What must go on working.


def test_beginning_a_log_takes_over_the_records_and_lists_them(tmp_path):
    promoted(tmp_path, WRITER)
    as_in_a_clone(tmp_path)
    assert code(run(tmp_path, "--yes"))[0] == 0  # the run is logged, and so begins a log
    first = each(tmp_path / ".pulsus/audit")[0]
    (keys,) = first.data["records"].values()
    assert keys[0].startswith(rows(tmp_path)[0]["id"])
    assert code(run(tmp_path, "--yes"))[0] == 0


def test_a_first_approved_run_does_not_take_over_all_records_without_saying_so(tmp_path):
    promoted(tmp_path, WRITER)
    promoted(tmp_path, READER, target=Target("system", "check", "other"))
    as_in_a_clone(tmp_path)
    done = run(tmp_path, "--yes")
    assert code(done)[0] == 0
    said = "also a run that you approve, begins a log that takes over all records as they are"
    assert said in " ".join(done.err.split())
    first = each(tmp_path / ".pulsus/audit")[0]
    assert len(first.data["records"]) == 2
    assert "no decision log" not in run(tmp_path, "--yes").err


def test_without_a_log_a_read_runs_with_a_warning(tmp_path):
    promoted(tmp_path, READER)
    as_in_a_clone(tmp_path)
    done = run(tmp_path)
    assert code(done) == (0, {"words": 2})
    assert "no decision log" in done.err


def test_accepting_a_break_goes_on_with_what_is_there(project):
    planted(project)
    shutil.rmtree(project / ".pulsus")
    assert pulsus_here(project, "audit", "--accept-break", "restored by hand", "--yes").code == 0
    assert code(run(project)) == (0, {"words": 99})


def test_a_crash_between_log_and_user_state_is_repaired(project):
    from pulsus.core.storage.decision_log.user_witness import Witness

    folder = project / ".pulsus/audit"
    witness = Witness.of(folder)
    before = witness.seen()
    append(project / ".pulsus", "refuse", {"code": "X"})
    after = witness.seen()
    assert before
    assert after
    log = folder / "decisions-000001.jsonl"
    whole = log.read_bytes()
    line = whole[before.size :]
    record, _ = log_record.decode(line[:-1])
    witness.intend([record], before.head, (before.segment, before.size), before.head.log)
    assert witness.match() == "same"  # the line is there
    log.write_bytes(whole[: before.size])
    (folder / "head.json").write_bytes(log_record.head_bytes(before.head))
    assert witness.match() == "same"  # it never was
    append(project / ".pulsus", "refuse", {"code": "Y"})
    assert witness.match() == "same"
    assert code(run(project)) == (0, {"words": 2})


@pytest.mark.parametrize("change", ["removed", "set back", "damaged"])
def test_a_read_warns_if_the_head_of_the_log_was_changed(project, change):
    append(project / ".pulsus", "refuse", {"code": "X"})
    path = project / ".pulsus/audit/head.json"
    before = path.read_bytes()
    append(project / ".pulsus", "refuse", {"code": "Y"})
    assert "damaged" not in run(project).err
    if change == "removed":
        path.unlink()
    else:
        path.write_bytes(before if change == "set back" else b"{}")
    done = run(project)
    assert code(done) == (0, {"words": 2})
    assert "head.json was changed or removed" in done.err
    assert "pulsus audit" in done.err


def test_an_unwritable_user_state_approves_nothing_and_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "p/.pulsus"))
    project = tmp_path / "p"
    promoted(project, WRITER)
    done = run(project, "--yes")
    assert code(done) == (4, "RECORD_UNKNOWN")
    assert "XDG_STATE_HOME" in done.err


# Accepting records.


def git(project, *args):
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", "-C", project, *who, *args], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def pulled(tmp_path):
    """A repository with a planted version, committed."""
    promoted(tmp_path, WRITER)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "workflows")
    git(tmp_path, "commit", "-qm", "one")
    planted(tmp_path, WRITER.replace(b"len(text.split())", b"99"))
    git(tmp_path, "commit", "-qam", "two")
    return tmp_path


def accept(project, *more):
    return pulsus_here(project, "audit", "--accept-records", "--output", "json", *more)


def test_accepted_records_run_and_the_log_says_who_accepted_which_commit(pulled):
    commit = git(pulled, "rev-parse", "HEAD")
    done = accept(pulled, "--expect-commit", commit)
    assert done.code == 0
    assert [each["tool"] for each in done.json["accepted"]] == ["system/count/things"]
    assert code(run(pulled, "--yes")) == (0, {"words": 99})
    (record,) = [r for r in each(pulled / ".pulsus/audit") if r.kind == "accept-records"]
    assert record.data["commit"] == commit
    assert accept(pulled, "--expect-commit", commit).json["accepted"] == []


def test_without_a_person_or_a_commit_nothing_is_accepted(pulled):
    done = accept(pulled)
    assert code(done) == (4, "RECORD_UNKNOWN")
    assert code(run(pulled, "--yes")) == (4, "RECORD_UNKNOWN")


@pytest.fixture(params=["no HOME", "a HOME that is no folder", "a place in the project"])
def homeless(request, pulled, monkeypatch):
    """A pulled project whose user has no place for approvals."""
    commit = git(pulled, "rev-parse", "HEAD")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    if request.param == "a HOME that is no folder":
        monkeypatch.setenv("HOME", "/nonexistent")
    if request.param == "a place in the project":
        monkeypatch.setenv("XDG_STATE_HOME", str(pulled / ".pulsus"))
    return pulled, commit


def test_no_record_is_called_accepted_if_this_users_approvals_cannot_be_kept(homeless):
    project, commit = homeless
    log = project / ".pulsus/audit/decisions-000001.jsonl"
    before = log.read_bytes()
    done = accept(project, "--expect-commit", commit)
    assert code(done) == (2, "USER_STATE_INVALID")
    assert log.read_bytes() == before, "nothing was decided"
    assert "not kept" not in done.err, "one cause is told once"
    refused = run(project, "--yes")
    assert code(refused) == (4, "RECORD_UNKNOWN")
    assert "XDG_STATE_HOME" in refused.json["error"]["hint"]
    assert "--accept-records" not in refused.json["error"]["hint"]
    found = pulsus_here(project, "audit", "--output", "json").json["findings"]
    (fix,) = [each["fix"] for each in found if each["code"] == "RECORD_UNKNOWN"]
    assert "XDG_STATE_HOME" in fix


def test_no_record_is_called_accepted_if_the_write_of_the_approvals_fails(pulled, monkeypatch):
    commit = git(pulled, "rev-parse", "HEAD")
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/pulsus")  # no user can make a folder there
    log = pulled / ".pulsus/audit/decisions-000001.jsonl"
    before = log.read_bytes()
    done = accept(pulled, "--expect-commit", commit)
    assert code(done) == (2, "STORAGE_UNWRITABLE")
    assert log.read_bytes() == before


def test_long_differences_are_counted_and_only_shown_on_demand(pulled, monkeypatch):
    monkeypatch.setattr(audit_records, "_MOST_LINES", 0)
    done = pulsus_here(pulled, "audit", "--accept-records")
    assert done.code == 4
    assert "the records of 1 tool are not in your decision log (1 write):" in done.out
    assert "return {" not in done.out
    assert "-v shows them for each tool" in done.err
    whole = pulsus_here(pulled, "audit", "--accept-records", "-v").out
    assert '  +    return {"words": 99}' in whole.splitlines()
    assert "says the record" in whole


@pytest.mark.parametrize("by_commit", [False, True], ids=["asked", "--expect-commit"])
def test_no_tool_is_hidden_behind_a_count_when_its_records_are_accepted(
    pulled, monkeypatch, by_commit
):
    promoted(pulled, READER, target=Target("a", "b", "reader"))
    as_in_a_clone(pulled)
    git(pulled, "add", "workflows")
    git(pulled, "commit", "-qm", "three")
    monkeypatch.setattr(audit_records, "_MOST_LINES", 0)
    monkeypatch.setattr(audit_records, "_MOST_TOOLS", 1)
    commit = ("--expect-commit", git(pulled, "rev-parse", "HEAD")) if by_commit else ()
    out = pulsus_here(pulled, "audit", "--accept-records", *commit).out
    assert "(1 write, 1 read)" in out
    (row,) = [line for line in out.splitlines() if line.startswith("system/count/things ")]
    assert "write" in row
    assert "and 1 more tool: a/b/reader" in out.splitlines()


def test_a_record_that_was_set_back_is_told_alike_by_run_and_audit_and_before_it_is_accepted(
    pulled, monkeypatch
):
    assert accept(pulled, "--expect-commit", git(pulled, "rev-parse", "HEAD")).code == 0
    git(pulled, "checkout", "-q", "HEAD~1")
    later = "the later rev-20260302-001 that you approved is missing"
    assert later in run(pulled, "--yes").json["error"]["message"]
    found = pulsus_here(pulled, "audit", "--output", "json").json["findings"]
    (told,) = [each for each in found if each["code"] == "RECORD_UNKNOWN"]
    assert later in told["reason"]
    assert "not approved by this user" not in told["reason"]
    monkeypatch.setattr(audit_records, "_MOST_LINES", -1)
    commit = git(pulled, "rev-parse", "HEAD")
    out = pulsus_here(pulled, "audit", "--accept-records", "--expect-commit", commit).out
    assert later in " ".join(out.split()), "a count of lines must not hide it"
    assert code(run(pulled, "--yes")) == (0, {"words": 2})


def test_another_commit_than_the_one_checked_out_is_not_accepted(pulled):
    for commit in (git(pulled, "rev-parse", "HEAD~1"), "0" * 40):
        assert code(accept(pulled, "--expect-commit", commit)) == (4, "RECORD_UNKNOWN")


@pytest.mark.parametrize("commit", ["HEAD", "main", "abc1234", "", "-x"])
def test_a_commit_that_is_not_written_in_full_is_a_usage_error(commit, pulled):
    assert code(accept(pulled, "--expect-commit", commit)) == (2, "USAGE")


@pytest.mark.parametrize("file", ["things.py", "metadata.jsonl"])
@pytest.mark.parametrize("staged", [False, True], ids=["changed", "staged"])
def test_files_that_are_not_as_in_the_commit_are_not_accepted(file, staged, pulled):
    path = pulled / PLACE / file
    old = path.read_bytes()
    path.write_bytes(old + (b"\n" if file == "metadata.jsonl" else b"# more\n"))
    if staged:
        git(pulled, "add", "-u")
        path.write_bytes(old)
    done = accept(pulled, "--expect-commit", git(pulled, "rev-parse", "HEAD"))
    assert code(done) == (4, "RECORD_UNKNOWN")


def test_a_record_that_the_log_contradicts_is_not_accepted_by_a_commit(project):
    (row,) = rows(project)
    git(project, "init", "-q")
    write(project, PLANTED, [named(row, PLANTED)])
    git(project, "add", "workflows")
    git(project, "commit", "-qm", "one")
    done = accept(project, "--expect-commit", git(project, "rev-parse", "HEAD"))
    assert code(done) == (6, "RECORD_CHANGED")


def test_programs_that_the_repository_names_are_not_started(pulled):
    mark = pulled / "started"
    script = pulled / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n", encoding="utf-8")
    script.chmod(0o755)
    for key in (
        *("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "gpg.ssh.program"),
        *("gpg.openpgp.program", "filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv"),
        *("core.sshCommand", "gpg.x509.program"),
    ):
        git(pulled, "config", key, str(script))
    git(pulled, "config", "core.hooksPath", str(pulled))
    (pulled / ".gitattributes").write_text("*.py filter=evil diff=evil\n", encoding="utf-8")
    commit = (pulled / ".git/refs/heads").glob("*")
    done = accept(pulled, "--expect-commit", next(commit).read_text("ascii").strip())
    assert done.code == 0, done.out
    assert not mark.exists()


def test_a_clock_that_went_back_and_an_edited_changelog_are_warnings(project):
    from datetime import UTC, datetime

    from pulsus.core.storage.decision_log import decision_log
    from pulsus.core.telemetry.redaction import Redactor

    past = datetime(2020, 1, 1, tzinfo=UTC)
    decision_log.append(project / ".pulsus", "refuse", {}, clock=lambda: past, redactor=Redactor())
    log = project / "workflows/domains/system/CHANGELOG.md"
    log.write_text(log.read_text("utf-8").replace("sha256 ", "sha256 0"), encoding="utf-8")
    done = pulsus_here(project, "audit", "--output", "json")
    found = {f["code"]: f["level"] for f in done.json["findings"]}
    assert done.code == 0
    assert found["CLOCK_SET_BACK"] == found["CHANGELOG_CHANGED"] == "warning"
