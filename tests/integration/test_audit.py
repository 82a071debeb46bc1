"""`pulsus audit`: promoted files, compositions, kept versions, decisions (spec §10, §17)."""

import hashlib
import json
import os
import shutil

import pytest

from pulsus.core.compose.plans.dsl import plan_mapping
from pulsus.core.storage.decision_log import log_record
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.telemetry import ids
from pulsus.core.types import Plan, PlanStep
from pulsus.errors import AuditTampered
from tests.decisions import append, as_in_a_clone, forget, parsed
from tests.project import pulsus_here
from tests.promotions import module, promoted, tree

TOOL = "workflows/domains/system/count/things.py"
RECORDS = "workflows/domains/system/count/metadata.jsonl"
LOG = ".pulsus/audit/decisions-000001.jsonl"


def audited(project, *options):
    return pulsus_here(project, "audit", "--output", "json", *options)


def found(project, *options, level="error"):
    return [f["code"] for f in audited(project, *options).json["findings"] if f["level"] == level]


@pytest.fixture
def project(tmp_path):
    """Two tools, one of them in its second version."""
    promoted(tmp_path, module("one"))
    promoted(tmp_path, module("two"))
    promoted(tmp_path, module("shared"), target=Target(None, "say", "hello"))
    return tmp_path


def test_an_unchanged_promotion_is_clean(project):
    done = audited(project)
    assert done.code == 0, done.out
    assert done.json["ok"] is True
    assert done.json["findings"] == []
    assert done.json["catalogue"] == {"promoted": 2, "compositions": 0, "versions": 1}
    assert done.json["log"]["records"] == 4
    assert done.json["log"]["elsewhere"] == 0


def test_a_changed_file_is_found_and_named(project):
    (project / TOOL).write_bytes(module("evil"))
    done = audited(project)
    assert done.code == 1
    assert done.json["error"]["code"] == "AUDIT_TAMPERED"
    (finding,) = done.json["findings"]
    assert (finding["code"], finding["path"], finding["tool"]) == (
        "CHANGED",
        TOOL,
        "system/count/things",
    )


def test_a_change_that_keeps_time_and_size_is_found_despite_the_index(project):
    path = project / TOOL
    audited(project)
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"two", b"six"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert found(project) == ["CHANGED"]


def test_an_older_version_put_in_place_by_hand_is_named(project):
    (project / TOOL).write_bytes(module("one"))
    (finding,) = audited(project).json["findings"]
    assert "holds the older 1.0.0" in finding["reason"]


def test_a_missing_file_a_link_and_an_unrecorded_tool_get_different_findings(project):
    (project / TOOL).unlink()
    assert found(project) == ["MISSING"]
    (project / TOOL).symlink_to(project / "workflows/shared_tools/say/hello.py")
    assert found(project) == ["UNREADABLE"]
    (project / TOOL).unlink()
    (project / TOOL).write_bytes(module("two"))
    (project / "workflows/shared_tools/say/other.py").write_bytes(module("other"))
    assert found(project) == []
    assert found(project, level="info") == ["UNRECORDED"]
    assert audited(project).code == 0


def test_a_damaged_kept_version_is_found_and_a_lost_one_is_a_warning(project):
    (old,) = (project / TOOL).parent.glob(".versions/things-*.py")
    content = old.read_bytes()
    old.write_bytes(content + b"#")
    assert found(project) == ["VERSION_CHANGED"]
    old.unlink()
    done = audited(project)
    assert (done.code, found(project, level="warning")) == (0, ["VERSION_MISSING"])


def test_records_that_cannot_be_read_are_found_with_their_line(project):
    path = project / RECORDS
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([lines[0], "nonsense", lines[1]]) + "\n", encoding="utf-8")
    (finding, *_) = [f for f in audited(project).json["findings"] if f["level"] == "error"]
    assert (finding["code"], finding["path"], finding["line"]) == ("RECORDS_UNREADABLE", RECORDS, 2)


