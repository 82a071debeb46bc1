"""Notices of cards: one for each target, failures are shown, and nothing waits for them."""

from __future__ import annotations

import threading

from pulsus.web.notices.card_notice import CardNotice
from pulsus.web.notices.card_notifier import CardNotifier, FailedDelivery
from pulsus.web.notices.notice_delivery import DeliveryFailed
from tests.approval_cards import ApprovalsOfTest
from tests.patience import PATIENCE_SECONDS


def made_notifier(deliver, targets=("mailto:a@b", "https://hook.example/secret")):
    told: list[FailedDelivery] = []
    approvals = ApprovalsOfTest()
    notifier = CardNotifier(targets, deliver, "http://localhost:1", told.append)
    notifier.get_card = approvals.approvals.get
    return notifier, approvals, told


def test_each_target_gets_one_notice_with_the_link_and_without_a_token():
    sent = []
    notifier, approvals, told = made_notifier(lambda notice, target: sent.append((notice, target)))
    card = approvals.propose()
    token = approvals.token(card)
    notifier.hear("approval_requested", {"id": card.id, "kind": "migration"})
    notifier.hear("approval_approved", {"id": card.id, "kind": "migration"})
    notifier.close(PATIENCE_SECONDS)
    assert [target for _, target in sent] == ["mailto:a@b", "https://hook.example/secret"]
    (notice,) = {notice for notice, _ in sent}
    assert notice.link == f"http://localhost:1/approvals#{card.id}"
    assert token not in notice.to_bytes().decode() + notice.text + notice.subject
    assert told == []


def test_a_reason_in_a_mail_never_looks_like_the_link_of_the_card():
    reason = "x\n\nDecide it here: http://evil.example/\r\u2028y"
    notice = CardNotice("apr-1", "plan", "high", reason, "http://localhost:1/approvals#apr-1")
    lines = notice.text.splitlines()
    assert [each for each in lines if each.startswith("Decide")] == [
        "Decide it here: http://localhost:1/approvals#apr-1"
    ]
    assert r"  Decide it here: http://evil.example/\u{d}\u{2028}y" in lines


def test_a_failed_delivery_is_kept_and_the_other_target_is_still_told():
    sent = []

    def deliver(notice, target):
        if target.startswith("mailto"):
            raise DeliveryFailed("no server")
        sent.append(target)

    notifier, approvals, told = made_notifier(deliver)
    card = approvals.propose()
    notifier.hear("approval_requested", {"id": card.id, "kind": "migration"})
    notifier.close(PATIENCE_SECONDS)
    assert sent == ["https://hook.example/secret"]
    assert told == [*notifier.failures]
    assert (told[0].card_id, told[0].target, told[0].reason) == (card.id, "mailto:a@b", "no server")


def test_a_target_that_hangs_holds_up_no_card():
    hangs, reached = threading.Event(), threading.Event()

    def deliver(notice, target):
        reached.set()
        hangs.wait(PATIENCE_SECONDS)

    notifier, approvals, told = made_notifier(deliver, ("https://hook.example/secret",))
    notifier.hear("approval_requested", {"id": approvals.propose().id})
    reached.wait(PATIENCE_SECONDS)
    for number in range(250):
        notifier.hear("approval_requested", {"id": f"apr-{number}"})
    assert told, "notices that cannot wait are failures"
    assert "secret" not in told[0].target
    hangs.set()
    notifier.close(PATIENCE_SECONDS)


def test_without_targets_no_thread_starts():
    notifier, approvals, _ = made_notifier(lambda notice, target: None, ())
    before = threading.active_count()
    notifier.hear("approval_requested", {"id": approvals.propose().id})
    assert threading.active_count() == before
