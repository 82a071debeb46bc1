"""Compare the agent's gates with the case files of another assistant.

Its tools and fields have other names: how they map, which rows are contested or left out, and why,
is in docs/agent-disagreements.md.
"""

import json
import os
from pathlib import Path

import pytest

from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import DescriptorTable
from pulsus.gates.workflow.workflow_state import WorkflowState

FOLDER = Path(os.environ.get("PULSUS_CASES", "../shared/cases"), "pulse")
AGREEING = 0.95
TABLE = DescriptorTable(built_in_tools().values())
RESOURCE = "host:web1"
"""The one resource of all calls of a sequence: the rows name none."""

pytestmark = [
    pytest.mark.cases,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="outside cases are not here; set PULSUS_CASES"),
]


def our_call(row):
    if row["tool"] == "pulse_search_resources":
        return "pulsus_query", {"action": "search", **row["args"]}
    return row["tool"].replace("pulse_", "pulsus_", 1), row["args"]


def tool_kind(row):
    return TABLE.kind_of(*our_call(row)) == row["kind"]


class Sequence:
    """A session that a row drives. Its clock ticks once a step."""

    def __init__(self, start):
        self.now = 1.0
        found = WorkflowState().after_read("resolve", (), started=0.0)
        written = found.begin_write("tool", [RESOURCE]).after_write(ended=0.0)
        states = {"RESOLVING": WorkflowState(), "READING": found, "VERIFYING": written}
        self.state = states[start]
        self.verified_by_read = False

    def step(self, op, **step):
        self.now += 1
        return getattr(self, op)(**step) is not False

    def success(self, kind, tool):
        before = self.state.name
        if kind == "write":
            self.state = self.state.begin_write(tool, [RESOURCE]).after_write(ended=self.now)
        else:
            self.state = self.state.after_read(kind, [RESOURCE], started=self.now, single=True)
            self.verified_by_read |= before == "VERIFYING" and self.state.name == "READING"

    def can_execute(self, kind, allowed, tool=""):
        return self.state.may_run(kind) == allowed

    def can_answer(self, allowed):
        return self.state.may_answer() == allowed

    def complete_verification(self):
        # Here the read itself completes it.
        self.verified_by_read = False

    def reset(self):
        self.state, self.verified_by_read = self.state.reset(keep_found=False), False

    def reset_keep_progress(self):
        self.state, self.verified_by_read = self.state.reset(keep_found=True), False

    def expect(self, **wanted):
        found = {
            "state": self.state.name,
            "wrote": self.state.writes > 0,
            "read_after_write": self.verified_by_read,
        }
        # Between the read and its own call for completion, the other project is still VERIFYING.
        if self.verified_by_read and wanted.get("state") == "VERIFYING":
            found["state"] = "VERIFYING"
        return all(found[name] == value for name, value in wanted.items())


def fsm_sequence(row):
    sequence = Sequence(row["start"])
    return all(sequence.step(**step) for step in row["steps"])


def calls_an_unknown_tool_harmless(row):
    """An unknown tool is a write here, whatever its arguments are."""
    return "tool" in row and row["kind"] != "write" and TABLE.get(our_call(row)[0]) is None


def asks_the_user(row):
    """A kind of call that the agent does not have."""
    return row.get("kind") == "user_input"


CONTESTED = (calls_an_unknown_tool_harmless,)
LEFT_OUT = (asks_the_user,)
FILES = {"tool_kind": tool_kind, "fsm_sequences": fsm_sequence}


@pytest.mark.parametrize("file", FILES)
def test_the_gates_agree_with_the_external_cases(file, record_property):
    text = (FOLDER / f"{file}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    rows = [row for row in rows if not any(rule(row) for rule in LEFT_OUT)]
    wrong = [row for row in rows if not FILES[file](row)]
    contested = [row for row in wrong if any(rule(row) for rule in CONTESTED)]
    left = [row for row in wrong if row not in contested]
    agree = len(rows) - len(wrong)
    counts = {"agree": agree, "total": len(rows), "contested": len(contested)}
    disagreements = [row["id"] for row in left]
    record_property("counted", {"file": f"pulse/{file}", **counts, "disagreements": disagreements})
    assert agree >= AGREEING * (len(rows) - len(contested)), left
