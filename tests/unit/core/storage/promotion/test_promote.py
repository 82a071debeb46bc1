"""Promotion (spec §10, §17)."""

import json
import os
import re
from dataclasses import replace
from datetime import timedelta

import filelock
import pytest

from pulsus.core.storage.decision_log import log_rotation
from pulsus.core.storage.promotion import promote
from pulsus.core.storage.records import promotion_records
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import ValidatedModule
from pulsus.errors import (
    Busy,
    MetadataCorrupt,
    StateCorrupt,
    TargetRefused,
    ValidationFailed,
    WorkflowsMissing,
)
from tests.promotions import (
    CONTEXT,
    NOON,
    module,
    promoted,
    report,
    store_of,
    tool,
    tree,
    validated,
)

CANONICAL = [
    "id",
    "run_id",
    "route_id",
    "name",
    "domain",
    "action",
    "description",
    "status",
    "created_by",
    "created_at",
    "version",
    "tool_hash",
    "tokens_estimate",
    "model",
    "rag",
]

THINGS = "workflows/domains/system/count/things.py"
RECORDS = "workflows/domains/system/count/metadata.jsonl"
LOG = "workflows/domains/system/CHANGELOG.md"


def records(project, path=RECORDS):
    return promotion_records.read_records(project / path)


def test_the_first_promotion_writes_module_record_and_changelog(tmp_path):
    done = promoted(tmp_path)
    assert (done.revision, done.version, done.created) == ("rev-20260301-001", "1.0.0", True)
    assert done.path == tmp_path / THINGS
    assert done.path.read_bytes() == module()
    assert done.tool_id == "system/count/things"
    assert [r.id for r in records(tmp_path)] == [done.revision]
    text = (tmp_path / LOG).read_text(encoding="utf-8")
    assert "## system/count/things 1.0.0 - 2026-03-01\n\n### Added\n\n- Count things." in text


def test_a_record_has_every_canonical_field_in_the_order_of_the_spec(tmp_path):
    context = replace(
        CONTEXT,
        model={"provider": "openai", "name": "m", "temperature": 0.3},
        rag={"enabled": True, "index": "docs_v1"},
        tokens_estimate=1340,
    )
    promoted(tmp_path, context=context)
    row = json.loads((tmp_path / RECORDS).read_text(encoding="utf-8"))
    assert [*row] == [*CANONICAL, "approved_by", "proof", "kind", "log"]
    assert row["name"] == "things.py"
    assert (row["domain"], row["action"]) == ("system", "count")
    assert row["status"] == "stable"
    assert re.fullmatch(r"pulsus_v\d+\.\d+\.\d+", row["created_by"])
    assert row["created_at"] == "2026-03-01T12:00:00+00:00"
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", row["tool_hash"])
    assert row["tokens_estimate"] == 1340
    assert row["model"] == {"provider": "openai", "name": "m", "temperature": 0.3}
    assert row["rag"] == {"enabled": True, "index": "docs_v1"}
    assert (row["approved_by"], row["proof"], row["kind"]) == ("alice", "shape", "read")


def test_the_same_name_and_hash_again_changes_nothing(tmp_path):
    first = promoted(tmp_path)
    before = tree(tmp_path / "workflows")
    again = promoted(tmp_path, clock=lambda: NOON + timedelta(days=3))
    assert again == replace(first, created=False)
    assert tree(tmp_path / "workflows") == before


def test_the_same_name_with_other_bytes_is_one_patch_more(tmp_path):
    promoted(tmp_path)
    second = promoted(tmp_path, module("two"))
    assert (second.version, second.revision) == ("1.0.1", "rev-20260301-002")
    assert (tmp_path / THINGS).read_bytes() == module("two")
    log = (tmp_path / LOG).read_text(encoding="utf-8")
    assert log.index("things 1.0.1") < log.index("things 1.0.0")
    assert "### Changed" in log


def test_older_bytes_coming_back_are_a_new_revision(tmp_path):
    promoted(tmp_path)
    promoted(tmp_path, module("two"))
    third = promoted(tmp_path)
    assert (third.version, third.created) == ("1.0.2", True)
    assert records(tmp_path)[-1].tool_hash == records(tmp_path)[0].tool_hash


def test_a_module_already_in_place_is_only_recorded(tmp_path):
    place = tmp_path / THINGS
    place.parent.mkdir(parents=True)
    place.write_bytes(module())
    inode = place.stat().st_ino
    assert promoted(tmp_path).created
    assert place.stat().st_ino == inode
    assert len(records(tmp_path)) == 1


def test_a_recorded_module_that_went_missing_is_restored_without_a_new_record(tmp_path):
    promoted(tmp_path)
    (tmp_path / THINGS).unlink()
    assert not promoted(tmp_path).created
    assert (tmp_path / THINGS).read_bytes() == module()
    assert len(records(tmp_path)) == 1


