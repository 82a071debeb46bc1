"""Rollbacks, deprecations, removals and acceptances that are killed midway (spec §10, §17)."""

import pytest

from pulsus.core.storage import catalogue_lock
from pulsus.core.storage.decision_log import verify_log
from pulsus.core.storage.promotion import rollback
from pulsus.core.storage.records import promotion_records
from pulsus.core.storage.records.promotion_target import Target
from tests.decisions import decided
from tests.kills import killed_everywhere
from tests.promotions import module, promoted, store_of, tree

ACT = """
from dataclasses import replace
from pulsus.core.storage.decision_log import accept_break
from pulsus.core.storage.promotion import rollback
from pulsus.core.storage.promotion.deprecate import deprecate
from pulsus.core.storage.promotion.remove import remove
from pulsus.routing.maintenance.tool_users import refuse_if_used
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.telemetry.redaction import Redactor
from tests.promotions import CONTEXT, module, noon, promoted, store_of
import griffe

THINGS, HELLO = Target("system", "count", "things"), Target(None, "say", "hello")

def back(project):
    kept = rollback.archived_version(project / "workflows", THINGS, "1.0.0")
    promoted(project, kept.source, context=replace(CONTEXT, restores="1.0.0"))

def status(project, replacement):
    deprecate(THINGS, replacement=replacement, sunset=None, store=store_of(project),
        approved_by="alice")

def gone(project):
    remove(THINGS, store=store_of(project), approved_by="alice",
        require_unused=refuse_if_used(THINGS.tool_id, allowed=False))

def accept(project):
    accept_break.accept(project / ".pulsus", by="alice", reason="looked at", damages=1,
        records=[f"rev-20260301-{n:03}" for n in range(1500)], least=0, clock=noon,
        redactor=Redactor())

"""
ROLLBACK = ACT + "act = back\n"
DEPRECATE = ACT + "act = lambda project: status(project, HELLO)\n"
REINSTATE = ACT + "act = lambda project: status(project, None)\n"
REMOVE = ACT + "act = gone\n"
ACCEPT = ACT + "act = accept\n"
BEFORE = {
    "rollback": ROLLBACK,
    "deprecate": DEPRECATE,
    "reinstate": REINSTATE,
    "remove": REMOVE,
    "return": ROLLBACK,
}


def performed(code, project):
    about: dict[str, object] = {}
    exec(compile(code, "code", "exec"), about)
    about["act"](project)  # type: ignore[operator]


@pytest.fixture
def base(tmp_path):
    """Two tools, one in its second version."""
    project = tmp_path / "base"
    promoted(project, module("one"))
    promoted(project, module("two"))
    promoted(project, module("shared"), target=Target(None, "say", "hello"))
    return project


def recovered(project):
    """Recover, as every command does first."""
    store_of(project).recover()


def whole(project, name):
    """Nothing is lost, doubled or torn: log, records and changelogs tell one story."""
    assert not (project / ".pulsus/promotion.json").exists(), name
    root = project / "workflows"
    records = promotion_records.read_all(root)
    assert decided(project) == sorted(map(catalogue_lock.decision_key, records)), name
    entries = sum(p.read_text("utf-8").count("\n## ") for p in root.rglob("CHANGELOG.md"))
    assert entries == len(records), name
    for version in ("1.0.0", "1.0.1"):
        assert rollback.archived_version(
            root, Target("system", "count", "things"), version
        ).source, name
    assert [p for p in tree(root) if p.endswith(".pulsus-tmp")] == [], name


SLOW = (pytest.param(what, marks=pytest.mark.slow) for what in ("rollback", "reinstate", "return"))


@pytest.mark.seconds
@pytest.mark.parametrize("what", ["deprecate", "remove", *SLOW])
def test_a_decision_killed_at_any_system_call_is_completed_or_undone(what, base, tmp_path):
    if what == "reinstate":
        performed(DEPRECATE, base)
    if what in ("remove", "return"):
        manifest = base / "workflows/domains/system/count/things.tool.yaml"
        manifest.write_text("intents: [count]", encoding="utf-8")
    if what == "return":
        performed(REMOVE, base)
    killed, finished = killed_everywhere(base, tmp_path, BEFORE[what])
    assert len(killed) > 20, "it was never killed"
    before, after = tree(base / "workflows"), tree(finished / "workflows")
    assert before != after
    undone = 0
    for project in killed:
        recovered(project)
        now = tree(project / "workflows")
        assert now in (before, after), f"{what} killed at call {project.name}"
        whole(project, f"{what} killed at call {project.name}")
        undone += now == before
        performed(BEFORE[what], project)  # asked for again, it happens once
        assert _without_log(tree(project / "workflows")) == _without_log(after)
        whole(project, f"{what} again after call {project.name}")
        assert [p for p in tree(project / ".pulsus") if "promotion.json" in p] == []
    assert 0 < undone < len(killed)


def _without_log(files):
    """Return the files without the records, which depend on how often the log's head was read."""
    return {name: data for name, data in files.items() if not name.endswith("metadata.jsonl")}


@pytest.mark.seconds
def test_an_acceptance_killed_at_any_system_call_can_be_made_again(base, tmp_path):
    log = base / ".pulsus/audit/decisions-000001.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"version":"1.0.1"', b'"version":"1.0.2"'))
    killed, _ = killed_everywhere(base, tmp_path, ACCEPT)
    assert len(killed) > 8, "it was never killed"
    for project in killed:
        if verify_log.check_log(project / ".pulsus/audit").damages:
            performed(ACCEPT, project)
        assert verify_log.check_log(project / ".pulsus/audit").damages == (), project.name
        promoted(project, module("three"))
        assert verify_log.check_log(project / ".pulsus/audit").damages == (), project.name
        assert log.read_bytes() == (project / ".pulsus/audit" / log.name).read_bytes()
