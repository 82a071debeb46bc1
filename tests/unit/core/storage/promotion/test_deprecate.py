"""A tool is marked as replaced by another (spec §10)."""

from datetime import date, timedelta

import pytest

from pulsus.core.storage.promotion import deprecate
from pulsus.core.storage.promotion.remove import remove
from pulsus.core.storage.records import promotion_records
from pulsus.core.storage.records.promotion_target import Target
from pulsus.errors import NotPromoted, ReplacementRefused
from pulsus.routing.search.deprecations import Deprecations
from tests.promotions import NOON, module, promoted, store_of, tree

OLD = Target("system", "count", "things")
NEW = Target("system", "count", "items")
OTHER = Target(None, "count", "others")
SUNSET = date(2026, 6, 30)


@pytest.fixture
def project(tmp_path):
    for target in (OLD, NEW, OTHER):
        promoted(tmp_path, target=target)
    return tmp_path


def deprecated(project, target=OLD, replacement: Target | None = NEW, sunset: date | None = SUNSET):
    return deprecate.deprecate(
        target,
        replacement=replacement,
        sunset=sunset,
        store=store_of(project, lock_seconds=5),
        approved_by="alice",
    )


def records(project):
    return promotion_records.read_all(project / "workflows")


def test_a_deprecation_is_a_record_of_the_same_version_and_leaves_the_module(project):
    before = tree(project / "workflows")
    record, created = deprecated(project)
    assert created
    assert (record.status, record.event, record.version) == ("deprecated", "deprecate", "1.0.0")
    assert (record.replacement, record.sunset) == ("system/count/items", "2026-06-30")
    assert record in records(project)
    after = tree(project / "workflows")
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"domains/system/CHANGELOG.md", "domains/system/count/metadata.jsonl"}
    log = after["domains/system/CHANGELOG.md"].decode()
    assert "### Deprecated\n\n- Count things." in log
    assert "- Use system/count/items instead, not selected after 2026-06-30\n" in log


def test_the_same_deprecation_again_changes_nothing(project):
    deprecated(project)
    before = tree(project / "workflows")
    assert not deprecated(project)[1]
    assert tree(project / "workflows") == before


def test_it_can_be_undone_and_undoing_what_is_not_deprecated_changes_nothing(project):
    deprecated(project)
    record, created = deprecated(project, replacement=None, sunset=None)
    assert (created, record.status, record.replacement, record.sunset) == (
        True,
        "stable",
        None,
        None,
    )
    assert not deprecated(project, replacement=None, sunset=None)[1]


def test_a_tool_cannot_replace_itself(project):
    with pytest.raises(ReplacementRefused, match="itself"):
        deprecated(project, replacement=OLD)


def test_a_chain_of_replacements_cannot_become_a_circle(project):
    deprecated(project, OLD, NEW)
    deprecated(project, NEW, OTHER)
    for target in (OLD, NEW):
        with pytest.raises(ReplacementRefused, match="is deprecated itself"):
            deprecated(project, OTHER, target)


def test_a_replacement_that_is_not_promoted_as_it_lies_there_is_refused(project):
    with pytest.raises(NotPromoted) as refused:
        deprecated(project, replacement=Target("system", "count", "nothing"))
    assert "pulsus promote" not in refused.value.hint, "there is no file to promote"
    NEW.path(project / "workflows").write_bytes(b"# changed by hand\n")
    with pytest.raises(NotPromoted) as refused:
        deprecated(project)
    command = refused.value.hint.removeprefix("promote it first: ")
    path, place = NEW.path(project / "workflows"), f"--domain {NEW.domain} --action {NEW.action}"
    assert command == f"pulsus promote {path} {place}"


def test_the_hint_for_a_replacement_that_was_removed_brings_it_back(project):
    path = NEW.path(project / "workflows")
    remove(
        NEW,
        store=store_of(project, lock_seconds=5),
        approved_by="alice",
        require_unused=lambda *_: None,
    )
    with pytest.raises(NotPromoted, match="was removed from the catalogue") as refused:
        deprecated(project)
    assert refused.value.hint == f"bring it back: pulsus rollback {NEW.tool_id} --yes"
    path.write_bytes(b"# another file in its place\n")
    with pytest.raises(NotPromoted, match="was removed from the catalogue"):
        deprecated(project)


def test_a_sunset_in_the_past_is_refused_and_today_is_not(project):
    with pytest.raises(ReplacementRefused, match="in the past"):
        deprecated(project, sunset=NOON.date() - timedelta(days=1))
    assert deprecated(project, sunset=NOON.date())[1]


def test_a_fix_of_a_deprecated_tool_leaves_it_deprecated(project):
    deprecated(project)
    promoted(project, module("two"), target=OLD)
    last = [r for r in records(project) if r.name == "things.py"][-1]
    assert (last.version, last.status, last.event) == ("1.0.1", "deprecated", None)
    assert last.replacement == "system/count/items"


def test_a_deprecated_tool_is_told_of_until_and_after_its_sunset(project):
    deprecated(project)
    today = Deprecations.of(records(project), SUNSET)
    assert today.retired == frozenset()
    assert today.note("system/count/things") == (
        "system/count/things is deprecated: use system/count/items; not selected after 2026-06-30"
    )
    assert today.note("system/count/items") is None
    later = Deprecations.of(records(project), SUNSET + timedelta(days=1))
    assert later.retired == {"system/count/things"}
    assert "no longer selected since 2026-06-30" in (later.note("system/count/things") or "")


def test_a_change_of_status_does_not_count_as_a_promotion(project):
    from pulsus.core.memory import past_routes

    deprecated(project)
    assert past_routes.history(records(project), ())["system/count/things"].promotions == 1


def test_looking_whether_a_status_would_change_writes_nothing(project):
    store, before = store_of(project, lock_seconds=5), tree(project)
    latest = deprecate.record_to_change(OLD, replacement=NEW, sunset=SUNSET, store=store)
    assert latest is not None
    assert (latest.tool_id, latest.deprecated) == (OLD.tool_id, False)
    assert tree(project) == before
    deprecated(project)
    assert deprecate.record_to_change(OLD, replacement=NEW, sunset=SUNSET, store=store) is None
    with pytest.raises(ReplacementRefused):
        deprecate.record_to_change(NEW, replacement=NEW, sunset=SUNSET, store=store)
