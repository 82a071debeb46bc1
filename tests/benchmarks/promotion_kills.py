"""Promotions killed at random points, and many promoters at once (spec §10).

    python tests/benchmarks/promotion_kills.py --kills 1000 --promoters 8 --each 50

Every promotion runs in a process of its own that gets SIGKILL after a random time, and is tried
again until it is acknowledged; it leaves its pieces to the next. The storage is under test, so the
modules come validated. Prints one JSON document; exits 1 where something is lost, doubled or torn.
"""

import argparse
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import griffe  # noqa: F401 - here, so that kills hit the storage and not an import

from pulsus.core.storage import catalogue_lock
from pulsus.core.storage.decision_log import log_reader, log_record
from pulsus.core.storage.records import promotion_records, semver, version_archive
from pulsus.core.storage.records.promotion_target import Target
from tests.promotions import module, promoted, store_of

TOOLS = 20
ACTIONS = ("count", "measure")


def target(rng):
    n = rng.randrange(TOOLS)
    return Target("system", ACTIONS[n % 2], f"tool_{n}")


def attempt(act, seconds):
    """Return the acknowledgement of `act` in a process of its own; None if the kill came first."""
    reading, written = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            os.write(written, json.dumps(act()).encode() + b"\n")
            status = 0
        finally:
            os._exit(status)
    os.close(written)
    if seconds is not None and not select.select([reading], [], [], seconds)[0]:
        os.kill(child, signal.SIGKILL)
    said = b""
    while part := os.read(reading, 4096):
        said += part
    os.close(reading)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended not in (0, -signal.SIGKILL):
        raise SystemExit(f"a decision failed with status {ended}")
    return tuple(json.loads(said)) if said.endswith(b"\n") else None


def promoting(project, place, source):
    """A promotion, to be attempted."""

    def act():
        done = promoted(project, source, target=place, lock_seconds=60.0)
        return done.revision, done.version

    return act


def killed(project, promotions, rng):
    """Promote under kills; what was acknowledged, the number of kills and how long one takes."""
    for place in (Target("system", a, "first") for a in ACTIONS):
        promoted(project, target=place)
    usual = []
    for n in range(5):
        began = time.perf_counter()
        attempt(promoting(project, Target("system", "count", "first"), module(f"usual {n}")), None)
        usual.append(time.perf_counter() - began)
    longest = 1.5 * min(usual)
    acknowledged, kills = {}, 0
    for n in range(promotions):
        place, source = target(rng), module(f"revision {n}")
        tries = 0
        act = promoting(project, place, source)
        while (done := attempt(act, rng.uniform(0, longest))) is None:
            tries += 1
            longest *= 1.05  # promotions take longer as the catalogue grows
        longest *= 1 if tries else 0.95
        kills += tries
        acknowledged[version_archive.digest(source)] = (place.tool_id, *done)
    return acknowledged, kills, min(usual)


def crowded(project, promoters, each):
    """Many processes promote at once; what was acknowledged."""
    reading, written = os.pipe()
    children = []
    for who in range(promoters):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                rng = random.Random(who)
                for n in range(each):
                    place, source = target(rng), module(f"{who} {n}")
                    done = promoted(project, source, target=place, lock_seconds=120.0)
                    row = [
                        version_archive.digest(source),
                        place.tool_id,
                        done.revision,
                        done.version,
                    ]
                    os.write(written, json.dumps(row).encode() + b"\n")
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    os.close(written)
    with os.fdopen(reading, encoding="utf-8") as said:
        rows = [json.loads(line) for line in said]
    failed = [c for c in children if os.waitstatus_to_exitcode(os.waitpid(c, 0)[1])]
    if failed:
        raise SystemExit(f"{len(failed)} promoters failed")
    return {digest: tuple(rest) for digest, *rest in rows}