def test_work_that_was_never_promoted_is_not_overwritten(tmp_path):
    place = tmp_path / THINGS
    place.parent.mkdir(parents=True)
    place.write_bytes(b"# somebody's own\n")
    before = tree(tmp_path / "workflows")
    with pytest.raises(TargetRefused, match="never promoted"):
        promoted(tmp_path)
    assert tree(tmp_path / "workflows") == before
    assert promoted(tmp_path, replace_unrecorded=True).created


def test_revisions_are_unique_over_the_whole_catalogue_and_start_anew_each_day(tmp_path):
    ids = [
        promoted(tmp_path, target=Target(domain, "count", "things")).revision
        for domain in ("system", "network", None)
    ]
    assert ids == [f"rev-20260301-{n:03d}" for n in (1, 2, 3)]
    tomorrow = promoted(tmp_path, module("two"), clock=lambda: NOON + timedelta(days=1))
    assert tomorrow.revision == "rev-20260302-001"


@pytest.mark.parametrize("sealed", [False, True])
def test_a_revision_whose_record_was_taken_out_is_not_given_again(tmp_path, sealed):
    promoted(tmp_path)
    done = promoted(tmp_path, module("two"))
    lines = (tmp_path / RECORDS).read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / RECORDS).write_text(lines[0], encoding="utf-8")
    if sealed:
        later = NOON + timedelta(days=1)
        log_rotation.seal_segment(tmp_path / ".pulsus", before=later, clock=lambda: later)
    other = promoted(tmp_path, target=Target("system", "measure", "others"))
    assert (done.revision, other.revision) == ("rev-20260301-002", "rev-20260301-003")


def test_a_shared_tool_goes_to_shared_tools_with_its_own_changelog(tmp_path):
    done = promoted(tmp_path, target=Target(None, "count", "things"))
    assert done.tool_id == "shared/count/things"
    assert done.path == tmp_path / "workflows/shared_tools/count/things.py"
    assert records(tmp_path, "workflows/shared_tools/count/metadata.jsonl")[0].domain == "shared"
    assert (tmp_path / "workflows/shared_tools/CHANGELOG.md").is_file()


@pytest.mark.parametrize(
    "forge",
    [
        pytest.param(lambda s: s, id="bytes"),
        pytest.param(lambda s: report(s), id="a report"),
        pytest.param(lambda s: type("V", (ValidatedModule,), {})(s, tool(s), report(s)), id="sub"),
    ],
)
def test_nothing_but_a_validated_module_is_promoted(tmp_path, forge):
    (tmp_path / "workflows").mkdir()
    with pytest.raises(TypeError, match="only a ValidatedModule"):
        promote.promote(
            forge(module()),
            target=Target("system", "count", "things"),
            store=store_of(tmp_path, lock_seconds=1),
            context=CONTEXT,
        )
    assert tree(tmp_path / "workflows") == {}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"report": report(module(), ok=False, verdict="refused")}, id="refused"),
        pytest.param({"report": report(module(), ok=False, verdict="unverified")}, id="unverified"),
        pytest.param({"source": module("two")}, id="other bytes"),
    ],
)
def test_a_forged_validated_module_is_refused(tmp_path, monkeypatch, change):
    forged = validated()
    for name, value in change.items():
        object.__setattr__(forged, name, value)
    monkeypatch.setattr("tests.promotions.validated", lambda source: forged)
    with pytest.raises(ValidationFailed):
        promoted(tmp_path)
    assert tree(tmp_path / "workflows") == {}


@pytest.mark.parametrize("link", ["domains", "domains/system", "domains/system/count"])
def test_a_linked_folder_on_the_way_is_refused(tmp_path, link):
    outside = tmp_path / "outside"
    outside.mkdir()
    place = tmp_path / "workflows" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(outside, target_is_directory=True)
    with pytest.raises(TargetRefused, match="is a link"):
        promoted(tmp_path)
    assert tree(outside) == {}


@pytest.mark.parametrize("name", [THINGS, RECORDS, LOG])
def test_a_linked_file_is_refused_and_its_target_untouched(tmp_path, name):
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"")
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).symlink_to(outside)
    with pytest.raises(TargetRefused):
        promoted(tmp_path)
    assert outside.read_bytes() == b""


@pytest.mark.parametrize("kind", ["folder", "fifo"])
def test_something_else_where_the_module_should_be_is_refused(tmp_path, kind):
    place = tmp_path / THINGS
    place.parent.mkdir(parents=True)
    place.mkdir() if kind == "folder" else os.mkfifo(place)
    with pytest.raises(TargetRefused):
        promoted(tmp_path)


def test_nothing_is_ever_promoted_into_the_code_of_pulsus(tmp_path):
    code = tmp_path / "agents"
    (code / "pulsus").mkdir(parents=True)
    (code / "pulsus" / "__init__.py").touch()
    with pytest.raises(TargetRefused, match="own code"):
        promoted(code / "pulsus")
    with pytest.raises(TargetRefused, match="own code"):
        promoted(code)


