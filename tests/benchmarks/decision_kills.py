"""Rollbacks, deprecations and their undoing, killed at random points (spec §10).

    python tests/benchmarks/decision_kills.py --decisions 600

Every decision runs in a process of its own that gets SIGKILL after a random time, and is asked for
again until it is acknowledged. What each tool's records must say in the end is known beforehand,
so one decision lost or doubled shows. Prints one JSON document; exits 1 where something is wrong.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import griffe  # noqa: F401 - here, so that kills hit the storage and not an import

from pulsus.core.storage import catalogue_lock
from pulsus.core.storage.decision_log import verify_log
from pulsus.core.storage.promotion import rollback
from pulsus.core.storage.promotion.deprecate import deprecate
from pulsus.core.storage.records import promotion_records, version_archive
from pulsus.core.storage.records.promotion_target import Target
from tests.benchmarks.promotion_kills import attempt, leftovers, logged, torn
from tests.promotions import CONTEXT, module, promoted, store_of

TOOLS = 6
VERSIONS = 3
KINDS = ("rollback", "status")
SPARE = Target("system", "count", "spare")


def target(number):
    return Target("system", ("count", "measure")[number % 2], f"tool_{number}")


def rolling_back(project, place, version):
    def act():
        kept = rollback.archived_version(project / "workflows", place, version)
        context = replace(CONTEXT, restores=version)
        done = promoted(project, kept.source, target=place, context=context, lock_seconds=60.0)
        return done.revision, done.version

    return act


def deciding_status(project, place, replacement):
    def act():
        record, _ = deprecate(
            place,
            replacement=replacement,
            sunset=None,
            store=store_of(project, lock_seconds=60.0),
            approved_by="alice",
        )
        return record.id, record.version

    return act


class Expected:
    """Return the records that each tool must have: (hash, event) of each, oldest first."""

    def __init__(self, project):
        self.project = project
        self.rows: dict[int, list[tuple[str, str | None]]] = {}
        promoted(project, module("spare"), target=SPARE)
        for number in range(TOOLS):
            sources = [module(f"{number} {v}") for v in range(VERSIONS)]
            for source in sources:
                promoted(project, source, target=target(number))
            self.rows[number] = [(version_archive.digest(source), None) for source in sources]

    def next(self, number, kind, rng):
        """The next decision about a tool, which changes something, ready to be attempted."""
        rows = self.rows[number]
        now = rows[-1][0]
        if kind == "rollback":
            first = [(f"1.0.{v}", rows[v][0]) for v in range(VERSIONS) if rows[v][0] != now]
            version, digest = rng.choice(first)
            rows.append((digest, None))
            return rolling_back(self.project, target(number), version)
        events = [event for _, event in rows if event]
        undo = bool(events) and events[-1] == "deprecate"
        rows.append((now, "reinstate" if undo else "deprecate"))
        return deciding_status(self.project, target(number), None if undo else SPARE)


def killed(project, decisions, rng):
    """Return the acknowledged and the expected records, the kills by kind and the usual seconds."""
    expected = Expected(project)
    usual = []
    for n in range(4):
        act = expected.next(n % TOOLS, KINDS[n % 2], rng)
        began = time.perf_counter()
        attempt(act, None)
        usual.append(time.perf_counter() - began)
    longest = dict.fromkeys(KINDS, 1.5 * min(usual))
    acknowledged, kills = [], Counter[str]()
    for _ in range(decisions):
        number, kind = rng.randrange(TOOLS), rng.choice(KINDS)
        act = expected.next(number, kind, rng)
        tries = 0
        while (done := attempt(act, rng.uniform(0, longest[kind]))) is None:
            tries += 1
            longest[kind] *= 1.05  # decisions take longer as the catalogue grows
        longest[kind] *= 1 if tries else 0.95
        kills[kind] += tries
        acknowledged.append((target(number).tool_id, *done))
    return acknowledged, expected, kills, min(usual)


def audit(project, acknowledged, expected):
    """Return the faults by kind; every list is empty if there are none."""
    root = project / "workflows"
    store_of(project).recover()
    records = promotion_records.read_all(root)
    ids = Counter(r.id for r in records)
    found = {(r.tool_id, r.id, r.version) for r in records}
    told = {
        n: [(r.tool_hash, r.event) for r in records if r.tool_id == target(n).tool_id]
        for n in range(TOOLS)
    }
    entries = (project / "workflows/domains/system/CHANGELOG.md").read_text("utf-8")
    decisions = logged(project / ".pulsus/audit")
    return {
        "lost": [a for a in acknowledged if a not in found],
        "doubled": [i for i, times in ids.items() if times > 1],
        "other": [n for n, rows in expected.rows.items() if told[n] != rows],
        "torn": [*torn(project, records), *leftovers(project)],
        "changelog": [] if entries.count("\n## ") == len(records) else [entries.count("\n## ")],
        "decisions": [r.id for r in records if decisions[catalogue_lock.decision_key(r)] != 1],
        "log": [d.reason for d in verify_log.check_log(project / ".pulsus/audit").damages],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        began = time.perf_counter()
        acknowledged, expected, kills, usual = killed(
            project, options.decisions, random.Random(options.seed)
        )
        found = audit(project, acknowledged, expected)
        report = {
            "decisions": len(acknowledged),
            "kills": kills.total(),
            "kills_of": dict(kills),
            "one_decision_ms": round(usual * 1000, 1),
            "seconds": round(time.perf_counter() - began, 1),
            "after_kills": {name: len(wrong) for name, wrong in found.items()},
        }
    print(json.dumps(report, indent=2))
    wrong = [w for ws in found.values() for w in ws]
    for each in wrong[:20]:
        print(each, file=sys.stderr)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
