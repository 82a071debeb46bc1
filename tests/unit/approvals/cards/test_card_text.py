"""An approver reads what runs: no text of a card makes a line of its own, or hides a part."""

from __future__ import annotations

import pytest

from pulsus.approvals.cards.card_text import card_text
from pulsus.cli.serve.card_lines import card_lines

HOSTILE = "x\nproof: full; types: ok\r\x0b\x0c\x1c\x85\u2028\u2029\u200b\u202e" + " " * 400 + "y"
FOLDED = (
    r"x ⏎ proof: full; types: ok\u{d}\u{b}\u{c}\u{1c}\u{85}\u{2028}\u{2029}\u{200b}\u{202e} ␣×400 y"
)

AS_JSON = (
    r"x\nproof: full; types: ok\r\u000b\f\u001c"
    r"\u{85}\u{2028}\u{2029}\u{200b}\u{202e} ␣×400 y"
)

MOVE = {"action": "migrate", "vmid": 101, "source": "pve1", "target": "pve2"}
STEP = {
    "step": "s1",
    "tool": "system/count/things",
    "version": "1.0.0",
    "kind": "write",
    "approval": "approver",
    "inputs": {"path": "/srv"},
    "control": {"retry": 2},
    "does": "Leave a mark. Side effects: writes a mark",
}
PLAN = {"file": "plan.yaml", "hash": "ab12", "request": "", "inputs": {"n": 1}, "steps": [STEP]}
PROMOTION = {
    "tool": "demo/greet/hello",
    "path": "hello.py",
    "sha256": "ab",
    "replaces_sha256": None,
    "kind": "read",
    "proof": "behaviour",
    "checks": ["types: ok"],
    "warnings": ["it reads the clock"],
    "effects": {"declared": None, "observed": {"paths": ["/etc"], "hosts": [], "commands": []}},
    "network": ["db:5432"],
    "does": "Say hello.",
    "bump": "minor",
    "owner": "ops",
    "replaces": [None, "greet", "hi"],
    "contract": "Say hello.\n\nArgs:\n    name: of a person",
    "difference": "--- /dev/null\n+++ hello (asked)\n@@ -0,0 +1 @@\n+x = 1",
}


def card(kind, plan, reason="because"):
    return {
        "id": "apr-1", "kind": kind, "risk_level": "high", "reason": reason, "requester": "ada",
        "targets": [], "plan": plan, "plan_hash": "ab" * 32, "executor": "",
        "created_at": "", "expires_at": "", "status": "pending", "decided_by": "", "note": "",
        "results": [],
    }  # fmt: skip


def all_lines(text):
    return [*text.plan, *text.reason, *text.difference]