def test_a_missing_workflows_folder_is_named(tmp_path):
    with pytest.raises(WorkflowsMissing, match="nowhere"):
        promote.promote(
            validated(),
            target=Target("system", "count", "things"),
            store=replace(store_of(tmp_path), workflows_root=tmp_path / "nowhere"),
            context=CONTEXT,
        )


def test_a_corrupt_record_anywhere_stops_promotion_before_it_changes_anything(tmp_path):
    bad = tmp_path / "workflows/domains/network/dns/metadata.jsonl"
    bad.parent.mkdir(parents=True)
    bad.write_text("{}\n", encoding="utf-8")
    before = tree(tmp_path / "workflows")
    with pytest.raises(MetadataCorrupt, match=r"metadata\.jsonl:1: 'id' must be text"):
        promoted(tmp_path)
    assert tree(tmp_path / "workflows") == before


def test_a_torn_last_record_is_repaired_by_the_next_promotion(tmp_path):
    promoted(tmp_path)
    path = tmp_path / RECORDS
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    promoted(tmp_path, module("two"))
    assert path.read_bytes().startswith(whole)
    assert [r.version for r in records(tmp_path)] == ["1.0.0", "1.0.1"]


def test_a_busy_lock_is_transient_and_changes_nothing(tmp_path):
    promoted(tmp_path)
    before = tree(tmp_path / "workflows")
    with (
        filelock.FileLock(tmp_path / ".pulsus/locks/promote.lock"),
        pytest.raises(Busy) as caught,
    ):
        promoted(tmp_path, module("two"), lock_seconds=0.05)
    assert caught.value.exit_status == 75
    assert tree(tmp_path / "workflows") == before


def test_the_candidate_goes_once_it_is_promoted(tmp_path):
    candidate = tmp_path / "workflows/_tmp/route-1.py"
    candidate.parent.mkdir(parents=True)
    candidate.write_bytes(module())
    candidate.with_suffix(".json").write_text("{}", encoding="utf-8")
    promoted(tmp_path, remove=candidate)
    assert [*candidate.parent.iterdir()] == []


def test_a_candidate_edited_since_validation_stays(tmp_path):
    candidate = tmp_path / "workflows/_tmp/route-1.py"
    candidate.parent.mkdir(parents=True)
    candidate.write_bytes(module("edited"))
    promoted(tmp_path, remove=candidate)
    assert candidate.exists()


@pytest.mark.parametrize("where", ["outside.py", "workflows/domains/system/count/things.py"])
def test_only_a_candidate_is_removed(tmp_path, where):
    (tmp_path / "workflows").mkdir()
    (tmp_path / where).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / where).write_bytes(module())
    with pytest.raises(TargetRefused, match="not a candidate"):
        promoted(tmp_path, remove=tmp_path / where)
    assert (tmp_path / where).exists()


def test_secrets_and_line_breaks_stay_out_of_the_record(tmp_path):
    context = replace(CONTEXT, description="Line one\n\n## forged 9.9.9\npassword=hunter2")
    promoted(tmp_path, context=context)
    assert records(tmp_path)[0].description == "Line one ## forged 9.9.9 password=[redacted]"
    log = (tmp_path / LOG).read_text(encoding="utf-8")
    assert [line for line in log.splitlines() if line.startswith("## ")] == [
        "## system/count/things 1.0.0 - 2026-03-01"
    ]


def test_a_rename_that_fails_half_way_is_taken_back(tmp_path, monkeypatch):
    promoted(tmp_path)
    before = tree(tmp_path / "workflows")
    rename = os.rename
    calls: list[object] = []

    def failing(*args, **options):
        if args[1] == "CHANGELOG.md" and not calls:
            calls.append(args)
            raise OSError(5, "Input/output error")
        rename(*args, **options)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(Exception, match="Input/output error"):
        promoted(tmp_path, module("two"))
    monkeypatch.undo()
    assert tree(tmp_path / "workflows") == before
    assert promoted(tmp_path, module("two")).created


def test_files_changed_by_hand_after_an_interruption_are_reported_not_guessed(
    tmp_path, monkeypatch
):
    promoted(tmp_path)
    rename = os.rename

    class Killed(BaseException):
        pass

    def dying(*args, **options):
        if args[1] == "CHANGELOG.md":
            raise Killed
        rename(*args, **options)

    monkeypatch.setattr(os, "rename", dying)
    with pytest.raises(Killed):
        promoted(tmp_path, module("two"))
    monkeypatch.undo()
    (tmp_path / RECORDS).write_text("", encoding="utf-8")
    with pytest.raises(StateCorrupt, match="cannot be finished"):
        promoted(tmp_path, module("three"))


@pytest.mark.parametrize("text", ["{", "[]", '{"root": "/", "files": [{"folders": [".."]}]}'])
def test_a_corrupt_journal_is_named_with_the_fix(tmp_path, text):
    promoted(tmp_path)
    (tmp_path / ".pulsus/promotion.json").write_text(text, encoding="utf-8")
    with pytest.raises(StateCorrupt, match=r"promotion\.json") as caught:
        promoted(tmp_path, module("two"))
    assert "delete" in caught.value.hint
