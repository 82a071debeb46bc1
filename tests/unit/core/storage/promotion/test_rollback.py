"""Versions are kept, and older ones come back under a new number (spec §10)."""

import shutil
import subprocess
from dataclasses import replace

import pytest

from pulsus.core.storage.promotion import rollback
from pulsus.core.storage.records import promotion_records, version_archive
from pulsus.core.storage.records.promotion_target import Target
from pulsus.errors import (
    BumpRefused,
    HashMoved,
    TargetRefused,
    ToolAmbiguous,
    ToolNotFound,
    VersionNotFound,
)
from pulsus.routing.delivery.edited_in_place import PreviousBytes
from pulsus.routing.starter_catalogue import starter_folder
from tests.decisions import as_in_a_clone
from tests.promotions import CONTEXT, module, promoted, tree

THINGS = Target("system", "count", "things")
FOLDER = "workflows/domains/system/count"
FIRST = module()
SECOND = FIRST.replace(b"run()", b"run(limit=10)")
THIRD = FIRST.replace(b"run()", b"run(most=10)")


def records(project):
    return promotion_records.read_records(project / FOLDER / "metadata.jsonl")


def kept(project, version=None, target=THINGS):
    return rollback.archived_version(project / "workflows", target, version)


def rolled_back(project, version=None):
    found = kept(project, version)
    return promoted(project, found.source, context=replace(CONTEXT, restores=found.version))


def test_every_version_can_be_had_and_only_replaced_ones_are_kept_beside_the_tool(tmp_path):
    promoted(tmp_path, FIRST)
    assert not (tmp_path / FOLDER / ".versions").exists(), "its own file holds the bytes"
    for source in (SECOND, THIRD):
        promoted(tmp_path, source)
    files = sorted((tmp_path / FOLDER / ".versions").iterdir())
    assert sorted(f.read_bytes() for f in files) == sorted([FIRST, SECOND])
    assert [kept(tmp_path, v).source for v in ("1.0.0", "1.1.0", "2.0.0")] == [
        FIRST,
        SECOND,
        THIRD,
    ]


def test_where_the_latest_version_is_kept_too_as_it_once_was_nothing_is_lost_or_doubled(tmp_path):
    promoted(tmp_path, FIRST)
    old = (
        tmp_path
        / FOLDER
        / ".versions"
        / version_archive.file_name("things", version_archive.digest(FIRST))
    )
    old.parent.mkdir()
    old.write_bytes(FIRST)
    promoted(tmp_path, SECOND)
    assert kept(tmp_path, "1.0.0").source == FIRST
    assert list(old.parent.iterdir()) == [old]
    assert rolled_back(tmp_path).restores == "1.0.0"
    assert sorted(f.read_bytes() for f in old.parent.iterdir()) == sorted([FIRST, SECOND])


def edited(project, find):
    """A promoted tool edited in place and promoted again; the new version."""
    (project / FOLDER / "things.py").write_bytes(SECOND)
    return promoted(project, SECOND, context=replace(CONTEXT, find=find)).version


def git(folder, *args):
    told = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *told, *args], check=True, capture_output=True)


def committed(project):
    git(project, "init", "-q")
    git(project, "add", "workflows")
    git(project, "commit", "-qm", "one")
    (project / FOLDER / "other.py").write_bytes(THIRD)
    git(project, "add", "workflows")
    git(project, "commit", "-qm", "two")


@pytest.mark.parametrize("where", ["snapshot", "git"])
def test_an_edit_in_place_is_compared_and_can_be_taken_back(tmp_path, where):
    """The file held the only copy of the version that it overwrote."""
    promoted(tmp_path, FIRST)
    find = PreviousBytes(tmp_path / "workflows", tmp_path / ".pulsus")
    if where == "git":
        committed(tmp_path)
        as_in_a_clone(tmp_path)
    assert edited(tmp_path, find) == "1.1.0"
    assert kept(tmp_path, "1.0.0").source == FIRST


def test_an_edited_starter_tool_is_compared_with_what_was_shipped(tmp_path):
    source = (starter_folder() / "workflows/domains/storage/usage/disk_usage.py").read_bytes()
    find = PreviousBytes(tmp_path / "workflows", tmp_path / ".pulsus")
    found = find(Target("storage", "usage", "disk_usage"), version_archive.digest(source))
    assert found == source
    assert find(Target("storage", "usage", "disk_usage"), version_archive.digest(b"other")) is None


