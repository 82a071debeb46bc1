"""Compare our verdicts on commands with the case files of another project.

A row is contested if its own label says so, or if the label is unsafe by our rules. Each rule is a
function below, and docs/commands-disagreements.md has the reasons.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pulsus.commands import classify
from pulsus.commands.risk.secret_paths import is_secret
from pulsus.config.settings import PolicyConfig
from pulsus.core.telemetry.redaction import is_secret_name
from pulsus.gates.action_labels import action_class, is_destructive, is_read_only, is_write
from pulsus.gates.command_policy import CommandPolicy
from tests import gate_questions

FOLDER = Path(os.environ.get("PULSUS_CASES", "../shared/cases"), "pulse")
AGREEING = 0.97
POLICY = CommandPolicy(PolicyConfig(egress_hosts=("0.0.0.0/0", "::/0")))
"""The reference lets a read reach any address, and asks before it looks up a name."""

pytestmark = [
    pytest.mark.cases,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="outside cases are not here; set PULSUS_CASES"),
]


def intent(row):
    verdict, expected = classify(row["command"]), row["expected"]
    return verdict.allow if expected == "read_only" else verdict.intent == expected


def non_interactive(row):
    category = classify(row["command"]).category
    if category is not None and category == row.get("not_category"):
        return False
    blocked = category is not None
    return blocked == row["blocked"] and row.get("category", category) == category


def risk(row):
    found = classify(row["command"]).risk
    return found == row["expected_risk"] if "expected_risk" in row else found >= row["min_risk"]


def inspector(row):
    return getattr(gate_questions, row["inspector"])(row["input"]) == row["expected"]


def sensitive(row):
    ask: dict[str, Callable[[str], bool]] = {"path": is_secret, "field_name": is_secret_name}
    if row["kind"] == "command":
        return classify(row["input"]).sensitive == row["sensitive"]
    return ask[row["kind"]](row["input"]) == row["sensitive"]


def policy(row):
    return POLICY.evaluate(row["command"]).decision == row["expected"]


def listed(row):
    ask = {"destructive": is_destructive, "read_only": is_read_only}[row["check"]]
    return ask(row["command"]) == row["expected"]


def verb(row):
    return is_write(row["action"]) == row["write"]


def kind_of_change(row):
    return action_class(row["command"], row["target_type"]) == row["class"]


def follows_without_an_end(row):
    """A follow that is limited by lines or a start only: it never ends."""
    return row.get("contested", False)


def in_capitals(row):
    """A program in capitals is a different, unknown program."""
    command = str(row.get("command", ""))
    words = command.split()
    small = classify(command.lower())
    return bool(words) and words[0] != words[0].lower() and small.allow


def keeps_secrets_anyway(row):
    """A name like that of a secret is hidden and refused, although the row says it is harmless."""
    if row.get("sensitive") is not False:
        return False
    named = row["kind"] == "field_name" and is_secret_name(row["input"])
    return named or Path(row["input"]).name.startswith(".env")


def asks_by_another_method(row):
    """Only methods spelt like this are known to change nothing (RFC 9110 §9.1 and §9.2.1)."""
    known = {"GET", "HEAD", "OPTIONS", "TRACE"}
    return row.get("inspector") == "http_method_mutates" and row["input"].strip() not in known


OURS = (asks_by_another_method, follows_without_an_end, in_capitals, keeps_secrets_anyway)

FILES = {
    "command_intent": intent,
    "non_interactive": non_interactive,
    "command_risk": risk,
    "inspectors": inspector,
    "sensitive": sensitive,
    "command_policy": policy,
    "command_lists": listed,
    "write_action": verb,
    "action_class": kind_of_change,
}


@pytest.mark.parametrize("file", FILES)
def test_verdicts_agree_with_the_external_cases(file, record_property):
    text = (FOLDER / f"{file}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    wrong = [row for row in rows if not FILES[file](row)]
    contested = [row for row in wrong if any(rule(row) for rule in OURS)]
    left = [row for row in wrong if row not in contested]
    agree = len(rows) - len(wrong)
    counts = {"agree": agree, "total": len(rows), "contested": len(contested)}
    disagreements = [row["id"] for row in left]
    record_property("counted", {"file": f"pulse/{file}", **counts, "disagreements": disagreements})
    assert agree >= AGREEING * (len(rows) - len(contested)), left
