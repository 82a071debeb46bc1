"""The decision log: what is recorded, and what of a later change shows (spec §10, §17)."""

import errno
import json
import multiprocessing
import os
import threading
from itertools import count

import filelock
import pytest

from pulsus.core.storage.decision_log import (
    accept_break,
    decision_log,
    log_reader,
    log_record,
    log_rotation,
    verify_log,
)
from pulsus.core.storage.decision_log.user_witness import Witness
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import AuditTampered, Busy, DiskFull, StateCorrupt, StorageUnwritable
from tests.decisions import (
    LATER,
    NOON,
    append,
    append_in_child,
    damages,
    each,
    forget_log,
    head,
    logged,
    noon,
    parsed,
)

SEGMENT = "decisions-000001.jsonl"


def rows(folder, name=SEGMENT):
    return (folder / name).read_bytes().splitlines(keepends=True)


def rewrite(folder, lines, name=SEGMENT):
    (folder / name).chmod(0o644)
    (folder / name).write_bytes(b"".join(lines))


def test_each_record_names_the_hash_of_the_one_before(tmp_path):
    folder = logged(tmp_path, 4)
    records = [parsed(line) for line in rows(folder)]
    assert [r.seq for r in records] == [1, 2, 3, 4]
    assert [r.prev for r in records] == [log_record.GENESIS, *(r.hash for r in records[:-1])]
    assert [r.kind for r in records] == ["log", "approve", "approve", "approve"]


def test_a_hash_can_be_recomputed_from_the_line_by_anybody(tmp_path):
    folder = logged(tmp_path, 3)
    for line in rows(folder):
        fields = json.loads(line)
        stated = fields.pop("hash")
        body = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
        assert log_record.digest(body) == stated


def test_append_gives_the_head_and_the_head_file_says_the_same(tmp_path):
    made = append(tmp_path)
    assert head(tmp_path / "audit") == made
    assert made.seq == 2
    assert made.log == parsed(rows(tmp_path / "audit")[0]).hash


def test_secrets_do_not_get_into_the_log(tmp_path):
    append(tmp_path, data={"request": "use hunter2-hunter2", "password": "x"})
    text = b"".join(rows(tmp_path / "audit")).decode()
    assert "hunter2" not in text
    assert '"password":"[redacted]"' in text


@pytest.mark.seconds
def test_values_that_are_no_json_and_far_too_long_ones_are_recorded_all_the_same(tmp_path):
    append(tmp_path, data={"path": tmp_path, "odd": "\udcff", "inf": float("inf")})
    append(tmp_path, data={"long": "é" * 500_000, "many": list(range(50_000))})
    append(tmp_path)
    folder = tmp_path / "audit"
    assert damages(folder) == []
    assert max(map(len, rows(folder))) < decision_log.MAX_LINE_BYTES


def test_the_same_key_is_recorded_once_even_across_a_seal(tmp_path):
    first = append(tmp_path, key="rev-1")
    assert append(tmp_path, key="rev-1") == first
    log_rotation.seal_segment(tmp_path, before=LATER, clock=noon)
    assert append(tmp_path, key="rev-1").seq == first.seq + 1, "only the seal was added"
    assert append(tmp_path, key="rev-2").seq == first.seq + 2


def test_a_key_that_stands_in_another_records_data_does_not_count(tmp_path):
    append(tmp_path, data={"a": {"x": 1, "key": "rev-1", "kind": "promote"}})
    before = len(rows(tmp_path / "audit"))
    append(tmp_path, key="rev-1")
    assert len(rows(tmp_path / "audit")) == before + 1


def test_an_anchor_names_the_log_and_its_head_and_begins_a_log(tmp_path):
    anchor = decision_log.log_anchor(tmp_path, clock=noon)
    assert anchor == {"log": anchor["hash"], "seq": 1, "hash": anchor["hash"]}
    made = append(tmp_path)
    assert decision_log.log_anchor(tmp_path, clock=noon) == {
        "log": made.log,
        "seq": 2,
        "hash": made.hash,
    }