def test_a_record_of_another_folder_is_found(project):
    path = project / RECORDS
    row = json.loads(path.read_text("utf-8").splitlines()[0])
    more = json.dumps(row | {"domain": "..", "name": "x.py"}) + "\n"
    path.write_text(path.read_text("utf-8") + more, encoding="utf-8")
    assert "RECORD_MISPLACED" in found(project)


def test_file_and_record_changed_together_are_found_by_the_log(project):
    """An attacker changes the recorded hash with the tool. Only the log has the old one."""
    evil = module("evil")
    (project / TOOL).write_bytes(evil)
    path = project / RECORDS
    *older, last = path.read_text("utf-8").splitlines()
    row = json.loads(last) | {"tool_hash": f"sha256:{hashlib.sha256(evil).hexdigest()}"}
    path.write_text("\n".join([*older, json.dumps(row)]) + "\n", encoding="utf-8")
    assert found(project) == ["RECORD_CHANGED"]


def test_a_record_that_an_altered_log_lost_is_not_blamed_on_the_catalogue(project):
    path = project / LOG
    path.write_bytes(path.read_bytes().replace(b'"version":"1.0.1"', b'"version":"1.0.2"'))
    fixes = {f["code"]: f["fix"] for f in audited(project).json["findings"]}
    assert set(fixes) == {"ALTERED", "LOG_CUT", "RECORD_CHANGED"}
    assert "restore metadata.jsonl" not in fixes["RECORD_CHANGED"]
    assert "put the log back from a backup" in fixes["RECORD_CHANGED"]


def test_a_missing_record_is_a_warning_because_of_branch_switches(project):
    path = project / RECORDS
    path.write_text(path.read_text("utf-8").splitlines()[0] + "\n", encoding="utf-8")
    (project / TOOL).write_bytes(module("one"))
    done = audited(project)
    assert done.code == 0
    (gone,) = [each for each in done.json["findings"] if each["code"] == "RECORD_GONE"]
    assert gone["level"] == "warning"
    assert "pulsus audit --accept-break REASON" in gone["fix"]
    assert audited(project, "--accept-break", "it was taken back", "--yes").code == 0
    assert "RECORD_GONE" not in found(project, level="warning")


def cut(project, keep):
    """The log cut to its first records, its head rewritten to match."""
    folder = project / ".pulsus/audit"
    lines = (project / LOG).read_bytes().splitlines(keepends=True)[:keep]
    (project / LOG).write_bytes(b"".join(lines))
    first, last = log_record.parse_valid(lines[0][:-1]), log_record.parse_valid(lines[-1][:-1])
    assert first
    assert last
    head = log_record.Head(first.hash, last.seq, last.hash)
    (folder / "head.json").write_bytes(log_record.head_bytes(head))


def test_a_log_cut_together_with_its_head_contradicts_the_catalogue(project):
    cut(project, 2)
    assert set(found(project)) == {"LOG_CUT", "LOG_SHORTER", "RECORD_CHANGED"}


