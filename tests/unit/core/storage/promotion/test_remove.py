"""A promoted tool leaves the catalogue, and can come back (spec §10)."""

from dataclasses import replace

import pytest

from pulsus.core.storage.promotion import deprecate, rollback
from pulsus.core.storage.promotion.remove import remove
from pulsus.core.storage.records import promotion_records
from pulsus.core.storage.records.current_revision import CurrentRevision
from pulsus.core.storage.records.promotion_target import Target
from pulsus.errors import NotPromoted, ToolAmbiguous, ToolInUse, ToolNotFound
from pulsus.routing.maintenance import audit_catalogue, audit_changelog, audit_log, tool_users
from tests.promotions import CONTEXT, module, promoted, store_of, tree

TOOL = Target("system", "count", "things")
OTHER = Target("system", "count", "items")
COMPOSED = Target("system", "report", "both")


@pytest.fixture
def project(tmp_path):
    promoted(tmp_path, module("one"), target=TOOL)
    promoted(tmp_path, module("two"), target=TOOL)
    promoted(tmp_path, module("other"), target=OTHER)
    return tmp_path


def removed(project, target=TOOL, *, force=False, find=None, manifest=None):
    return remove(
        target,
        store=store_of(project, lock_seconds=5),
        approved_by="alice",
        require_unused=tool_users.refuse_if_used(target.tool_id, allowed=force),
        find=find,
        manifest=manifest,
    )


def test_a_bare_name_means_the_tool_that_is_left_and_removed_ones_are_marked(project):
    """Two removed tools hid the one that is in the catalogue."""
    root, twin = project / "workflows", Target("network", "count", "things")
    promoted(project, module("twin"), target=twin)
    removed(project, twin)
    assert rollback.find_promoted(root, "things") == TOOL
    removed(project)
    both = r"network/count/things \(removed\), system/count/things \(removed\)"
    with pytest.raises(ToolAmbiguous, match=both):
        rollback.find_promoted(root, "things")


def composed_of(project, tool_id):
    root = project / "workflows"
    domain, action, name = tool_id.split("/")
    step = CurrentRevision.read(root, Target(domain, action, name)).latest
    assert step
    plan = {
        "plan": {
            "description": "Count twice.",
            "steps": [
                {
                    "id": "s1",
                    "tool": tool_id,
                    "sha256": step.tool_hash.removeprefix("sha256:"),
                    "inputs": {},
                    "outputs": {"count": "count"},
                }
            ],
        },
        "io": {"params": [], "returns": ["count"]},
    }
    source = (
        f'"""Count twice."""\n\nimport pulsus.steps\n\nPLAN = {plan!r}\n\n\n'
        f"def run():\n    return pulsus.steps.call({tool_id!r})\n"
    ).encode()
    promoted(project, source, target=COMPOSED)


def audited(project):
    root = project / "workflows"
    found = audit_catalogue.read_records(root)
    findings = [
        *audit_catalogue.audit_catalogue(root, found, ()).findings,
        *audit_changelog.audit_changelogs(root, found),
        *audit_log.audit_log(project / ".pulsus/audit", found.records).findings,
    ]
    return [(f.code, f.tool) for f in findings]


def test_a_removed_tool_leaves_only_its_history(project):
    record, created = removed(project)
    assert created
    assert (record.status, record.event, record.version) == ("removed", "remove", "1.0.1")
    files = [name for name, data in tree(project / "workflows").items() if data is not None]
    assert "domains/system/count/things.py" not in files
    assert len([name for name in files if ".versions/things-" in name]) == 2
    log = (project / "workflows/domains/system/CHANGELOG.md").read_text("utf-8")
    assert "### Removed\n\n- Count things." in log
    assert audited(project) == []


def test_removing_again_changes_nothing(project):
    first, _ = removed(project)
    before = tree(project)
    again, created = removed(project)
    assert (again, created) == (first, False)
    assert {k: v for k, v in tree(project).items() if "lock" not in k} == {
        k: v for k, v in before.items() if "lock" not in k
    }


def test_a_removed_tool_comes_back_under_a_higher_version_and_the_audit_is_clean(project):
    removed(project)
    kept = rollback.archived_version(project / "workflows", TOOL, None)
    assert (kept.version, kept.source) == ("1.0.1", module("two"))
    done = promoted(
        project, kept.source, target=TOOL, context=replace(CONTEXT, restores=kept.version)
    )
    assert (done.created, done.version) == (True, "1.0.2")
    assert TOOL.path(project / "workflows").read_bytes() == module("two")
    assert audited(project) == []
    older = rollback.archived_version(project / "workflows", TOOL, "1.0.0")
    assert older.source == module("one")


def test_the_same_bytes_put_back_by_hand_are_not_promoted_and_the_audit_says_so(project):
    removed(project)
    path = TOOL.path(project / "workflows")
    path.write_bytes(module("two"))
    here = CurrentRevision.read(project / "workflows", TOOL)
    assert here.latest
    assert here.current(here.latest.tool_hash) is None
    assert audited(project) == [("REMOVED", "system/count/things")]
    with pytest.raises(NotPromoted, match="is there again"):
        removed(project)
    with pytest.raises(NotPromoted):
        deprecate.deprecate(
            TOOL, replacement=OTHER, sunset=None, store=store_of(project), approved_by="alice"
        )