def test_two_logs_begun_at_the_same_moment_are_not_the_same(tmp_path):
    assert append(tmp_path / "one").log != append(tmp_path / "two").log


def test_a_clean_log_has_nothing_to_tell(tmp_path):
    folder = logged(tmp_path, 9, seal_after=(3, 5))
    found = verify_log.check_log(folder)
    assert (found.damages, found.notes, found.more) == ((), (), 0)
    assert (found.records, found.segments, found.sealed) == (11, 3, 2)
    assert head(folder).seq == 11


def test_no_log_at_all_is_no_damage(tmp_path):
    assert verify_log.check_log(tmp_path / "audit").head is None
    assert damages(tmp_path / "audit") == []


def test_a_flipped_bit_is_found_with_its_line(tmp_path):
    folder = logged(tmp_path, 5)
    lines = rows(folder)
    lines[2] = lines[2].replace(b'"number":2', b'"number":3')
    rewrite(folder, lines)
    assert damages(folder) == [("ALTERED", SEGMENT, 3)]


def test_a_record_changed_together_with_its_hash_is_found(tmp_path):
    folder = logged(tmp_path, 5)
    lines = rows(folder)
    old = parsed(lines[2])
    lines[2] = log_record.encode(old.seq, old.ts, old.kind, {"number": 99}, None, old.prev)
    rewrite(folder, lines)
    assert damages(folder) == [("REPLACED", SEGMENT, 4)]


@pytest.mark.parametrize("ts", ["soon", "2026-03-01T12:00:00"])
def test_a_record_forged_with_a_time_that_is_none_is_found(tmp_path, ts):
    folder = logged(tmp_path, 3)
    lines = rows(folder)
    old = parsed(lines[1])
    lines[1] = log_record.encode(old.seq, ts, old.kind, old.data, None, old.prev)
    rewrite(folder, lines)
    assert damages(folder) == [("UNREADABLE", SEGMENT, 2)]


def test_the_last_record_changed_together_with_its_hash_is_found(tmp_path):
    folder = logged(tmp_path, 5)
    lines = rows(folder)
    old = parsed(lines[-1])
    lines[-1] = log_record.encode(old.seq, old.ts, old.kind, {"number": 99}, None, old.prev)
    rewrite(folder, lines)
    assert damages(folder) == [("HEAD_DIFFERS", "head.json", None)]


def test_a_dropped_record_is_found_with_its_line(tmp_path):
    folder = logged(tmp_path, 6)
    lines = rows(folder)
    del lines[2:4]
    rewrite(folder, lines)
    assert damages(folder) == [("DROPPED", SEGMENT, 3)]


def test_swapped_records_are_found_with_their_lines(tmp_path):
    folder = logged(tmp_path, 6)
    lines = rows(folder)
    lines[2], lines[3] = lines[3], lines[2]
    rewrite(folder, lines)
    assert damages(folder) == [("DROPPED", SEGMENT, 3), ("MISPLACED", SEGMENT, 4)]


def test_a_record_written_twice_is_found(tmp_path):
    folder = logged(tmp_path, 4)
    lines = rows(folder)
    rewrite(folder, [*lines, lines[-1]])
    assert damages(folder) == [("MISPLACED", SEGMENT, 5)]


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_whole_records_cut_from_the_end_are_found(tmp_path, kept):
    folder = logged(tmp_path, 5)
    rewrite(folder, rows(folder)[:kept])
    assert damages(folder) == [("TRUNCATED", SEGMENT, None)]


@pytest.mark.parametrize(
    ("kept", "says"), [(4, "record 5 is missing"), (3, "records 4 to 5 are missing")]
)
def test_one_record_that_is_missing_is_not_counted_as_several(tmp_path, kept, says):
    folder = logged(tmp_path, 5)
    rewrite(folder, rows(folder)[:kept])
    (damage,) = verify_log.check_log(folder).damages
    assert damage.reason == f"{says} at its end"