def test_a_snapshot_is_believed_by_its_hash_only_and_goes_with_the_version(tmp_path):
    promoted(tmp_path, FIRST)
    (snapshot,) = (tmp_path / ".pulsus/versions").iterdir()
    assert snapshot.read_bytes() == FIRST
    snapshot.write_bytes(THIRD)
    assert edited(tmp_path, PreviousBytes(tmp_path / "workflows", tmp_path / ".pulsus")) == "2.0.0"
    (snapshot,) = (tmp_path / ".pulsus/versions").iterdir()
    assert snapshot.read_bytes() == SECOND


def test_what_is_found_elsewhere_is_believed_by_its_hash_only(tmp_path):
    promoted(tmp_path, FIRST)
    assert edited(tmp_path, lambda target, digest: THIRD) == "2.0.0"


def test_the_latest_version_comes_back_over_a_deleted_file(tmp_path):
    promoted(tmp_path, FIRST)
    (tmp_path / FOLDER / "things.py").unlink()
    find = PreviousBytes(tmp_path / "workflows", tmp_path / ".pulsus")
    found = rollback.archived_version(tmp_path / "workflows", THINGS, "1.0.0", find)
    assert found.source == FIRST


def test_older_bytes_come_back_as_a_new_version_that_says_which(tmp_path):
    promoted(tmp_path, FIRST)
    promoted(tmp_path, SECOND)
    done = rolled_back(tmp_path, "1.0.0")
    assert (done.version, done.bump, done.restores) == ("2.0.0", "major", "1.0.0")
    assert (tmp_path / FOLDER / "things.py").read_bytes() == FIRST
    assert records(tmp_path)[-1].restores == "1.0.0"
    assert "Brings back 1.0.0" in (tmp_path / FOLDER / "../CHANGELOG.md").read_text("utf-8")


def test_without_a_version_the_one_before_comes_back_and_again_takes_that_back(tmp_path):
    promoted(tmp_path, FIRST)
    promoted(tmp_path, SECOND)
    assert rolled_back(tmp_path).restores == "1.0.0"
    again = rolled_back(tmp_path)
    assert (again.restores, again.version) == ("1.1.0", "2.1.0")


def test_going_back_to_what_is_there_changes_nothing(tmp_path):
    promoted(tmp_path, FIRST)
    before = tree(tmp_path / "workflows")
    assert not rolled_back(tmp_path, "1.0.0").created
    assert tree(tmp_path / "workflows") == before


def test_a_file_changed_by_hand_is_not_lost_by_going_back(tmp_path):
    promoted(tmp_path, FIRST)
    promoted(tmp_path, SECOND)
    (tmp_path / FOLDER / "things.py").write_bytes(b"# mine\n")
    with pytest.raises(TargetRefused, match="never promoted in this form"):
        rolled_back(tmp_path, "1.0.0")


def test_a_deleted_tool_comes_back(tmp_path):
    promoted(tmp_path, FIRST)
    promoted(tmp_path, SECOND)
    (tmp_path / FOLDER / "things.py").unlink()
    assert rolled_back(tmp_path, "1.0.0").restores == "1.0.0"
    assert (tmp_path / FOLDER / "things.py").read_bytes() == FIRST


@pytest.mark.parametrize("version", [None, "9.9.9", "nonsense"])
def test_an_unknown_version_names_those_that_are_kept(tmp_path, version):
    promoted(tmp_path, FIRST)
    with pytest.raises(VersionNotFound, match=r"kept: 1\.0\.0"):
        kept(tmp_path, version)


def test_a_version_whose_bytes_are_gone_is_said_to_be(tmp_path):
    promoted(tmp_path, FIRST)
    promoted(tmp_path, SECOND)
    shutil.rmtree(tmp_path / FOLDER / ".versions")
    with pytest.raises(VersionNotFound, match=r"bytes of .* 1\.0\.0 are not kept; kept: 1\.1\.0"):
        kept(tmp_path, "1.0.0")


def test_kept_bytes_that_were_changed_are_not_put_back(tmp_path):
    promoted(tmp_path, FIRST)
    promoted(tmp_path, SECOND)
    for file in (tmp_path / FOLDER / ".versions").iterdir():
        file.write_bytes(file.read_bytes() + b"# evil\n")
    with pytest.raises(HashMoved, match="named after"):
        kept(tmp_path, "1.0.0")


