"""The trace of a run: the fields that every event has (spec §11)."""

import json

from pulsus.core.telemetry.logging import REQUIRED, open_trace
from pulsus.core.telemetry.redaction import Redactor
from pulsus.execution.engine.progress import write_to_trace
from tests.plan_hosts import Project, fail, step


def traced(tmp_path, *steps, **options):
    project = Project(tmp_path)
    trace = open_trace(tmp_path / "logs", "run-1", clock=lambda: project.now, redactor=Redactor())
    write = write_to_trace(trace)
    project.host.tools["bad"] = fail
    project.events = Sink(write)
    project.run(*steps, **options)
    lines = (tmp_path / "logs/runs/run-1/steps.log").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


class Sink(list):
    """A list whose `append` writes to the trace."""

    def __init__(self, write):
        super().__init__()
        self._write = write

    def append(self, event):
        self._write(event)


def test_every_event_has_the_fields_of_a_trace(tmp_path):
    events = traced(tmp_path, step("a"), step("w", "write"))
    assert all(list(event)[: len(REQUIRED)] == list(REQUIRED) for event in events)
    assert [(e["phase"], e["decision"], e.get("step")) for e in events] == [
        ("start", None, None),
        ("plan_run", "running", None),
        ("plan_step", "started", "a"),
        ("plan_step", "done", "a"),
        ("plan_step", "started", "w"),
        ("plan_step", "done", "w"),
        ("plan_run", "done", None),
    ]
    assert events[5]["verified"] is True
    assert events[5]["artifacts"] == [str(tmp_path / ".pulsus/runs/run-1/w.json")]


def test_a_failed_step_has_its_code_and_reason(tmp_path):
    events = traced(tmp_path, step("b", "bad"))
    assert (events[-2]["error"], events[-2]["reason"]) == ("EXECUTION_FAILED", "it broke")
    assert (events[-1]["decision"], events[-1]["error"]) == ("failed", "EXECUTION_FAILED")


def test_a_secret_in_a_message_is_redacted(tmp_path):
    text = "{{ 'password=hunter2-hunter2' + steps.a.outputs.value + 1 }}"
    events = traced(tmp_path, step("a"), step("b", inputs={"value": text}))
    assert "hunter2" not in json.dumps(events)