def test_nothing_is_promoted_on_a_log_that_was_cut_together_with_its_head(project):
    """The new approval would make the log long enough again, and hide the cut."""
    append(project / ".pulsus", "approve", {"tool": "system/count/things"})
    promoted(project, module("four"))
    cut(project, 4)
    assert "LOG_CUT" in found(project)
    candidate = project / "candidate.py"
    candidate.write_bytes(module("five"))
    before = tree(project / "workflows")
    args = ("promote", str(candidate), "--domain=system", "--action=count", "--name=things")
    done = pulsus_here(project, *args, "--yes", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (1, "AUDIT_TAMPERED")
    assert tree(project / "workflows") == before


def test_no_write_tool_runs_on_a_log_that_was_cut_together_with_its_head(project):
    args = ("run", "system/count/things", "--yes", "--output", "json")
    assert pulsus_here(project, *args).json["result"] == "two"
    promoted(project, module("three"))
    cut(project, 2)
    done = pulsus_here(project, *args)
    assert (done.code, done.json["error"]["code"]) == (1, "AUDIT_TAMPERED")
    assert len((project / LOG).read_bytes().splitlines()) == 2


@pytest.mark.parametrize(
    ("end", "moved"),
    [
        pytest.param(b"\r\n", "LOG_DIFFERENT", id="converted"),
        pytest.param(b"", "LOG_SHORTER", id="emptied"),
    ],
)
def test_a_damaged_log_is_one_finding_however_many_promotions(project, end, moved):
    for number in range(8):
        promoted(project, module(f"n{number}"), target=Target("system", "count", f"n{number}"))
    log = project / LOG
    log.write_bytes(log.read_bytes().replace(b"\n", end) if end else b"")
    findings = audited(project).json["findings"]
    assert len(findings) == 3, findings
    assert moved in [f["code"] for f in findings]
    (cut,) = [f for f in findings if f["code"] == "LOG_CUT"]
    assert len(cut["records"]) == 11
    assert "so with 10 more: " in cut["reason"]


def test_a_log_that_grew_again_after_a_cut_still_differs(project):
    cut(project, 2)
    with pytest.raises(AuditTampered, match="LOG_SHORTER"):
        append(project / ".pulsus", "run", {"tool": "x"})
    forget(project)
    append(project / ".pulsus", "run", {"tool": "x"})
    append(project / ".pulsus", "run", {"tool": "y"})
    with pytest.raises(AuditTampered, match="LOG_CUT"):
        promoted(project, module("five"))
    assert "LOG_CUT" in found(project)


def test_a_cut_at_the_end_contradicts_an_expected_head(project):
    append(project / ".pulsus", "run", {"tool": "x"})
    head = audited(project).json["log"]["head"]
    assert audited(project, "--expect-head", head["hash"]).json["log"]["expected_seq"] == 5
    cut(project, 4)
    assert found(project) == ["LOG_SHORTER"], "this user wrote what is missing"
    forget(project)
    assert found(project) == [], "nothing in the catalogue knows of it"
    assert found(project, "--expect-head", head["hash"]) == ["HEAD_UNKNOWN"]


def test_the_hint_for_an_unknown_head_names_nothing_that_does_nothing(project):
    done = audited(project, "--expect-head", "a" * 64)
    (finding,) = done.json["findings"]
    assert "compare the hash with the one you kept" in finding["fix"]
    assert "--accept-break" not in finding["fix"], "without damage it answers: nothing to accept"
    assert done.json["log"]["head"], "the head to keep is printed"


def test_an_expected_head_stays_valid_after_more_was_logged(project):
    head = audited(project).json["log"]["head"]["hash"]
    append(project / ".pulsus", "run", {"tool": "x"})
    assert audited(project, "--expect-head", head).code == 0


@pytest.mark.parametrize("options", [["--expect-head", "abc"], ["--expect-head", "G" * 64]])
def test_an_expected_head_that_is_no_hash_is_a_usage_error(project, options):
    assert audited(project, *options).code == 2


def test_quick_and_an_expected_head_exclude_each_other(project):
    done = audited(project, "--quick", "--expect-head", "a" * 64)
    assert (done.code, done.json["error"]["code"]) == (2, "USAGE")


def test_a_fresh_checkout_without_the_log_is_a_note_and_no_error(project):
    as_in_a_clone(project)
    assert (audited(project).code, found(project, level="warning")) == (0, ["LOG_ELSEWHERE"])
    done = audited(project, "--strict")
    assert done.code == 1
    assert done.json["findings"][0]["fix"].startswith(
        "in a new clone this is normal: look at the records and accept them: "
        "pulsus audit --accept-records"
    )
    (project / TOOL).write_bytes(module("evil"))
    assert (audited(project).code, found(project)) == (1, ["CHANGED"])


def test_promotions_missing_from_the_log_are_named(project):
    """Without the names a reader cannot find one added tool among two hundred."""
    for number in range(4):
        promoted(project, module(f"n{number}"), target=Target("system", "count", f"n{number}"))
    as_in_a_clone(project)
    (finding,) = audited(project).json["findings"]
    rows = [
        (json.loads(line)["name"], json.loads(line)["id"])
        for path in sorted((project / "workflows").rglob("metadata.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    assert sorted(rows) == sorted(
        (f"{r['tool'].rpartition('/')[2]}.py", r["revision"]) for r in finding["records"]
    )
    named = [f"{r['tool']} ({r['revision']})" for r in finding["records"]]
    assert finding["reason"].endswith(f"{', '.join(named[:5])} and 2 more")
    assert finding["fix"].index("git log") < finding["fix"].index("--accept-break")


def test_the_logs_of_many_machines_are_counted_and_not_repeated(project):
    """Each log by its hash made the reason longer than the list of the promotions."""
    as_in_a_clone(project)
    (first,) = audited(project).json["findings"]
    assert "made under another decision log (" in first["reason"]
    for number, path in enumerate(sorted((project / "workflows").rglob("metadata.jsonl"))):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for place, row in enumerate(rows):
            row["log"] |= {"log": f"{number}{place}" * 32}
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = {f["code"]: f for f in audited(project).json["findings"]}["LOG_ELSEWHERE"]
    assert "made under 3 other decision logs; " in found["reason"]


def test_one_promotion_does_not_make_a_wiped_log_look_whole(project):
    """If this were a note, an attacker could remove the log, promote once, and stay hidden."""
    shutil.rmtree(project / ".pulsus")
    with pytest.raises(AuditTampered, match="LOG_MISSING") as refused:
        promoted(project, module("three"))
    assert found(project) == ["LOG_MISSING"]
    # A look at the log comes first, also where the cause may be harmless.
    assert "compare it with a backup" in refused.value.ways[0]
    assert "new clone" in refused.value.ways[1]


def test_a_log_that_begins_in_a_clone_takes_over_its_records_and_lists_them(project):
    """ADR 31: the new log adopts the records of the clone."""
    as_in_a_clone(project)
    promoted(project, module("three"))
    done = audited(project, "--strict")
    assert (done.code, found(project, "-v", level="info")) == (0, ["LOG_ELSEWHERE"])
    assert done.json["log"]["elsewhere"] == 3
    (path,) = (project / ".pulsus/audit").glob("decisions-*")
    first = parsed(path.read_bytes().splitlines(keepends=True)[0])
    assert sum(map(len, first.data["records"].values())) == 3


def test_a_record_without_a_log_reference_is_no_promotion(project):
    """A line written by hand, with the right hash of a file put beside it."""
    evil = module("evil")
    (project / TOOL).with_name("evil.py").write_bytes(evil)
    path = project / RECORDS
    text = path.read_text("utf-8")
    row = json.loads(text.splitlines()[-1])
    digest = f"sha256:{hashlib.sha256(evil).hexdigest()}"
    row |= {"name": "evil.py", "id": "rev-20260301-009", "tool_hash": digest}
    del row["log"]
    path.write_text(text + json.dumps(row) + "\n", encoding="utf-8")
    assert found(project) == []
    warned = ["CHANGELOG_CHANGED", "LOG_ELSEWHERE", "RECORD_UNKNOWN"]
    assert found(project, level="warning") == warned
    done = audited(project, "--strict")
    assert done.code == 1
    fixes = {each["code"]: each for each in done.json["findings"]}
    assert fixes["LOG_ELSEWHERE"]["reason"].startswith(
        "1 promotion was made without a decision log"
    )
    # Two findings on one record must not send the reader to two different commands.
    first = fixes["LOG_ELSEWHERE"]["fix"]
    assert first.index("--accept-records") < first.index("--accept-break")
    assert "--accept-records" in fixes["RECORD_UNKNOWN"]["fix"]


def test_a_record_that_lost_its_log_reference_is_found(project):
    path = project / RECORDS
    *older, last = path.read_text("utf-8").splitlines()
    row = json.loads(last)
    del row["log"]
    path.write_text("\n".join([*older, json.dumps(row)]) + "\n", encoding="utf-8")
    assert found(project) == ["RECORD_CHANGED"]


def test_a_log_without_its_head_is_not_reported_as_missing(project):
    (project / ".pulsus/audit/head.json").unlink()
    done = pulsus_here(project, "audit")
    assert done.code == 1
    assert "HEAD_MISSING" in done.out
    assert "4 records in 1 segment, and no head: nothing shows whether records" in done.out
    assert "decision log: none" not in done.out
    assert found(project) == ["HEAD_MISSING"], "its promotions are still compared"


def test_a_missing_log_folder_is_an_error_with_a_hint(project):
    shutil.rmtree(project / ".pulsus/audit")
    done = audited(project)
    (finding,) = [f for f in done.json["findings"] if f["level"] == "error"]
    assert (done.code, finding["code"]) == (1, "LOG_MISSING")
    assert "--accept-break" in finding["fix"]


def accepted(project, *more):
    return audited(project, "--accept-break", "the disk was replaced", "--yes", *more)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda p: (p / ".pulsus/audit/head.json").unlink(), id="head gone"),
        pytest.param(lambda p: shutil.rmtree(p / ".pulsus/audit"), id="log gone"),
        pytest.param(lambda p: shutil.rmtree(p / ".pulsus"), id="state gone"),
        pytest.param(lambda p: cut(p, 2), id="cut with its head"),
        pytest.param(lambda p: alter(p), id="altered"),
        pytest.param(lambda p: (p / LOG).write_bytes(b"nonsense\n"), id="overwritten"),
    ],
)
def test_an_accepted_break_is_clean_and_promotions_continue(project, spoil):
    spoil(project)
    assert audited(project, "--strict").code == 1
    done = accepted(project)
    assert done.code == 0, done.out
    (one,) = done.json["log"]["accepted"]
    assert one["reason"] == "the disk was replaced"
    assert one["by"]
    assert one["damages"] + one["promotions"] > 0
    promoted(project, module("after"), clock=ids.utc_now)
    assert audited(project, "--strict").code == 0
    (project / TOOL).write_bytes(module("evil"))
    assert found(project) == ["CHANGED"], "files are held against their records as ever"


