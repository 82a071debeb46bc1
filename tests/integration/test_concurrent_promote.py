"""Promotions at the same time, and promotions that were killed half-way (spec §10)."""

import hashlib
import multiprocessing

import pytest

from pulsus.core.storage import catalogue_lock
from pulsus.core.storage.records import promotion_records
from tests.decisions import decided
from tests.kills import killed_everywhere
from tests.promotions import module, promote_in_child, promoted, tree

PROMOTERS = 8
RECORDS = "workflows/domains/system/count/metadata.jsonl"
LOG = "workflows/domains/system/CHANGELOG.md"


def promote_at_once(project, names, sources):
    (project / "workflows").mkdir()
    spawn = multiprocessing.get_context("spawn")
    children = [
        spawn.Process(target=promote_in_child, args=(str(project), name, source))
        for name, source in zip(names, sources, strict=True)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * len(children)
    return promotion_records.read_records(project / RECORDS), (project / LOG).read_text(
        encoding="utf-8"
    )


def leftovers(project):
    """Return staged files and journals. Remains of a new state folder are for `pulsus gc`."""
    staged = [p for p in tree(project / "workflows") if p.endswith(".pulsus-tmp")]
    return staged + [p for p in tree(project / ".pulsus") if "promotion.json" in p]


@pytest.mark.seconds
def test_eight_promotions_of_different_tools_at_once_lose_nothing(tmp_path):
    names = [f"tool_{n}" for n in range(PROMOTERS)]
    records, log = promote_at_once(tmp_path, names, [module(n) for n in names])
    assert sorted(r.name for r in records) == [f"{n}.py" for n in names]
    assert [r.id for r in records] == [f"rev-20260301-{n:03d}" for n in range(1, PROMOTERS + 1)]
    for name in names:
        place = tmp_path / f"workflows/domains/system/count/{name}.py"
        assert place.read_bytes() == module(name)
        assert log.count(f"## system/count/{name} 1.0.0 ") == 1
    assert log.count("\n## ") == PROMOTERS
    assert leftovers(tmp_path) == []


@pytest.mark.seconds
def test_eight_promotions_of_the_same_bytes_at_once_are_one_revision(tmp_path):
    records, log = promote_at_once(tmp_path, ["tool"] * PROMOTERS, [module()] * PROMOTERS)
    assert [(r.id, r.version) for r in records] == [("rev-20260301-001", "1.0.0")]
    assert log.count("\n## ") == 1


@pytest.mark.seconds
def test_eight_versions_of_one_tool_at_once_are_eight_revisions_in_order(tmp_path):
    sources = [module(str(n)) for n in range(PROMOTERS)]
    records, log = promote_at_once(tmp_path, ["tool"] * PROMOTERS, sources)
    assert [r.version for r in records] == [f"1.0.{n}" for n in range(PROMOTERS)]
    assert len({r.tool_hash for r in records}) == PROMOTERS
    assert log.count("\n## ") == PROMOTERS
    last = next(s for s in sources if records[-1].tool_hash.endswith(hashlib.sha256(s).hexdigest()))
    assert (tmp_path / "workflows/domains/system/count/tool.py").read_bytes() == last


SECOND = """
from dataclasses import replace
from pulsus.core.storage.records.promotion_target import Target
from tests.promotions import CONTEXT, module, promoted
import griffe

def act(project):
    promoted(project, module("two"))
"""
MOVED = f"""{SECOND}
moved = replace(CONTEXT, replaces=Target("system", "count", "things"))

def act(project):
    promoted(project, module("two"), target=Target("system", "measure", "things"), context=moved)
"""


@pytest.mark.seconds
@pytest.mark.parametrize("how", ["first", "second", pytest.param("moved", marks=pytest.mark.slow)])
def test_a_promotion_killed_at_any_system_call_is_completed_or_undone_by_the_next(tmp_path, how):
    base = tmp_path / "base"
    (base / "workflows").mkdir(parents=True)
    if how != "first":
        promoted(base)
    code = MOVED if how == "moved" else SECOND
    killed, finished = killed_everywhere(base, tmp_path, code)
    assert len(killed) > 20, "the promotion was never killed"
    for project in (*killed, finished):
        n = project.name
        done = promoted(project, module("three"))
        records = promotion_records.read_all(project / "workflows")
        log = (project / LOG).read_text(encoding="utf-8")
        own = [
            r.version for r in promotion_records.read_records(project / RECORDS) if r.event is None
        ]
        assert own == [f"1.0.{k}" for k in range(len(own))], f"killed at call {n}"
        assert log.count("\n## ") == len(records), f"killed at call {n}"
        assert done.version == own[-1]
        assert leftovers(project) == [], f"killed at call {n}"
        assert decided(project) == sorted(map(catalogue_lock.decision_key, records))
        moved = {r.event for r in records} | {r.replaces for r in records}
        assert moved in ({None}, {None, "deprecate", "system/count/things"})
