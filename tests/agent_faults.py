"""Seeded faults in the gates of the agent, and a run of the state machine against each.

  python -m tests.agent_faults [--only N …] [--sessions 400]

A fault is one edit of one module, in a copy of the package. It is caught if a session of
`tests/agent_sessions.py` fails on the copy. The script ends with 1 if one is missed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SESSIONS = 400


@dataclass(frozen=True)
class Fault:
    """An edit that a careless change could make."""

    name: str
    module: str
    old: str
    new: str


WORKFLOW = "gates/workflow/workflow_state.py"
CONTEXT = "gates/resources/resolved_context.py"
STRICT = "gates/resources/strict_resolution.py"
MISMATCH = "gates/resources/routing_mismatch.py"
CHECK = "agent/loop/check_calls.py"
ABSORB = "agent/loop/turn/absorb_results.py"
CALLS = "agent/loop/turn/turn_calls.py"
TABLE = "gates/tool_descriptors.py"

FAULTS = (
    Fault("writes are let through in every state", WORKFLOW,
          'return kind != "write" or self.name == "READING"', "return True"),
    Fault("writes are let through in VERIFYING", WORKFLOW,
          'return kind != "write" or self.name == "READING"',
          'return kind != "write" or self.name != "RESOLVING"'),
    Fault("gate 2 lets every answer pass", WORKFLOW,
          "return self.running is None and not self.unverified", "return True"),
    Fault("any read verifies every write", WORKFLOW,
          "if started <= write.ended or not _shows(write, shown, around, named)",
          "if not shown and started <= write.ended"),
    Fault("a read of anything on a machine verifies a write to a part of it", WORKFLOW,
          "seen = named.intersection(write.subjects)", "seen = set(write.subjects)"),
    Fault("a write has no subjects", ABSORB,
          "subjects = subjects_of_write(draft)", "subjects: tuple[str, ...] = ()"),
    Fault("a write counts only for what its tool says that it wrote", WORKFLOW,
          "dict.fromkeys((*self.running.resources, *filter(None, wrote)))",
          "dict.fromkeys(filter(None, wrote))"),
    Fault("a search verifies a write", WORKFLOW,
          'set(read) if kind == "read" or single else set()',
          "set(read) or {w.resource_id for w in self.unverified}"),
    Fault("a write forgets the earlier unverified one", WORKFLOW,
          "return WorkflowState(True, None, earlier + new, self.writes + 1)",
          "return WorkflowState(True, None, new[:0], self.writes + 1)"),
    Fault("a write that failed needs no verification", ABSORB,
          "return not (error.blocked or outcome.unchanged)", "return False"),
    Fault("a failed read counts as a read", ABSORB,
          "elif outcome.response.ok:", "else:"),
    Fault("expired resources stay", CONTEXT,
          "return entry.pinned or now - entry.last_accessed <= self.ttl_s", "return True"),
    Fault("nothing is evicted", CONTEXT,
          "too_many = len(kept) - self.max_resources", "too_many = 0"),
    Fault("a write may name what was not discovered", STRICT,
          'missing = unresolved[:1] if names else ("",)', "missing = ()"),
    Fault("actions that a resource does not allow are let through", STRICT,
          "if resource is not None and action not in resource.allowed_actions:",
          "if resource is not None and not action:"),
    Fault("no mismatch is found", MISMATCH,
          "        if inside:\n", "        if len(inside) > 99:\n"),
    Fault("a bulk discovery counts as explicit access", ABSORB,
          "        if outcome.single:\n", "        if outcome.found:\n"),
    Fault("two writes of one turn run", CHECK,
          "    if writes:\n        why, required", "    if writes > 5:\n        why, required"),
    Fault("an unknown argument is ignored", TABLE,
          'if not set(args) <= set(properties):\n            return "write"',
          'if not args:\n            return "write"'),
    Fault("arguments are not checked against the schema", CHECK,
          "    if not wrong:\n        return None\n", "    if True:\n        return None\n"),
    Fault("a write runs beside the reads of its turn", CALLS,
          'isinstance(c, RunCall) and c.draft.kind != "write"]', "isinstance(c, RunCall)]"),
    Fault("refusals are recorded after the calls", CALLS,
          "if isinstance(each, RefusedCall):\n                self._refuse(turn, each)\n",
          "if each is checked[-1] and isinstance(each, RefusedCall):\n"
          "                self._refuse(turn, each)\n"),
    Fault("a denied approval runs", CALLS,
          'if answer.decision != "approved":', 'if answer.decision == "never":'),
    Fault("a reset keeps the resources", "gates/session_gates.py",
          "self.resources.clear(keep_pinned=keep_pinned)", "self.resources"),
)  # fmt: skip


def is_caught(fault: Fault, sessions: int) -> bool:
    """Return True if a session of the state machine fails on a copy with this fault.

    The sessions are those of `tests/agent_sessions.py` from the first seed: the same in each run.
    """
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "pulsus")
        shutil.copytree(ROOT / "agents/pulsus", package)
        module = package / fault.module
        text = module.read_text(encoding="utf-8")
        if text.count(fault.old) != 1:
            raise SystemExit(f"{fault.name}: its text is not there once in {fault.module}")
        module.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "tests.agent_sessions", str(sessions)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": folder, "AGENT_PACKAGE": folder},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        if done.returncode == 0:
            return False
        if "\nseed " not in done.stderr:
            raise SystemExit(f"{fault.name}: the run itself failed:\n{done.stderr[-2000:]}")
        return True


def main() -> int:
    """Try the faults; print one line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of faults, from 1")
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    asked = parser.parse_args()
    missed = 0
    for number, fault in enumerate(FAULTS, 1):
        if asked.only and number not in asked.only:
            continue
        caught = is_caught(fault, asked.sessions)
        missed += not caught
        sys.stdout.write(f"{number:2} {'caught' if caught else 'MISSED'}  {fault.name}\n")
        sys.stdout.flush()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