def test_a_record_changed_after_an_acceptance_is_found(project):
    cut(project, 2)
    accepted(project)
    path = project / RECORDS
    path.write_text(path.read_text("utf-8").replace("alice", "mallory"), encoding="utf-8")
    assert found(project) != []


def test_a_break_is_not_accepted_by_a_user_who_can_keep_no_approvals(project, monkeypatch):
    """The new log was one that this user did not write: with HOME it was LOG_DIFFERENT."""
    alter(project)
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    done = accepted(project)
    assert (done.code, done.json["error"]["code"]) == (2, "USER_STATE_INVALID")
    assert "HOME is not set" in done.json["error"]["message"]
    assert not (project / ".pulsus/audit/decisions-000002.jsonl").exists()


def test_accepting_an_intact_log_is_refused(project):
    before = (project / LOG).read_bytes()
    assert accepted(project).code == 0
    assert (project / LOG).read_bytes() == before
    assert not (project / ".pulsus/audit/decisions-000002.jsonl").exists()


@pytest.mark.parametrize("reason", ["", "  ", "ok"])
def test_an_acceptance_without_a_reason_is_refused(project, reason):
    alter(project)
    done = audited(project, "--accept-break", reason, "--yes")
    assert (done.code, done.json["error"]["code"]) == (2, "USAGE")
    assert "a reason has at least 2 words" in done.json["error"]["message"]
    assert "ALTERED" in found(project)


