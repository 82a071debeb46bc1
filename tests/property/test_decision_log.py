"""The decision log: appended records verify, and every single change is found (spec §17)."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pulsus.core.storage.decision_log import accept_break, log_record, verify_log
from pulsus.core.telemetry.redaction import Redactor
from tests.decisions import append, damages, each, logged, noon
from tests.example_counts import examples

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
DATA = st.dictionaries(st.text(max_size=8), JSON, max_size=4)
FEW = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))


@given(rows=st.lists(st.tuples(DATA, st.text(max_size=12) | st.none()), max_size=5))
@example(rows=[({}, ""), ({}, "")])
@FEW
def test_appended_records_verify_and_read_back(tmp_path_factory, rows):
    state_dir = tmp_path_factory.mktemp("log")
    for data, key in rows:
        append(state_dir, data=data, key=key)
    found = verify_log.check_log(state_dir / "audit")
    assert (found.damages, found.notes) == ((), ())
    keyed = [key for _, key in rows if key is not None]
    assert found.records == (len(rows) - len(keyed) + len(set(keyed)) + 1 if rows else 0)


@given(
    seq=st.integers(1, 10**9),
    kind=st.text(max_size=10),
    data=DATA,
    key=st.none() | st.text(max_size=10),
    prev=st.text("0123456789abcdef", min_size=64, max_size=64),
)
@settings(max_examples=examples(100), deadline=None)
def test_a_record_is_one_line_and_reads_back_unchanged(seq, kind, data, key, prev):
    line = log_record.encode(seq, "2026-03-01T12:00:00.000+00:00", kind, data, key, prev)
    assert line.count(b"\n") == 1
    record = log_record.parse_valid(line[:-1])
    assert record
    assert (record.seq, record.kind, record.key, record.prev) == (seq, kind, key, prev)
    assert record.data == json.loads(json.dumps(data))


def _mutated(data, content):
    """The content with one byte changed, added or taken away."""
    at = data.draw(st.integers(0, len(content) - 1), "at")
    how = data.draw(st.sampled_from(("change", "insert", "delete")), "how")
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != content[at]), "byte")
    middle = {"change": bytes([byte]), "insert": bytes([byte, content[at]]), "delete": b""}[how]
    return content[:at] + middle + content[at + 1 :]


@pytest.mark.seconds
@given(data=st.data())
@MANY
def test_any_byte_changed_added_or_taken_away_is_found(tmp_path_factory, data):
    folder = _log(tmp_path_factory)
    name = data.draw(st.sampled_from([p.name for p in _files(folder)]), "file")
    changed = _copy(folder, tmp_path_factory)
    content = (changed / name).read_bytes()
    (changed / name).chmod(0o644)
    (changed / name).write_bytes(_mutated(data, content))
    assert damages(changed)
    assert damages(changed, quick=True)
    shutil.rmtree(changed)


@pytest.mark.seconds
@given(data=st.data())
@MANY
def test_any_record_dropped_doubled_moved_or_cut_off_is_found(tmp_path_factory, data):
    folder = _log(tmp_path_factory)
    changed = _copy(folder, tmp_path_factory)
    path = data.draw(st.sampled_from([p for p in _files(changed) if p.suffix == ".jsonl"]), "file")
    lines = path.read_bytes().splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1), "at")
    to = data.draw(st.integers(0, len(lines) - 1).filter(lambda n: n != at), "to")
    rest = lines[:at] + lines[at + 1 :]
    new = data.draw(
        st.sampled_from(
            (
                rest,
                [*lines[: at + 1], *lines[at:]],
                [*rest[:to], lines[at], *rest[to:]],
                lines[:at],
                lines[at + 1 :],
            )
        ),
        "lines",
    )
    path.chmod(0o644)
    path.write_bytes(b"".join(new))
    if new != lines:
        assert damages(changed)
        assert damages(changed, quick=True)
    shutil.rmtree(changed)


_KEPT: dict[str, Path] = {}


def _log(factory):
    """A log of three segments, made once."""
    if "folder" not in _KEPT:
        _KEPT["folder"] = logged(factory.mktemp("kept"), 12, seal_after=(4, 8))
        assert len(each(_KEPT["folder"])) == 14
    return _KEPT["folder"]


def _copy(folder, factory):
    return shutil.copytree(folder, factory.mktemp("changed") / "audit")


def _files(folder):
    return sorted(p for p in folder.iterdir() if p.is_file())


@pytest.mark.seconds
@given(where=st.data())
@settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))
def test_an_acceptance_repairs_the_log_after_any_change_of_bytes(tmp_path_factory, where):
    state_dir = tmp_path_factory.mktemp("log")
    folder = logged(state_dir, 6, seal_after=(3,))
    path = where.draw(st.sampled_from(sorted(p for p in folder.iterdir() if p.is_file())))
    content = path.read_bytes()
    at = where.draw(st.integers(0, len(content) - 1))
    path.chmod(0o644)
    path.write_bytes(content[:at] + where.draw(st.binary(max_size=40)) + content[at + 1 :])
    found = damages(folder)
    if found:
        accept_break.accept(
            state_dir,
            by="alice",
            reason="looked at",
            damages=len(found),
            records=(),
            least=0,
            clock=noon,
            redactor=Redactor(),
        )
    assert damages(folder) == []
    append(state_dir)
    assert damages(folder) == damages(folder, quick=True) == []