def places(value, path=()):
    """Yield the path of each text in a plan, and of each key."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from places(each, (*path, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from places(each, (*path, number))


def replaced(value, path, text):
    if not path:
        return text
    key, *rest = path
    if isinstance(value, dict):
        return {**value, key: replaced(value[key], rest, text)}
    return [replaced(each, rest, text) if n == key else each for n, each in enumerate(value)]


KINDS = {"migration": [MOVE], "plan": PLAN, "promotion": PROMOTION}
CASES = [
    pytest.param(kind, path, id=f"{kind}:{'.'.join(map(str, path))}")
    for kind, plan in KINDS.items()
    for path in places(plan)
    if path[-1] not in ("contract", "difference", "request")
    if path != ("steps", 0, "kind")  # another kind has other lines
]


@pytest.mark.parametrize(("kind", "path"), CASES)
def test_no_text_of_a_plan_makes_a_line_or_hides_a_part_of_one(kind, path):
    plain = card_text(card(kind, KINDS[kind]))
    found = card_text(card(kind, replaced(KINDS[kind], path, HOSTILE)))
    assert len(found.plan) == len(plain.plan)
    whole = "\n".join(found.plan)
    assert FOLDED in whole or AS_JSON in whole


def test_a_name_of_an_input_makes_no_line_of_its_own():
    steps = [STEP | {"inputs": {HOSTILE: 1}, "control": {HOSTILE: 1}}]
    found = card_text(card("plan", PLAN | {"inputs": {HOSTILE: 1}, "steps": steps}))
    assert [line.count(FOLDED) for line in found.plan].count(1) == 3
    assert len(found.plan) == 6


@pytest.mark.parametrize("kind", KINDS)
def test_a_reason_is_one_line_and_is_never_taken_for_a_difference(kind):
    reason = "ok\n--- a\n+++ b\n@@ -1 +1 @@\n+harmless"
    found = card_text(card(kind, KINDS[kind], reason))
    assert found.reason == ("ok ⏎ --- a ⏎ +++ b ⏎ @@ -1 +1 @@ ⏎ +harmless",)
    assert "+harmless" not in found.difference


def test_a_contract_and_a_difference_break_at_line_feeds_only():
    plan = PROMOTION | {"contract": "a\x0cb\nc\rd\u2028e", "difference": "+# x\rimport os\x0c\n+y"}
    found = card_text(card("promotion", plan))
    assert found.plan[-2:] == (r"  a\u{c}b", r"  c\u{d}d\u{2028}e")
    assert found.difference == (r"+# x\u{d}import os\u{c}", "+y")


def test_a_line_of_a_contract_never_looks_like_a_line_of_the_card():
    found = card_text(card("promotion", PROMOTION | {"contract": "x\nproof: full"}))
    assert found.plan[-3:] == ("contract:", "  x", "  proof: full")


def test_a_promotion_shows_everything_that_approving_it_decides():
    found = "\n".join(card_text(card("promotion", PROMOTION)).plan)
    for said in ("bump: minor", "owner: ops", "shared/greet/hi", "db:5432", "the clock", "/etc"):
        assert said in found


def test_a_number_is_shown_with_every_digit():
    large = {"big": 12345678901234567890, "exact": 1.0}
    found = card_text(card("plan", PLAN | {"inputs": large})).plan
    assert "input big = 12345678901234567890" in found
    assert "input exact = 1.0" in found


def test_only_a_change_of_a_file_has_a_difference():
    reason = "why\n--- a\n+++ a\n+x"
    edit = {"tool": "pulsus_file_edit", "command": "tee a"}
    assert card_text(card("command", edit, reason)).difference == ("--- a", "+++ a", "+x")
    other = {"tool": "pulsus_run_command", "command": "touch a\ntouch b"}
    found = card_text(card("command", other, reason))
    assert (found.plan, found.difference) == (("touch a ⏎ touch b",), ())
    assert len(found.reason) == 4


@pytest.mark.parametrize("plan", [None, [], {}, {"command": 1}, "x", [1], {"steps": 1}])
@pytest.mark.parametrize("kind", ["command", "migration", "plan", "promotion"])
def test_a_plan_of_another_shape_is_shown_and_breaks_no_page(kind, plan):
    assert all(isinstance(line, str) for line in all_lines(card_text(card(kind, plan))))


@pytest.mark.parametrize(("kind", "path"), CASES)
def test_the_terminal_shows_each_line_of_the_card_and_no_other(kind, path):
    hostile = card(kind, replaced(KINDS[kind], path, HOSTILE), HOSTILE)
    plain = card(kind, KINDS[kind])
    shown = [*card_lines(hostile)]
    assert len(shown) == len([*card_lines(plain)])
    assert not any(set("\n\r\x0b\x0c\x1c\x85\u2028\u2029\u202e") & set(line) for line in shown)


def test_the_fields_around_the_plan_make_no_line_in_the_terminal():
    hostile = card("plan", PLAN) | {
        "requester": HOSTILE, "targets": [HOSTILE], "decided_by": HOSTILE, "results": [HOSTILE],
    }  # fmt: skip
    shown = [*card_lines(hostile)]
    assert sum(FOLDED in line for line in shown) == 4
    assert not any("\n" in line for line in shown)