def test_a_tool_is_found_by_its_records_even_where_its_file_is_gone(tmp_path):
    promoted(tmp_path)
    promoted(tmp_path, target=Target(None, "count", "others"))
    (tmp_path / FOLDER / "things.py").unlink()
    find = rollback.find_promoted
    root = tmp_path / "workflows"
    assert find(root, "things") == find(root, "system/count/things") == THINGS
    assert find(root, "others.py").domain is None
    with pytest.raises(ToolNotFound):
        find(root, "nothing")
    promoted(tmp_path, target=Target("network", "count", "things"))
    with pytest.raises(ToolAmbiguous, match="network/count/things, system/count/things"):
        find(root, "things")


def test_a_restored_version_must_be_on_record_with_just_these_bytes(tmp_path):
    promoted(tmp_path, FIRST)
    promoted(tmp_path, SECOND)
    with pytest.raises(VersionNotFound, match=r"no version 1\.0\.0 with these bytes"):
        promoted(tmp_path, THIRD, context=replace(CONTEXT, restores="1.0.0"))


def test_the_version_goes_up_by_what_changed_and_more_only_where_asked(tmp_path):
    def bumped(source, bump=None):
        return promoted(tmp_path, source, context=replace(CONTEXT, bump=bump))

    with pytest.raises(BumpRefused, match="no earlier version"):
        bumped(FIRST, "minor")
    bumped(FIRST)
    with pytest.raises(BumpRefused, match="optional argument 'limit' was added") as caught:
        bumped(SECOND, "patch")
    assert caught.value.details["needed"] == "minor"
    done = bumped(SECOND, "major")
    assert (done.version, done.previous, done.bump) == ("2.0.0", "1.0.0", "major")
    assert done.changes == ("major: asked for", "minor: optional argument 'limit' was added")


def test_a_tool_whose_earlier_bytes_are_nowhere_gets_a_major_version(tmp_path):
    promoted(tmp_path, FIRST)
    (tmp_path / FOLDER / "things.py").write_bytes(SECOND)  # edited in place
    done = promoted(tmp_path, SECOND)
    assert done.version == "2.0.0"
    assert "nothing could be compared" in done.changes[0]


def test_an_owner_stays_until_another_is_named(tmp_path):
    promoted(tmp_path, FIRST, context=replace(CONTEXT, owner="platform"))
    promoted(tmp_path, SECOND)
    assert [r.owner for r in records(tmp_path)] == ["platform", "platform"]
    done = promoted(tmp_path, SECOND, context=replace(CONTEXT, owner="network"))
    assert (done.version, done.changes) == (
        "1.1.1",
        ("patch: the owner is network, it was platform",),
    )
    assert not promoted(tmp_path, SECOND, context=replace(CONTEXT, owner="network")).created


def test_a_moved_tool_is_major_and_its_old_place_points_to_the_new(tmp_path):
    promoted(tmp_path, FIRST)
    new = Target("system", "measure", "things")
    done = promoted(tmp_path, FIRST, target=new, context=replace(CONTEXT, replaces=THINGS))
    assert (done.version, done.bump) == ("2.0.0", "major")
    assert done.changes == ("major: moved from system/count/things",)
    moved = promotion_records.read_records(
        tmp_path / "workflows/domains/system/measure/metadata.jsonl"
    )[-1]
    old = records(tmp_path)[-1]
    assert (moved.replaces, moved.status) == ("system/count/things", "stable")
    assert (old.status, old.replacement, old.version) == ("deprecated", new.tool_id, "1.0.0")
    assert old.id == "rev-20260301-003"
    assert (tmp_path / FOLDER / "things.py").read_bytes() == FIRST


def test_a_renamed_tool_keeps_both_records_in_one_file(tmp_path):
    promoted(tmp_path, FIRST)
    new = Target("system", "count", "items")
    promoted(tmp_path, FIRST, target=new, context=replace(CONTEXT, replaces=THINGS))
    assert [(r.name, r.version, r.event) for r in records(tmp_path)] == [
        ("things.py", "1.0.0", None),
        ("items.py", "2.0.0", None),
        ("things.py", "1.0.0", "deprecate"),
    ]
    log = (tmp_path / FOLDER / "../CHANGELOG.md").read_text("utf-8")
    assert log.count("\n## ") == 3


