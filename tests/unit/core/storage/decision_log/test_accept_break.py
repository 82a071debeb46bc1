"""A decision log goes on behind a damage that was accepted, and behind no other."""

import shutil

import pytest

from pulsus.core.storage.decision_log import accept_break, log_rotation, verify_log, whole_log
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import AuditTampered
from tests.decisions import LATER, append, damages, each, head, logged, noon

SEGMENT = "decisions-000001.jsonl"


def accept(state_dir, *, records=(), least=0, reason="restored from Monday's backup"):
    count = len(verify_log.check_log(state_dir / "audit").damages)
    return accept_break.accept(
        state_dir,
        by="alice",
        reason=reason,
        damages=count,
        records=records,
        least=least,
        clock=noon,
        redactor=Redactor(("hunter2-hunter2",)),
    )


def alter(folder, name=SEGMENT, old=b'"number":2', new=b'"number":7'):
    path = folder / name
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(old, new))


def test_an_accepted_damage_is_none_any_more_and_the_log_goes_on(tmp_path):
    folder = logged(tmp_path, 5)
    alter(folder)
    before = (folder / SEGMENT).read_bytes()
    with pytest.raises(AuditTampered, match=r"decisions-000001\.jsonl:3 \(ALTERED\)"):
        whole_log.require_whole_log(folder)
    made = accept(tmp_path)
    assert damages(folder) == []
    whole_log.require_whole_log(folder)
    assert append(tmp_path).seq == made.seq + 1
    assert damages(folder) == damages(folder, quick=True) == []
    assert (folder / SEGMENT).read_bytes() == before, "the evidence stays"


def test_who_accepted_what_and_why_is_in_the_log_without_secrets(tmp_path):
    folder = logged(tmp_path, 5)
    alter(folder)
    accept(tmp_path, reason="the key hunter2-hunter2 was in it")
    (found,) = verify_log.check_log(folder).accepted
    assert (found.by, found.damages) == ("alice", 1)
    assert found.reason == "the key [redacted] was in it"
    assert [name for name, _, _ in found.contents] == [SEGMENT]


def test_a_further_change_of_what_was_accepted_is_a_damage_again(tmp_path):
    folder = logged(tmp_path, 5)
    alter(folder)
    accept(tmp_path)
    alter(folder, old=b'"number":3', new=b'"number":8')
    assert ("SEAL_BROKEN", "decisions-000002.jsonl", 1) in damages(folder)
    accept(tmp_path)
    assert damages(folder) == []


def test_a_change_behind_the_acceptance_is_a_damage_as_ever(tmp_path):
    folder = logged(tmp_path, 5)
    alter(folder)
    accept(tmp_path)
    append(tmp_path, data={"number": 99})
    append(tmp_path)
    alter(folder, "decisions-000002.jsonl", b'"number":99', b'"number":98')
    assert ("ALTERED", "decisions-000002.jsonl", 2) in damages(folder)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda f: (f / "head.json").unlink(), id="head gone"),
        pytest.param(lambda f: (f / "head.json").write_bytes(b"{}"), id="head damaged"),
        pytest.param(lambda f: (f / SEGMENT).unlink(), id="first segment gone"),
        pytest.param(lambda f: (f / "decisions-000002.jsonl").unlink(), id="middle one gone"),
        pytest.param(lambda f: (f / "decisions-000003.jsonl").unlink(), id="last one gone"),
        pytest.param(lambda f: shutil.rmtree(f), id="all gone"),
        pytest.param(lambda f: [p.unlink() for p in f.glob("dec*")], id="only the head left"),
        pytest.param(lambda f: (f / "decisions-000003.jsonl").write_bytes(b""), id="emptied"),
        pytest.param(lambda f: (f / "decisions-000003.jsonl").write_bytes(b"x\ny\n"), id="garbage"),
        pytest.param(lambda f: (f.parent / "decision-log").write_text("x"), id="another log noted"),
    ],
)
def test_every_damage_can_be_accepted(tmp_path, spoil):
    folder = logged(tmp_path, 9, seal_after=(3, 5))
    spoil(folder)
    with pytest.raises(AuditTampered):
        whole_log.require_whole_log(folder)
    assert damages(folder)
    made = accept(tmp_path)
    assert damages(folder) == []
    assert append(tmp_path).seq == made.seq + 1
    log_rotation.seal_segment(tmp_path, before=LATER, clock=noon)
    assert damages(folder) == damages(folder, quick=True) == []


def test_numbers_go_on_behind_every_one_that_was_used(tmp_path):
    folder = logged(tmp_path, 9)
    kept = (folder / SEGMENT).read_bytes().splitlines(keepends=True)[:3]
    (folder / SEGMENT).write_bytes(b"".join(kept))
    assert accept(tmp_path, least=12).seq == 13
    assert head(folder).log == each(folder)[0].hash, "it is still the same log"


def test_promotions_that_are_accepted_may_be_many(tmp_path):
    folder = logged(tmp_path, 2)
    keys = [f"rev-20260301-{n:03}:{n:016x}" for n in range(2500)]
    accept(tmp_path, records=keys)
    found = [key for record in each(folder) for key in accept_break.accepted_keys(record)]
    assert found == keys
    assert damages(folder) == []


def test_an_acceptance_that_was_interrupted_is_made_again(tmp_path):
    folder = logged(tmp_path, 5)
    alter(folder)
    before = (folder / "head.json").read_bytes()
    accept(tmp_path)
    line = (folder / "decisions-000002.jsonl").read_bytes()
    (folder / "head.json").write_bytes(before)
    for cut in (line, line[:40]):
        (folder / "decisions-000002.jsonl").write_bytes(cut)
        state = tmp_path / f"cut-{len(cut)}"
        shutil.copytree(folder, state / "audit")
        accept(state)
        assert damages(state / "audit") == []
        assert append(state).seq > 6


def test_an_acceptance_cannot_be_moved_into_the_middle_of_a_segment(tmp_path):
    """Only at the start of a segment does it pin what is before it."""
    folder = logged(tmp_path, 5)
    alter(folder)
    found = damages(folder)
    append(tmp_path, "accept", {"by": "x", "reason": "y z", "damages": 1, "segments": []})
    assert damages(folder) == found