def test_the_whole_log_without_its_head_file_is_found(tmp_path):
    folder = logged(tmp_path, 5)
    (folder / SEGMENT).unlink()
    assert damages(folder) == [("TRUNCATED", SEGMENT, None)]


def test_a_last_record_cut_short_after_it_was_acknowledged_is_no_crash(tmp_path):
    folder = logged(tmp_path, 5)
    lines = rows(folder)
    lines[-1] = lines[-1][:-10]
    rewrite(folder, lines)
    assert damages(folder) == [("UNREADABLE", SEGMENT, 5)]
    with pytest.raises(AuditTampered):
        append(tmp_path)


def test_a_head_that_is_gone_spoilt_or_set_back_is_found(tmp_path):
    folder = logged(tmp_path, 3)
    old = (folder / "head.json").read_bytes()
    logged(tmp_path, 5)
    now = (folder / "head.json").read_bytes()
    (folder / "head.json").write_bytes(old)
    assert damages(folder) == [("HEAD_BEHIND", "head.json", None)]
    (folder / "head.json").write_bytes(now[:-5])
    assert damages(folder) == [("HEAD_UNREADABLE", "head.json", None)]
    (folder / "head.json").unlink()
    assert damages(folder) == [("HEAD_MISSING", "head.json", None)]


def test_a_head_that_is_no_file_is_unreadable_and_can_be_accepted(tmp_path):
    """This was reported as a disk that cannot be written to."""
    folder = logged(tmp_path, 3)
    (folder / "head.json").unlink()
    (folder / "head.json").mkdir()
    (folder / "head.json/kept").touch()
    assert damages(folder) == [("HEAD_UNREADABLE", "head.json", None)]
    with pytest.raises(AuditTampered, match="not a regular file"):
        append(tmp_path)
    accept_break.accept(
        tmp_path,
        by="alice",
        reason="a slip",
        damages=1,
        records=(),
        least=0,
        clock=noon,
        redactor=Redactor(()),
    )
    assert damages(folder) == []
    assert append(tmp_path).seq == 5
    assert (folder / "head.json.1/kept").exists(), "the evidence stays"


@pytest.mark.parametrize("garbage", [b"x\n", b"x\ny\n", b"{}\n"])
def test_garbage_behind_the_last_record_is_not_said_to_be_put_right(tmp_path, garbage):
    folder = logged(tmp_path, 3)
    with (folder / SEGMENT).open("ab") as file:
        file.write(garbage)
    found = verify_log.check_log(folder)
    assert [damage.code for damage in found.damages] == ["UNREADABLE"]
    assert found.notes == ()
    with pytest.raises(AuditTampered):
        append(tmp_path)


def test_a_log_whose_line_ends_were_converted_is_one_damage_that_says_so(tmp_path):
    folder = logged(tmp_path, 30)
    (folder / SEGMENT).write_bytes((folder / SEGMENT).read_bytes().replace(b"\n", b"\r\n"))
    (found,) = verify_log.check_log(folder).damages
    assert (found.code, found.line) == ("UNREADABLE", 1)
    assert "CR LF" in found.reason
    assert found.reason.endswith("(so with the 29 lines after it)")


def test_unreadable_lines_apart_from_each_other_stay_apart(tmp_path):
    folder = logged(tmp_path, 9)
    lines = rows(folder)
    lines[2] = lines[3] = lines[6] = b"x\n"
    rewrite(folder, lines)
    assert [d[2] for d in damages(folder) if d[0] == "UNREADABLE"] == [3, 7]


def test_a_log_that_is_no_file_is_one_damage(tmp_path):
    folder = logged(tmp_path, 5)
    (folder / SEGMENT).unlink()
    (folder / SEGMENT).symlink_to("/dev/null")
    assert damages(folder) == [("UNREADABLE", SEGMENT, None)]