def test_a_break_is_not_accepted_unless_a_person_or_yes_approves_it(project):
    alter(project)
    done = audited(project, "--accept-break", "the disk was replaced")
    assert (done.code, done.json["error"]["code"]) == (4, "APPROVAL_REQUIRED")
    assert "3 findings on the decision log would be accepted" in done.json["error"]["message"]
    assert "pulsus audit; then approve with --yes" in done.json["error"]["hint"]
    assert "ALTERED" in found(project)
    assert not (project / ".pulsus/audit/decisions-000002.jsonl").exists()


@pytest.mark.parametrize("more", [[], ["--accept-records"]], ids=["alone", "with records"])
def test_yes_approves_nothing_but_a_break(project, more):
    done = audited(project, "--yes", *more)
    assert (done.code, done.json["error"]["code"]) == (2, "USAGE")


def test_no_records_are_offered_for_acceptance_while_the_log_is_damaged(project):
    path = project / RECORDS
    row = json.loads(path.read_text("utf-8").splitlines()[-1])
    row |= {"id": "rev-20990101-001", "name": "other.py"}
    row["log"] |= {"log": "0" * 32}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    fixes = {f["code"]: f["fix"] for f in audited(project).json["findings"]}
    assert "--accept-records" in fixes["LOG_ELSEWHERE"]
    alter(project)
    fixes = {f["code"]: f["fix"] for f in audited(project).json["findings"]}
    assert "first do what is said of ALTERED, then look again: pulsus audit" in fixes.values()
    assert not [code for code, fix in fixes.items() if "--accept-records" in fix]
    told = pulsus_here(project, "audit").out.partition("what to do")[2]
    assert told.split()[0] == "ALTERED"


