"""From a chosen module to a promoted revision: prove, ask, promote (spec §8, §10, §12, §16)."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pulsus.approvals.approver_protocol import Approve, ChangeTarget, Discard, EditModule
from pulsus.approvals.known_modules import Novelty
from pulsus.approvals.unattended import CallerApproval, NoApproval
from pulsus.core.storage import candidate_store
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import Promotion, ValidatedModule
from pulsus.errors import ApprovalNeeded, DiskFull
from pulsus.routing.delivery.deliver import MAX_EDITS, CandidateModule, DeliveryPipeline
from tests.promotions import NOON, module, report, tool

TARGET = Target("demo", "greet", "x")
ELSEWHERE = Target("demo", "wave", "y")
NEEDED = NoApproval(hint="come back")
GOOD, BETTER, BAD = module("good"), module("better"), module("bad")


class Prover:
    """Accepts everything but BAD, and counts."""

    def __init__(self):
        self.proven = []

    def validate(self, source, path, tool_, steps):
        self.proven.append(source)
        if source == BAD:
            return report(source, ok=False, verdict="refused", path=path), None
        found = report(source, path=path)
        return found, ValidatedModule(source, tool_, found)


class Promoter:
    """Remembers what it was given; `known` is already there."""

    def __init__(self, known=(), failure=None):
        self.known, self.failure, self.made = set(known), failure, []
        self.log = []

    def promote(self, validated, target, *, remove=None, edited_from=None):
        if self.failure:
            raise self.failure
        self.made.append((validated.source, target, remove, edited_from))
        return Promotion("rev-1", "1.0.0", Path("/w/x.py"), target.tool_id, created=True)

    def restored_version(self, validated, target):
        return None

    def current(self, target, sha256):
        if sha256 not in self.known:
            return None
        return Promotion("rev-0", "1.0.0", Path("/w/x.py"), target.tool_id, created=False)

    def novelty(self, target, source, summary):
        return Novelty()

    def approved(self, target):
        return True

    def generated(self, source):
        return False

    def decided(self, kind, data):
        self.log.append((kind, data))


class Person:
    """Gives the answers in turn."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def decide(self, proposal):
        self.asked.append(proposal)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def deliverer(person=None, promoter=None, prover=None):
    into: Any = promoter or Promoter()
    return DeliveryPipeline(
        prover=prover or Prover(),
        promoter=into,
        read=lambda source, path: tool(source),
        person=person,
        redactor=Redactor(),
    )


def chosen(source=GOOD, candidate=None):
    path = candidate.module if candidate else Path("/w/x.py")
    return CandidateModule(path, source, tool(source), TARGET, {}, candidate)


@pytest.fixture
def left(tmp_path):
    """A candidate in `_tmp/`."""
    path = tmp_path / "route_1.py"
    path.write_bytes(GOOD)
    return candidate_store.StoredCandidate(path, "greet", "route-1", "run-1", "pending", (), NOON)


def test_the_approved_bytes_are_the_proven_bytes():
    promoter = Promoter()
    delivery = deliverer(Person(Approve()), promoter).deliver(
        chosen(), dry_run=False, approval=NEEDED
    )
    assert delivery.promotion
    assert promoter.made == [(GOOD, TARGET, None, None)]


def test_an_approval_is_logged_with_its_bytes_its_place_and_whether_anybody_was_asked():
    sha256 = hashlib.sha256(GOOD).hexdigest()
    for person, target in ((Person(ChangeTarget(ELSEWHERE)), ELSEWHERE), (None, TARGET)):
        promoter = Promoter()
        deliverer(person, promoter).deliver(chosen(), dry_run=False, approval=CallerApproval())
        about = {"tool": target.tool_id, "sha256": sha256}
        asked = {"asked": person is not None, "proof": "shape"}
        assert promoter.log == [("approve", about | asked)]


def test_only_a_decided_discard_is_logged_with_its_reason():
    promoter = Promoter()
    delivering = deliverer(Person(Discard("too slow")), promoter)
    delivering.deliver(chosen(), dry_run=False, approval=NEEDED)
    ((kind, data),) = promoter.log
    assert (kind, data["tool"], data["reason"]) == ("discard", TARGET.tool_id, "too slow")
    deliverer(None, promoter).deliver(chosen(), dry_run=False, approval=NEEDED)
    deliverer(None, promoter).deliver(chosen(BAD), dry_run=False, approval=CallerApproval())
    assert len(promoter.log) == 1


def test_nothing_is_promoted_where_its_approval_cannot_be_logged():
    class Unlogged(Promoter):
        def decided(self, kind, data):
            raise DiskFull("no space", hint="make room")

    promoter = Unlogged()
    with pytest.raises(DiskFull):
        deliverer(Person(Approve()), promoter).deliver(
            chosen(), dry_run=False, approval=CallerApproval()
        )
    assert promoter.made == []