def test_a_log_swapped_for_another_one_of_the_same_length_is_found(tmp_path):
    mine, other = logged(tmp_path / "mine", 3), logged(tmp_path / "other", 3)
    rewrite(mine, rows(other))
    assert damages(mine) == [("HEAD_DIFFERS", "head.json", None)]


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_a_missing_segment_is_found(tmp_path, gone):
    folder = logged(tmp_path, 9, seal_after=(3, 5))
    (folder / f"decisions-00000{gone}.jsonl").unlink()
    code = "TRUNCATED" if gone == 3 else "SEGMENT_MISSING"
    assert code in [found[0] for found in damages(folder)]


def test_a_link_in_place_of_a_segment_is_not_followed(tmp_path):
    folder = logged(tmp_path, 3)
    (folder / SEGMENT).rename(tmp_path / "elsewhere")
    (folder / SEGMENT).symlink_to(tmp_path / "elsewhere")
    assert ("UNREADABLE", SEGMENT, None) in damages(folder)
    with pytest.raises(StorageUnwritable):
        append(tmp_path)


def test_a_line_that_never_ends_is_not_read_whole(tmp_path):
    folder = logged(tmp_path, 3)
    lines = rows(folder)
    rewrite(folder, [lines[0], b"x" * (3 * decision_log.MAX_LINE_BYTES), *lines[1:]])
    assert damages(folder)[0] == ("UNREADABLE", SEGMENT, 2)


def test_what_a_crash_leaves_is_told_from_tampering_and_put_right(tmp_path):
    folder = logged(tmp_path, 3)
    whole = rows(folder)
    rewrite(folder, [*whole, b'{"data":{"number":3},"key":nu'])
    found = verify_log.check_log(folder)
    assert found.damages == ()
    assert [note for note in found.notes if f"{SEGMENT}:4" in note]
    append(tmp_path)
    assert rows(folder)[:3] == whole
    assert verify_log.check_log(folder).notes == ()
    assert len(rows(folder)) == 4


def test_zeros_where_a_block_never_got_to_the_disk_are_what_a_crash_leaves(tmp_path):
    folder = logged(tmp_path, 3)
    whole = rows(folder)
    rewrite(folder, [*whole, whole[-1][:40] + bytes(40) + whole[-1][80:]])
    assert damages(folder) == []
    append(tmp_path)
    assert rows(folder)[:3] == whole
    assert damages(folder) == []


@pytest.mark.parametrize("line", [b"\n", b"{}\n", b"nonsense\n"])
def test_a_whole_line_that_is_no_record_is_no_crash(tmp_path, line):
    folder = logged(tmp_path, 3)
    rewrite(folder, [*rows(folder), line])
    assert damages(folder) == [("UNREADABLE", SEGMENT, 4)]
    with pytest.raises(AuditTampered):
        append(tmp_path)


def test_a_head_one_record_behind_is_what_a_crash_leaves(tmp_path):
    folder = logged(tmp_path, 3)
    old = (folder / "head.json").read_bytes()
    append(tmp_path)
    (folder / "head.json").write_bytes(old)
    found = verify_log.check_log(folder)
    assert (found.damages, len(found.notes)) == ((), 1)
    assert append(tmp_path).seq == 5
    assert damages(folder) == []


def test_nothing_is_appended_to_a_log_that_was_cut(tmp_path):
    folder = logged(tmp_path, 5)
    rewrite(folder, rows(folder)[:3])
    before = rows(folder)
    with pytest.raises(AuditTampered) as refused:
        append(tmp_path)
    assert rows(folder) == before
    assert "--accept-break" in refused.value.hint


def test_no_new_log_begins_unasked_where_the_old_one_was_removed(tmp_path):
    logged(tmp_path, 5).rename(tmp_path / "elsewhere")
    with pytest.raises(AuditTampered, match="was begun here"):
        append(tmp_path)
    assert damages(tmp_path / "audit") == [("LOG_MISSING", "audit", None)]
    (tmp_path / "elsewhere").rename(tmp_path / "audit")
    assert append(tmp_path).seq == 6