@pytest.mark.parametrize("option", [["--quick"], ["--expect-head", "a" * 64]])
def test_an_acceptance_checks_the_whole_log(project, option):
    alter(project)
    assert accepted(project, *option).code == 2
    assert "ALTERED" in found(project)


def alter(project):
    """One decision in the middle of the log made another."""
    path = project / LOG
    path.write_bytes(path.read_bytes().replace(b'"version":"1.0.1"', b'"version":"1.0.2"'))


@pytest.mark.parametrize("spoil", [alter, lambda p: cut(p, 2)], ids=["altered", "cut"])
def test_nothing_is_promoted_or_deprecated_onto_a_log_that_was_changed(project, spoil):
    """Its end was in order, so decisions went on as if nothing had happened."""
    spoil(project)
    before = tree(project)
    with pytest.raises(AuditTampered, match="the decision log was changed") as refused:
        promoted(project, module("three"))
    assert "pulsus audit" in refused.value.hint
    done = pulsus_here(
        project, "deprecate", "things", "--replacement", "hello", "--sunset", "2099-01-01"
    )
    assert done.code == 1, done.err
    assert "AUDIT_TAMPERED" in done.err
    after = tree(project)
    assert {k: v for k, v in after.items() if k.startswith(("workflows", ".pulsus/audit"))} == {
        k: v for k, v in before.items() if k.startswith(("workflows", ".pulsus/audit"))
    }


def test_a_flipped_byte_of_the_log_is_named_with_file_and_line(project):
    path = project / LOG
    path.write_bytes(path.read_bytes().replace(b'"version":"1.0.1"', b'"version":"1.0.2"'))
    (finding,) = [f for f in audited(project).json["findings"] if f["code"] == "ALTERED"]
    assert (finding["path"], finding["line"]) == (LOG, 3)


def composed(sha256):
    """A module that calls `things`, pinned to these bytes."""
    step = PlanStep("s1", "system/count/things", {}, {"result": "result"}, sha256)
    data = plan_mapping.plan_to_dict(Plan("Count.", (step,)))
    return (
        f'"""Count twice."""\n\nimport pulsus.steps\n\nPLAN = {data!r}\n\n\n'
        'def run():\n    return pulsus.steps.call("system/count/things")\n'
    ).encode()


