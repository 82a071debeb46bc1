"""The values that a run returns, read from its results."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pulsus.routing.plans import run_results


def test_an_output_that_a_tool_left_out_is_null_and_no_failure_of_its_run(monkeypatch):
    outputs = {"backup": "backup", "kind": "kind"}
    step: Any = SimpleNamespace(id="u1", outputs=outputs, for_each=None)
    saved: Any = SimpleNamespace(plan=SimpleNamespace(steps=(step,), returns=tuple(outputs)))
    done = SimpleNamespace(step="u1", item=None, state="done")
    record: Any = SimpleNamespace(run_id="run-1", steps=(done,))
    monkeypatch.setattr(run_results, "load_result", lambda *_: {"kind": "yaml"})
    found = run_results.read_outputs(Path(), saved, record)
    assert found == {"backup": None, "kind": "yaml"}