def test_another_log_in_its_place_is_found_and_not_gone_on_with(tmp_path):
    mine, other = logged(tmp_path / "mine", 3), logged(tmp_path / "other", 3)
    mine.rename(tmp_path / "away")
    other.rename(mine)
    assert damages(mine) == [("LOG_REPLACED", "decision-log", None)]
    with pytest.raises(AuditTampered):
        append(tmp_path / "mine")


def test_a_log_of_an_older_pulsus_is_noted_with_the_next_record(tmp_path):
    made = append(tmp_path)
    (tmp_path / "decision-log").unlink()
    assert damages(tmp_path / "audit") == []
    append(tmp_path)
    assert (tmp_path / "decision-log").read_text("utf-8") == f"{made.log}\n"


def test_a_seal_closes_a_segment_and_is_its_checkpoint(tmp_path):
    logged(tmp_path, 4)
    closed = log_rotation.seal_segment(tmp_path, before=LATER, clock=noon)
    folder = tmp_path / "audit"
    assert closed
    assert closed == folder / SEGMENT
    assert not closed.stat().st_mode & 0o222
    (line,) = rows(folder, "decisions-000002.jsonl")
    seal = log_rotation.parse_seal(parsed(line))
    assert seal
    assert seal.content == log_reader.read_content(closed)
    assert (seal.records, seal.first, seal.last) == (4, 1, 4)
    append(tmp_path)
    assert len(rows(folder, "decisions-000002.jsonl")) == 2
    assert damages(folder) == damages(folder, quick=True) == []


def test_a_young_segment_an_empty_one_and_no_log_are_not_sealed(tmp_path):
    assert log_rotation.seal_segment(tmp_path, before=LATER, clock=noon) is None
    assert not (tmp_path / "audit").exists()
    logged(tmp_path, 3)
    assert log_rotation.seal_segment(tmp_path, before=NOON, clock=noon) is None
    assert log_rotation.seal_segment(tmp_path, before=LATER, clock=noon, dry_run=True) is not None
    assert len(log_reader.segments(tmp_path / "audit")) == 1
    assert log_rotation.seal_segment(tmp_path, before=LATER, clock=noon)
    assert log_rotation.seal_segment(tmp_path, before=LATER, clock=noon) is None, (
        "it holds only a seal"
    )


@pytest.mark.parametrize("quick", [False, True])
def test_a_changed_sealed_segment_is_found_with_its_line(tmp_path, quick):
    folder = logged(tmp_path, 9, seal_after=(3, 5))
    lines = rows(folder)
    rewrite(folder, [lines[0], lines[1].replace(b"number", b"nunber"), *lines[2:]])
    found = damages(folder, quick=quick)
    assert ("ALTERED", SEGMENT, 2) in found
    assert ("SEAL_BROKEN", SEGMENT, None) in found


def test_quick_verification_reads_only_what_is_not_sealed(tmp_path):
    folder = logged(tmp_path, 9, seal_after=(3, 5))
    seen: list[log_record.LogRecord] = []
    found = verify_log.check_log(folder, quick=True, each=seen.append)
    assert (found.records, found.unread) == (11, 7)
    assert [record.seq for record in seen] == [8, 9, 10, 11]


def test_many_damages_are_counted_not_listed(tmp_path):
    folder = logged(tmp_path, 2)
    rewrite(folder, [*rows(folder), *[b"nonsense\n", b"nonsense\r\n"] * 250])
    found = verify_log.check_log(folder)
    assert len(found.damages) == verify_log.MAX_DAMAGES
    assert found.more > 300


@pytest.mark.seconds
def test_eight_processes_appending_at_once_lose_and_mix_nothing(tmp_path):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    children = [
        context.Process(target=append_in_child, args=(str(tmp_path), f"p{n}", 25, queue))
        for n in range(8)
    ]
    for child in children:
        child.start()
    appended = [key for _ in children for key in queue.get(timeout=120)]
    for child in children:
        child.join(120)
    assert [child.exitcode for child in children] == [0] * 8
    assert appended, "each process was refused"
    keys = [record.key for record in each(tmp_path / "audit")]
    assert damages(tmp_path / "audit") == []
    # What was refused as busy left nothing, and what was not is on record once.
    assert sorted(keys[1:]) == sorted(appended)