def test_a_refused_module_is_neither_asked_about_nor_promoted():
    person, promoter = Person(Approve()), Promoter()
    delivery = deliverer(person, promoter).deliver(
        chosen(BAD), dry_run=False, approval=CallerApproval()
    )
    assert (person.asked, promoter.made, delivery.promotion) == ([], [], None)
    assert delivery.failure
    assert (delivery.failure.code, delivery.failure.exit_status) == ("VALIDATION_FAILED", 3)


def test_a_dry_run_proves_and_stops():
    person, promoter = Person(Approve()), Promoter()
    delivery = deliverer(person, promoter).deliver(
        chosen(), dry_run=True, approval=CallerApproval()
    )
    assert delivery.report.ok
    assert (person.asked, promoter.made, delivery.failure) == ([], [], None)


def test_a_promoted_module_is_proven_again_without_a_question():
    known = hashlib.sha256(GOOD).hexdigest()
    person, promoter, prover = Person(Approve()), Promoter([known]), Prover()
    delivery = deliverer(person, promoter, prover).deliver(chosen(), dry_run=False, approval=NEEDED)
    assert (person.asked, promoter.made, prover.proven) == ([], [], [GOOD])
    assert delivery.promotion
    assert (delivery.promotion.revision, delivery.failure) == ("rev-0", None)


def test_without_a_person_the_objection_becomes_the_failure(left):
    promoter = Promoter()
    delivery = deliverer(None, promoter).deliver(
        chosen(candidate=left), dry_run=False, approval=NEEDED
    )
    assert delivery.failure
    assert (delivery.failure.code, delivery.failure.hint) == ("APPROVAL_REQUIRED", "come back")
    assert promoter.made == []
    kept = candidate_store.read_candidate(left.module)
    assert kept
    assert (kept.status, kept.reasons) == ("pending", (delivery.failure.message,))


def test_a_module_without_objection_is_promoted_without_a_person():
    promoter = Promoter()
    delivery = deliverer(None, promoter).deliver(chosen(), dry_run=False, approval=CallerApproval())
    assert delivery.promotion
    assert len(promoter.made) == 1


def test_an_edit_is_proven_before_it_is_asked_about_again():
    person, promoter, prover = Person(EditModule(BETTER), Approve()), Promoter(), Prover()
    deliverer(person, promoter, prover).deliver(chosen(), dry_run=False, approval=NEEDED)
    assert prover.proven == [GOOD, BETTER]
    assert [p.source for p in person.asked] == [GOOD, BETTER]
    assert promoter.made == [(BETTER, TARGET, None, GOOD)]


def test_an_edit_that_breaks_it_ends_there(left):
    person, promoter = Person(EditModule(BAD)), Promoter()
    delivery = deliverer(person, promoter).deliver(
        chosen(candidate=left), dry_run=False, approval=NEEDED
    )
    assert delivery.failure
    assert (delivery.failure.code, promoter.made) == ("VALIDATION_FAILED", [])
    kept = candidate_store.read_candidate(left.module)
    assert kept
    assert kept.status == "failed"


def test_an_edit_replaces_only_the_bytes_it_was_made_from():
    """Two edits later it still is the first bytes that may be overwritten, and not elsewhere."""
    promoter = Promoter()
    answers = Person(EditModule(BETTER), EditModule(module("best")), Approve())
    deliverer(answers, promoter).deliver(chosen(), dry_run=False, approval=NEEDED)
    assert promoter.made[-1][3] == GOOD
    answers = Person(EditModule(BETTER), ChangeTarget(ELSEWHERE))
    deliverer(answers, promoter).deliver(chosen(), dry_run=False, approval=NEEDED)
    assert promoter.made[-1] == (BETTER, ELSEWHERE, None, None)


def test_a_relocated_candidate_is_promoted_there_and_taken_from_tmp(left):
    promoter = Promoter()
    deliverer(Person(ChangeTarget(ELSEWHERE)), promoter).deliver(
        chosen(candidate=left), dry_run=False, approval=NEEDED
    )
    assert promoter.made == [(GOOD, ELSEWHERE, left.module, None)]


def test_a_discarded_candidate_stays_with_its_reason(left):
    promoter = Promoter()
    delivery = deliverer(Person(Discard("ugly")), promoter).deliver(
        chosen(candidate=left), dry_run=False, approval=NEEDED
    )
    assert (delivery.discarded, delivery.failure, promoter.made) == (True, None, [])
    kept = candidate_store.read_candidate(left.module)
    assert kept == replace(left, status="rejected", reasons=("ugly",))
    assert left.module.read_bytes() == GOOD


def test_an_editor_that_never_ends_is_stopped():
    prover = Prover()
    with pytest.raises(ApprovalNeeded, match=f"no decision after {MAX_EDITS} edits"):
        deliverer(Person(EditModule(GOOD)), Promoter(), prover).deliver(
            chosen(), dry_run=False, approval=NEEDED
        )
    assert len(prover.proven) == MAX_EDITS


def test_a_failed_promotion_raises_its_own_error():
    full = DiskFull("no room", hint="make some")
    with pytest.raises(DiskFull):
        deliverer(Person(Approve()), Promoter(failure=full)).deliver(
            chosen(), dry_run=False, approval=NEEDED
        )