def audit(project, acknowledged):
    """Return the faults of the catalogue by kind; every list is empty if there are none."""
    store_of(project).recover()
    records = promotion_records.read_all(project / "workflows")
    hashes = Counter(r.tool_hash for r in records)
    found = {(r.tool_hash, r.tool_id, r.id, r.version) for r in records}
    log = project / "workflows/domains/system/CHANGELOG.md"
    headings = Counter(x for x in log.read_text("utf-8").splitlines() if x.startswith("## "))
    written = Counter(f"## {r.tool_id} {r.version} - 2026-03-01" for r in records)
    decisions = logged(project / ".pulsus/audit")
    return {
        "lost": [a for h, a in acknowledged.items() if (h, *a) not in found],
        "doubled": [h for h in acknowledged if hashes[h] > 1]
        + [r for r, times in Counter(r.id for r in records).items() if times > 1],
        "torn": [*torn(project, records), *leftovers(project)],
        "versions": [*out_of_order(records)],
        "changelog": [*(headings - written), *(written - headings)],
        "decisions": [r.id for r in records if decisions[catalogue_lock.decision_key(r)] != 1],
    }


def torn(project, records):
    """Files whose bytes are not those on record, and replaced versions that are not kept."""
    root = project / "workflows"
    for path in promotion_records.list_record_files(root):
        if not path.read_bytes().endswith(b"\n"):
            yield str(path)
    latest = {r.tool_id: r for r in records}
    for record in records:
        place = Target("system", record.action, record.name.removesuffix(".py"))
        replaced = record.tool_hash != latest[record.tool_id].tool_hash
        if replaced and version_archive.read_version(root, place, record.tool_hash) is None:
            yield f"{record.tool_id} {record.version} is not kept"
    for tool_id, record in latest.items():
        domain, action, name = tool_id.split("/")
        file = Target(domain, action, name).path(root)
        if version_archive.digest(file.read_bytes()) != record.tool_hash:
            yield str(file)


def leftovers(project):
    staged = [str(p) for p in (project / "workflows").rglob(".*.pulsus-tmp")]
    return [*staged, *(str(p) for p in (project / ".pulsus").glob("*promotion.json*"))]


def out_of_order(records):
    """Tools whose versions are not 1.0.0, then one patch more each time."""
    last: dict[str, str] = {}
    for record in records:
        expected = semver.next_version(last.get(record.tool_id))
        if record.version != expected:
            yield f"{record.tool_id}: {record.version} after {last.get(record.tool_id)}"
        last[record.tool_id] = record.version


def logged(folder):
    """Count each key in the decision log. Fails for a record that is not whole."""
    keys: Counter[str] = Counter()
    for path in log_reader.segments(folder):
        for line in path.read_bytes().splitlines():
            record = log_record.parse_valid(line)
            if record is None:
                raise SystemExit(f"{path} holds a record that is not whole: {line[:80]!r}")
            keys[record.key or ""] += 1
    return keys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="promotions to kill")
    parser.add_argument("--promoters", type=int, default=8)
    parser.add_argument("--each", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        one, many = Path(folder, "one"), Path(folder, "many")
        began = time.perf_counter()
        acknowledged, kills, usual = killed(one, options.kills, random.Random(options.seed))
        after_kills = audit(one, acknowledged)
        middle = time.perf_counter()
        promoted(many)
        together = crowded(many, options.promoters, options.each)
        after_crowd = audit(many, together)
        ended = time.perf_counter()
    report = {
        "promotions": len(acknowledged),
        "kills": kills,
        "one_promotion_ms": round(usual * 1000, 1),
        "kill_seconds": round(middle - began, 1),
        "after_kills": {name: len(wrong) for name, wrong in after_kills.items()},
        "promoters": options.promoters,
        "promotions_at_once": len(together),
        "at_once_seconds": round(ended - middle, 1),
        "after_crowd": {name: len(wrong) for name, wrong in after_crowd.items()},
    }
    print(json.dumps(report, indent=2))
    wrong = [w for found in (after_kills, after_crowd) for ws in found.values() for w in ws]
    for each in wrong[:20]:
        print(each, file=sys.stderr)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
