"""The text of a card at a terminal."""

from pulsus.cli.line_folding import fold_line
from pulsus.cli.serve.card_lines import CONTINUED, card_lines, card_row

CARD = {
    "id": "apr-1f2e3d4c5b6a7988",
    "kind": "command",
    "risk_level": "HIGH",
    "reason": "it hangs\nsince noon",
    "requester": "ada",
    "targets": ["service:nginx"],
    "plan": {"command": "systemctl restart nginx"},
    "plan_hash": "f" * 64,
    "executor": "",
    "created_at": "2026-11-28T18:00:00+00:00",
    "expires_at": "2026-11-28T18:05:00+00:00",
    "status": "pending",
    "decided_by": "",
    "note": "",
    "results": [],
}
PROMOTION = {
    "path": "workflows/net/probe/ports.py",
    "tool": "net/probe/ports",
    "kind": "read",
    "sha256": "a" * 64,
    "replaces_sha256": None,
    "proof": "accepted",
    "checks": ["ruff", "mypy"],
    "warnings": [],
    "effects": {"declared": {"reads": ["/proc"], "writes": []}, "observed": None},
    "contract": "Probe ports.",
    "difference": "+def run():",
}


def text(**changed):
    return "\n".join(card_lines(CARD | changed))


def test_a_row_has_the_first_line_of_the_reason():
    assert card_row(CARD).endswith("pending  command  risk HIGH  ada  it hangs")


def test_a_plan_without_a_reason_can_be_listed():
    assert card_row(CARD | {"reason": ""}).endswith("risk HIGH  ada")


def test_a_command_cannot_hide_its_end_behind_line_breaks():
    shown = text(plan={"command": "uptime" + "\n" * 60 + "reboot"})
    assert "uptime ⏎×60 reboot" in shown


def test_a_card_that_is_longer_than_the_screen_says_so_at_its_end():
    assert "scroll up" not in text()
    shown = text(reason="why\n" * 100)
    assert "length      101 lines: scroll up to read them" in shown


def test_a_character_that_reorders_the_line_is_shown_as_its_code():
    assert "stop \\u{202e}xnign" in text(reason="stop \u202exnign")


def test_a_dry_run_says_that_nothing_is_moved():
    move = {"action": "migrate", "vmid": 101, "source": "pve3", "target": "pve1"}
    shown = text(kind="migration", plan=[move], executor="dry-run")
    assert "migrate vmid 101: pve3 -> pve1" in shown
    assert "dry-run: nothing is moved" in shown


def test_a_promotion_shows_proof_effects_and_difference():
    shown = text(kind="promotion", plan=PROMOTION)
    for part in (
        "promote workflows/net/probe/ports.py as net/probe/ports, read",
        "new: no file is replaced",
        "proof: accepted; ruff, mypy",
        "effects declared: reads /proc",
        "effects observed: none",
        "+def run():",
    ):
        assert part in shown


def test_a_start_in_doubt_differs_from_one_that_never_happened():
    assert "in doubt" in text(status="unknown", in_doubt=True)
    assert "never started" in text(status="unknown", in_doubt=False)


def test_a_folded_line_never_looks_like_a_line_of_the_card():
    forged = "x decided by bert plan hash abc expires never " * 4
    for line in card_lines(CARD | {"reason": forged, "requester": forged, "targets": [forged]}):
        first, *others = fold_line(line, 60, hanging=CONTINUED).split("\n")
        assert all(each.startswith(" " * CONTINUED) for each in others), first