def test_a_file_that_was_edited_since_is_not_deleted(project):
    path = TOOL.path(project / "workflows")
    path.write_bytes(module("edited"))
    before = tree(project / "workflows")
    with pytest.raises(NotPromoted, match=r"was changed since it was promoted as 1\.0\.1"):
        removed(project)
    assert tree(project / "workflows") == before


def test_a_file_that_was_deleted_by_hand_is_removed_with_the_bytes_found_elsewhere(project):
    TOOL.path(project / "workflows").unlink()
    removed(project, find=lambda target, digest: module("two"))
    assert audited(project) == []
    assert rollback.archived_version(project / "workflows", TOOL, None).source


def test_a_deleted_file_whose_bytes_are_lost_is_removed_and_the_audit_warns(project):
    TOOL.path(project / "workflows").unlink()
    removed(project)
    assert audited(project) == [("VERSION_MISSING", "system/count/things")]


def test_a_step_of_a_promoted_composition_stays(project):
    composed_of(project, "system/count/things")
    before = tree(project / "workflows")
    with pytest.raises(ToolInUse, match="it is a step of system/report/both") as refused:
        removed(project)
    assert refused.value.details["compositions"] == ["system/report/both"]
    whole = "pulsus deprecate system/count/things --replacement TOOL --sunset YYYY-MM-DD, or"
    assert whole in refused.value.hint, "the bare command is refused without both options"
    assert tree(project / "workflows") == before
    removed(project, force=True)
    assert audited(project) == [("STEP_MISSING", "system/report/both")]


def test_a_deprecated_step_and_a_step_of_deprecated_or_removed_compositions_go(project):
    composed_of(project, "system/count/things")
    store = store_of(project)
    deprecate.deprecate(TOOL, replacement=OTHER, sunset=None, store=store, approved_by="a")
    assert removed(project)[1]
    composed_of(project, "system/count/items")
    with pytest.raises(ToolInUse):
        removed(project, OTHER)
    assert removed(project, COMPOSED)[1]
    assert removed(project, OTHER)[1]


def test_the_replacement_of_a_deprecated_tool_stays(project):
    store = store_of(project)
    deprecate.deprecate(TOOL, replacement=OTHER, sunset=None, store=store, approved_by="a")
    with pytest.raises(ToolInUse, match="it replaces the deprecated system/count/things"):
        removed(project, OTHER)


def test_a_tool_that_was_never_promoted_is_not_deleted(project):
    with pytest.raises(ToolNotFound, match="was never promoted"):
        removed(project, Target("system", "count", "unknown"))


@pytest.mark.parametrize("name", ["things.tool.yaml", "things.tool.toml"])
def test_the_manifest_goes_and_comes_back_with_its_tool(name, project):
    place = project / "workflows/domains/system/count" / name
    place.write_text("intents: [count]", encoding="utf-8")
    removed(project)
    assert not place.exists()
    promoted(project, module("two"), target=TOOL)
    assert place.read_text(encoding="utf-8") == "intents: [count]"
    assert audited(project) == []


def test_a_manifest_named_after_no_tool_comes_back_under_the_name_of_its_tool(project):
    folder = project / "workflows/domains/system/count"
    (folder / "tool.yaml").write_text("intents: [count]", encoding="utf-8")
    removed(project, manifest="tool.yaml")
    assert not (folder / "tool.yaml").exists()
    promoted(project, module("two"), target=TOOL)
    assert (folder / "things.tool.yaml").read_text(encoding="utf-8") == "intents: [count]"


def test_a_new_manifest_is_not_replaced_by_the_archived_one(project):
    place = project / "workflows/domains/system/count/things.tool.yaml"
    place.write_text("intents: [old]", encoding="utf-8")
    removed(project)
    place.write_text("intents: [new]", encoding="utf-8")
    promoted(project, module("two"), target=TOOL)
    assert place.read_text(encoding="utf-8") == "intents: [new]"


def test_other_tools_of_the_action_keep_their_records(project):
    before = [r for r in promotion_records.read_all(project / "workflows") if r.name == "items.py"]
    removed(project)
    after = [r for r in promotion_records.read_all(project / "workflows") if r.name == "items.py"]
    assert before == after


def writer(section, tool_id="system/count/things"):
    """A module whose contract calls another tool."""
    doc = f"Write a note.\n\nKind: write\n{section}: {tool_id} {{}}\n"
    text = f'"""{doc}"""\n\n\ndef run():\n    return 1\n'
    return text.encode()


@pytest.mark.parametrize("section", ["Verify", "Undo"])
def test_the_tool_that_checks_or_reverses_a_write_stays(project, section):
    writing = Target(None, "note", "write_note")
    promoted(project, writer(section), target=writing)
    before = tree(project / "workflows")
    with pytest.raises(ToolInUse, match="names it in shared/note/write_note") as refused:
        removed(project)
    assert refused.value.details["callers"] == ["shared/note/write_note"]
    assert tree(project / "workflows") == before
    assert removed(project, OTHER)[1]
    assert removed(project, force=True)[1]


def test_a_deprecated_tool_does_not_leave_the_writes_that_it_checks_unverified(project):
    writing = Target(None, "note", "write_note")
    promoted(project, writer("Verify"), target=writing)
    store = store_of(project)
    deprecate.deprecate(TOOL, replacement=OTHER, sunset=None, store=store, approved_by="a")
    with pytest.raises(ToolInUse, match="names it in shared/note/write_note"):
        removed(project)
    promoted(project, writer("Verify", "system/count/items"), target=writing)
    assert removed(project)[1]