@pytest.mark.parametrize("several", [1, 20])
def test_a_check_beside_an_append_reports_no_damage(tmp_path, several):
    logged(tmp_path, 3)
    stop = threading.Event()

    def keep_appending():
        for number in count():
            keys = [f"{number}-{each}" for each in range(several)]
            append_several(tmp_path, *keys, data={"text": "x" * 900})
            if stop.is_set():
                return

    other = threading.Thread(target=keep_appending)
    other.start()
    try:
        found = [damages(tmp_path / "audit") for _ in range(40)]
    finally:
        stop.set()
        other.join()
    assert found == [[]] * 40


def append_several(state_dir, *keys, data=None):
    """Append a decision for each key at once; the head."""
    decisions = [
        decision_log.make_decision("approve", data or {"of": key}, Redactor(), key) for key in keys
    ]
    return decision_log.append_all(state_dir, decisions, clock=noon)


class Crash(BaseException):
    """The process is gone."""


def _crashing(monkeypatch, nth):
    """Let the `nth` change of the disk from now on not happen, or happen by half."""
    calls = 0

    def guarded(name, real):
        def call(*args, **options):
            nonlocal calls
            calls += 1
            if calls < nth:
                return real(*args, **options)
            if calls == nth and name == "write":
                real(args[0], args[1][: len(args[1]) // 2])
            raise Crash

        return call

    for name in ("write", "fsync", "ftruncate", "rename", "unlink"):
        monkeypatch.setattr(os, name, guarded(name, getattr(os, name)))
    return lambda: calls


def _crashed(state_dir, work, nth):
    """Do the work, and crash at the `nth` change of the disk; False if there were fewer."""
    with pytest.MonkeyPatch.context() as patch:
        calls = _crashing(patch, nth)
        try:
            if work == "seal":
                log_rotation.seal_segment(state_dir, before=LATER, clock=noon)
            elif work == "several":
                append_several(state_dir, "it", "it-2", "it-3")
            else:
                append(state_dir, key="it")
        except Crash:
            pass
    return calls() >= nth


@pytest.mark.parametrize("work", ["first", "append", "seal", "repair", "several"])
def test_a_crash_at_any_write_loses_nothing_acknowledged_and_is_put_right(tmp_path, work):
    for nth in range(1, 100):
        state_dir = tmp_path / str(nth)
        folder = state_dir / "audit"
        if work != "first":
            logged(state_dir, 3)
        acknowledged = b"".join(rows(folder)) if folder.exists() else b""
        if work == "repair":
            rewrite(folder, [acknowledged, b'{"data":{"num'])
        crashed = _crashed(state_dir, work, nth)
        if folder.exists():
            assert verify_log.check_log(folder).damages == ()
        assert Witness.of(folder).match() in ("none", "same")
        append(state_dir, key="it")
        found = verify_log.check_log(folder)
        assert (found.damages, found.notes) == ((), ())
        assert [record.key for record in each(folder)].count("it") == 1
        assert (folder / SEGMENT).read_bytes().startswith(acknowledged)
        if not crashed:
            assert nth > 4, "the work was not interrupted anywhere"
            return
    pytest.fail("the work never came to its end")


def test_several_decisions_are_recorded_by_one_append(tmp_path):
    folder = logged(tmp_path, 2)
    made = append_several(tmp_path, "a", "b", "c")
    *_, first, second, third = records = [parsed(line) for line in rows(folder)]
    assert (made.seq, made.hash) == (5, third.hash)
    assert [r.prev for r in records[1:]] == [r.hash for r in records[:-1]]
    assert (first.key, second.key, third.key) == ("a", "b", "c")
    assert {first.ts, second.ts, third.ts} == {"2026-03-01T12:00:00.000000+00:00"}
    assert damages(folder) == []


def test_a_key_that_stands_twice_among_several_decisions_is_recorded_once(tmp_path):
    append_several(tmp_path, "a", "b")
    append_several(tmp_path, "b", "a", "c", "c")
    assert [r.key for r in each(tmp_path / "audit")] == [None, "a", "b", "c"]


@pytest.mark.seconds
@pytest.mark.parametrize("data", [{}, {"text": "x" * 60_000}])
def test_more_decisions_than_an_append_can_hold_are_recorded_in_order(tmp_path, data):
    keys = [f"k{number:02d}" for number in range(70)]
    append_several(tmp_path, *keys, data=data)
    assert [r.key for r in each(tmp_path / "audit")] == [None, *keys]
    assert damages(tmp_path / "audit") == []


@pytest.mark.parametrize("cut", [0, 7])
@pytest.mark.parametrize("there", [1, 2, 3])
def test_an_append_of_several_that_was_interrupted_is_put_right(tmp_path, there, cut):
    folder = logged(tmp_path, 3)
    old = (folder / "head.json").read_bytes()
    append_several(tmp_path, "a", "b", "c", "d")
    lines = rows(folder)
    rewrite(folder, [*lines[: 3 + there], lines[3 + there][:-cut] if cut else b""])
    (folder / "head.json").write_bytes(old)
    found = verify_log.check_log(folder)
    assert (found.damages, bool(found.notes)) == ((), True)
    assert Witness.of(folder).match() == "shorter", "it was acknowledged here"
    forget_log(folder)
    append(tmp_path, key="later")
    assert [r.key for r in each(folder)][3:] == [*"abcd"[:there], "later"]
    assert damages(folder) == []


def test_a_head_that_was_set_back_behind_several_appends_is_found(tmp_path):
    folder = logged(tmp_path, 3)
    old = (folder / "head.json").read_bytes()
    append(tmp_path, key="a")
    append_several(tmp_path, "b", "c")
    (folder / "head.json").write_bytes(old)
    assert damages(folder) == [("HEAD_BEHIND", "head.json", None)]
    with pytest.raises(AuditTampered):
        append(tmp_path)


def test_a_changed_record_behind_the_head_is_no_interrupted_append(tmp_path):
    folder = logged(tmp_path, 3)
    old = (folder / "head.json").read_bytes()
    append_several(tmp_path, "a", "b", "c")
    lines = rows(folder)
    rewrite(folder, [*lines[:4], lines[4].replace(b'"b"', b'"x"'), *lines[5:]])
    (folder / "head.json").write_bytes(old)
    assert ("ALTERED", SEGMENT, 5) in damages(folder)
    with pytest.raises(AuditTampered):
        append(tmp_path)


def test_a_full_disk_takes_the_record_back(tmp_path, monkeypatch):
    folder = logged(tmp_path, 3)
    before = rows(folder)
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[: len(data) // 2]))
    with pytest.raises(DiskFull):
        append(tmp_path)
    monkeypatch.undo()
    assert rows(folder) == before
    append(tmp_path)
    assert damages(folder) == []


def test_a_disk_that_fails_is_an_error_with_a_cause(tmp_path, monkeypatch):
    logged(tmp_path, 3)

    def fail(fd):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageUnwritable):
        append(tmp_path)


def test_a_lock_held_for_too_long_is_busy_and_nothing_is_appended(tmp_path):
    folder = logged(tmp_path, 2)
    before = rows(folder)
    with filelock.FileLock(tmp_path / "locks" / "audit.lock"), pytest.raises(Busy) as busy:
        append(tmp_path, lock_seconds=0.05)
    assert busy.value.exit_status == 75
    assert busy.value.hint == "try again"
    assert rows(folder) == before


def test_a_state_folder_of_a_newer_pulsus_is_left_alone(tmp_path):
    tmp_path.joinpath("version").write_text("99\n", encoding="utf-8")
    with pytest.raises(StateCorrupt):
        append(tmp_path)