def test_only_what_was_promoted_can_be_moved(tmp_path):
    with pytest.raises(ToolNotFound, match="never promoted"):
        promoted(tmp_path, context=replace(CONTEXT, replaces=Target("a", "b", "c")))
    assert tree(tmp_path / "workflows") == {}


def test_versions_that_differ_only_in_their_records_are_not_called_missing(tmp_path):
    promoted(tmp_path, FIRST)
    promoted(tmp_path, FIRST, context=replace(CONTEXT, owner="network"))
    with pytest.raises(
        VersionNotFound, match=r"all versions of .* have the same module"
    ) as refused:
        kept(tmp_path, None)
    assert refused.value.hint == "there is nothing to roll back to"


def test_the_only_kept_version_is_not_offered_if_it_is_the_current_one(tmp_path):
    promoted(tmp_path, FIRST)
    with pytest.raises(VersionNotFound) as refused:
        kept(tmp_path, None)
    assert refused.value.hint == "there is nothing to roll back to"
    with pytest.raises(VersionNotFound) as refused:
        kept(tmp_path, "9.9.9")
    assert refused.value.hint == "only the current module is kept: there is nothing to roll back to"


@pytest.mark.parametrize(
    ("spoil", "hint"),
    [
        (lambda path: path.unlink(), "its file is missing; to put it back: "),
        (lambda path: path.write_bytes(THIRD), "its file was edited and not promoted; to drop "),
    ],
    ids=["missing", "edited"],
)
def test_the_hint_for_a_spoiled_file_of_one_version_brings_it_back(tmp_path, spoil, hint):
    promoted(tmp_path, FIRST)
    folder = tmp_path / FOLDER / ".versions"
    folder.mkdir()
    (folder / version_archive.file_name("things", version_archive.digest(FIRST))).write_bytes(FIRST)
    path = tmp_path / FOLDER / "things.py"
    spoil(path)
    with pytest.raises(VersionNotFound) as refused:
        kept(tmp_path, None)
    assert refused.value.hint.startswith(hint)
    assert refused.value.hint.endswith("pulsus rollback system/count/things@1.0.0")
    path.unlink(missing_ok=True)  # as the hint says of an edited one
    assert kept(tmp_path, "1.0.0").source == FIRST


def test_a_rollback_over_an_edited_file_is_refused_before_the_module_is_proven(tmp_path):
    for source in (FIRST, SECOND):
        promoted(tmp_path, source)
    (tmp_path / FOLDER / "things.py").write_bytes(THIRD)
    with pytest.raises(TargetRefused, match="never promoted in this form"):
        kept(tmp_path, "1.0.0")


def test_the_hint_for_an_edited_file_names_the_approved_version_and_its_command_works(tmp_path):
    for source in (FIRST, SECOND):
        promoted(tmp_path, source)
    path = tmp_path / FOLDER / "things.py"
    path.write_bytes(THIRD)
    with pytest.raises(TargetRefused) as refused:
        kept(tmp_path, None)
    assert refused.value.hint.endswith("repeat the command, which gets 1.0.0 back")
    assert "@" not in refused.value.hint, "the bytes of the approved version are not kept"
    name = version_archive.file_name("things", version_archive.digest(SECOND))
    (tmp_path / FOLDER / ".versions" / name).write_bytes(SECOND)
    with pytest.raises(TargetRefused) as refused:
        kept(tmp_path, None)
    approved = promotion_records.read_records(path.with_name("metadata.jsonl"))[-1].version
    assert f"pulsus rollback system/count/things@{approved}; or repeat" in refused.value.hint
    path.unlink()  # as the hint says
    assert kept(tmp_path, approved).source == SECOND
    assert kept(tmp_path, None).source == FIRST


def test_a_version_that_does_not_exist_is_answered_with_the_newest_older_one(tmp_path):
    for source in (FIRST, SECOND, THIRD):
        promoted(tmp_path, source)
    with pytest.raises(VersionNotFound) as refused:
        kept(tmp_path, "9.9.9")
    call = f"pulsus rollback {THINGS.tool_id}@1.1.0"
    assert refused.value.hint == f"name one that is kept: {call}"