def promote_composed(project, pinned):
    sha256 = hashlib.sha256(pinned).hexdigest()
    promoted(project, composed(sha256), target=Target("system", "count", "twice"))


def test_a_composition_is_checked_against_the_bytes_of_its_steps(project):
    promote_composed(project, module("two"))
    done = audited(project)
    assert (done.code, done.json["catalogue"]["compositions"]) == (0, 1)
    (project / TOOL).write_bytes(module("evil"))
    assert found(project) == ["CHANGED", "STEP_CHANGED"]
    (project / TOOL).unlink()
    assert found(project) == ["MISSING", "STEP_MISSING"]


def test_a_composition_of_an_older_step_is_out_of_date_not_tampered_with(project):
    promote_composed(project, module("one"))
    assert audited(project).code == 0
    assert found(project, level="warning") == ["STEP_OLDER"]


def test_a_composition_pinned_to_unknown_bytes_is_found(project):
    promote_composed(project, module("never"))
    assert found(project) == ["STEP_CHANGED"]


def test_the_audit_is_clean_after_gc_seals_the_log(project):
    config = project / "config/pulsus.toml"
    config.parent.mkdir()
    config.write_text("[audit]\nseal_days = 0\n", encoding="utf-8")
    dry = pulsus_here(project, "gc", "--dry-run", "--output", "json")
    assert dry.json["sealed"] == LOG
    done = pulsus_here(project, "gc", "--output", "json")
    assert (done.code, done.json["sealed"]) == (0, LOG)
    for options in ((), ("--quick",)):
        after = audited(project, *options)
        assert (after.code, after.json["findings"]) == (0, [])
        assert (after.json["log"]["segments"], after.json["log"]["sealed"]) == (2, 1)
    assert "sealed" not in pulsus_here(project, "gc").out


def test_gc_refuses_to_seal_a_changed_log_and_names_the_line(project):
    config = project / "config/pulsus.toml"
    config.parent.mkdir()
    config.write_text("[audit]\nseal_days = 0\n", encoding="utf-8")
    path = project / LOG
    path.write_bytes(path.read_bytes().replace(b'"version":"1.0.1"', b'"version":"1.0.2"'))
    done = pulsus_here(project, "gc", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (1, "AUDIT_TAMPERED")
    assert "decisions-000001.jsonl:3" in done.json["error"]["message"]
    assert not (project / ".pulsus/audit/decisions-000002.jsonl").exists()


@pytest.mark.seconds
def test_a_fresh_project_is_clean_and_a_starter_record_changed_later_is_found(tmp_path):
    assert pulsus_here(tmp_path, "init", "shop").code == 0
    shop = tmp_path / "shop"
    done = audited(shop, "--strict")
    assert (done.code, found(shop, level="warning")) == (0, []), done.out
    path = shop / "workflows/domains/storage/usage/metadata.jsonl"
    path.write_text(path.read_text("utf-8").replace('"stable"', '"deprecated"'), encoding="utf-8")
    assert set(found(shop)) == {"RECORD_CHANGED"}
    assert audited(shop).code == 1


@pytest.mark.parametrize(
    "command",
    [
        ("promote", "new.py", "--domain", "system", "--action", "count", "--yes"),
        ("rollback", "things@1.0.0", "--yes"),
    ],
    ids=["promote", "rollback"],
)
def test_a_damaged_log_refuses_before_validation_and_before_any_question(command, project):
    alter(project)
    (project / "new.py").write_bytes(module("new"))
    before = (project / LOG).read_bytes()
    done = pulsus_here(project, *command, "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (1, "AUDIT_TAMPERED")
    assert "--accept-break" in done.json["error"]["hint"]
    assert (project / LOG).read_bytes() == before
    assert not (project / "logs/validation").exists()
