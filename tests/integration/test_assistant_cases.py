"""Compare the agent's pure parts with the case files of another project's assistant.

Names are mapped: `pulse_…` is `pulsus_…` here, in tool names and in texts. Tools that Pulsus does
not have are left out by name. A row is contested if its label is wrong by our rules: each rule is a
function below, and docs/commands-disagreements.md has the reasons.
"""

import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pulsus.agent.answers.phantom_claims import find_phantom_claim
from pulsus.agent.answers.tool_markup import find_leak, remove_leaks, split_name_prefix
from pulsus.agent.knowledge.fact_keys import predict_fact_keys
from pulsus.agent.knowledge.knowledge_extractor import empty_result_summary, extract_facts
from pulsus.agent.knowledge.session_fact import category_of_key
from pulsus.gates.approval_risk import approval_risk
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.verifying_read import verifying_read

FOLDER = Path(os.environ.get("PULSUS_CASES", "../shared/cases"), "pulse")
AGREEING = 0.95
"""Of all rows that are not contested, over all files."""
NOT_OURS = {"patrol_get_findings", "patrol_report_finding", "patrol_resolve_finding"}

pytestmark = [
    pytest.mark.cases,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="outside cases are not here; set PULSUS_CASES"),
]


def ours(text):
    """Return a text with the names of our tools."""
    return re.sub(r"(?<![A-Za-z])pulse", "pulsus", text)


def data_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def extracted(row):
    return extract_facts(ours(row["tool"]), row["args"] or {}, data_of(row["result"]))


def extract(row):
    facts = extracted(row)
    if len(facts) != row.get("facts", len(facts)):
        return False

    def each(field: str, agrees: Callable[[tuple[str, str], Any], bool]) -> bool:
        wanted = row.get(field, {}).items()
        return all(int(at) < len(facts) and agrees(facts[int(at)], want) for at, want in wanted)

    return (
        each("keys", lambda fact, want: fact[0] == want)
        and each("values", lambda fact, want: fact[1] == want)
        and each("category", lambda fact, want: category_of_key(fact[0]) == want)
        and each("contains", lambda fact, want: all(word in fact[1] for word in want))
        and each("not_contains", lambda fact, want: not any(word in fact[1] for word in want))
    )


def predicted(row):
    return set(predict_fact_keys(ours(row["tool"]), row["args"] or {}))


def knowledge(row):
    match row["op"]:
        case "extract":
            return extract(row)
        case "predict_keys":
            return predicted(row) == set(row["keys"])
        case "predicted_key_is_extracted":
            found = {key for key, _ in extracted(row)}
            return bool(predicted(row) & found) == row["expected"]
        case "key_category":
            return category_of_key(row["key"]) == row["category"]
        case "empty_result_summary":
            summary = empty_result_summary(data_of(row["input"]))
            return all(words in summary for words in row["contains"])
        case _:
            return False


TOOLS = {*built_in_tools(), "pulsus_question"}
"""Pulsus has no tool that asks the user: the rows about one are about its name in a text."""


def tool_artifacts(row):
    text = ours(row["input"])
    leak = find_leak(text, TOOLS)
    match row["op"]:
        case "contains":
            return (leak is not None) == row["expected"]
        case "clean":
            return remove_leaks(text, TOOLS) == ours(row["expected"])
        case "index_bytes":
            start = -1 if leak is None else len(text[: leak.start].encode())
            before = row["input"].encode()[: max(row["expected"], 0)].decode()
            return start == (len(ours(before).encode()) if row["expected"] >= 0 else -1)
        case "hold_back_prefix":
            return split_name_prefix(text, TOOLS) == (ours(row["visible"]), ours(row["held"]))
        case _:
            return False


def phantom(row):
    found = find_phantom_claim(ours(row["content"]), TOOLS, tools_succeeded=0)
    return (found is not None) == row["expected"]


def verification_command(row):
    found = verifying_read(row["command"], row["target_type"])
    return (found.command if found else None) == row["verify_with"]


def approval(row):
    return approval_risk(row["command"]) == row["expected"]


def is_no_command(row):
    """A shell does not run it: a quotation mark is left open. Nothing is derived from it."""
    try:
        shlex.split(row.get("command", ""))
    except ValueError:
        return row.get("verify_with") is not None
    return False


OURS: tuple[Callable[..., bool], ...] = (is_no_command,)

FILES = {
    "approval_risk": approval,
    "knowledge": knowledge,
    "phantom": phantom,
    "tool_artifacts": tool_artifacts,
    "verification_command": verification_command,
}


def disagreements(file):
    text = (FOLDER / f"{file}.jsonl").read_text(encoding="utf-8")
    rows = [row for row in map(json.loads, text.splitlines()) if row.get("tool") not in NOT_OURS]
    wrong = [row for row in rows if not FILES[file](row)]
    contested = [row for row in wrong if any(rule(row) for rule in OURS)]
    return rows, contested, [row for row in wrong if row not in contested]


@pytest.mark.parametrize("file", FILES)
def test_at_most_one_row_of_a_file_disagrees_without_a_reason(file, record_property):
    rows, contested, left = disagreements(file)
    agree = len(rows) - len(contested) - len(left)
    counts = {"agree": agree, "total": len(rows), "contested": len(contested)}
    ids = [row["id"] for row in left]
    record_property("counted", {"file": f"pulse/{file}", **counts, "disagreements": ids})
    assert len(left) <= 1, left


def test_parts_of_the_agent_agree_with_the_external_cases():
    found = [disagreements(file) for file in FILES]
    total = sum(len(rows) - len(contested) for rows, contested, _ in found)
    left = sum(len(left) for *_, left in found)
    assert total - left >= AGREEING * total
