"""The pipeline (spec §8): order, verdicts, logs, and what it refuses to call proven."""

import time
from dataclasses import replace
from importlib.util import find_spec
from textwrap import dedent

import pytest

from pulsus.config.settings import SandboxConfig, ValidationConfig
from pulsus.core.sandbox.job import SandboxOutcome
from pulsus.core.sandbox.sandbox_probe import run_with
from pulsus.core.types import StepResult
from pulsus.core.validators.pipeline import Pipeline
from pulsus.core.validators.steps import mypy as mypy_step
from pulsus.core.validators.steps import ruff as ruff_step
from pulsus.errors import StorageUnwritable
from tests.candidates import DOCUMENTED, never, pipeline, read, tool_of
from tests.patience import HANG_SECONDS, PATIENCE_SECONDS
from tests.sandboxes import need_sandbox

pytestmark = pytest.mark.usefixtures("loaded_mypy")


def validate(using: Pipeline, source, **given):
    path = using.log_dir.parent / "double.py"
    data = source.encode() if isinstance(source, str) else source
    return using.validate(data, path, read(data), **given)


def pretend(job, limits):
    return SandboxOutcome("ok", "done", value={"value": 8}, import_ms=3, run_ms=4)


def steps(report):
    return [step.step for step in report.steps]


@pytest.mark.seconds
@pytest.mark.sandbox
def test_a_good_tool_is_accepted_end_to_end_with_its_proof(tmp_path):
    need_sandbox()
    report, validated = validate(pipeline(tmp_path), DOCUMENTED)
    assert (report.verdict, report.proof) == ("accepted", "behaviour"), report
    assert steps(report) == ["static", "ruff", "mypy", "import", "dry-run"]
    assert validated is not None
    assert validated.source == DOCUMENTED.encode()


def test_the_file_is_never_opened_the_bytes_given_are_the_bytes_judged(tmp_path):
    path = tmp_path / "double.py"
    path.write_text("raise SystemExit('other bytes')", encoding="utf-8")
    report, validated = validate(pipeline(tmp_path, run=pretend), DOCUMENTED)
    assert validated is not None
    assert report.sha256 == tool_of(DOCUMENTED).sha256
    assert path.read_text(encoding="utf-8").startswith("raise")


@pytest.mark.parametrize(
    ("source", "stops_at"),
    [
        (DOCUMENTED.replace("2 * value", "eval('1')"), "static"),
        (DOCUMENTED.replace("2 * value", "2 * valeu"), "ruff"),
    ],
)
def test_nothing_runs_after_a_failed_step(tmp_path, source, stops_at):
    report, validated = validate(pipeline(tmp_path, run=never), source)
    assert (report.verdict, validated) == ("refused", None)
    assert steps(report)[-1] == stops_at
    assert report.summary.startswith(f"{stops_at}: ")


def test_a_broken_tool_is_refused_at_the_gate(tmp_path):
    report, validated = validate(pipeline(tmp_path, run=never), "def run(:\n")
    assert (report.verdict, steps(report), validated) == ("refused", ["static"], None)


def test_a_module_that_mypy_refuses_is_refused_even_if_its_run_passed(tmp_path):
    source = DOCUMENTED.replace('"value": 2 * value', '"value": "text"')
    report, validated = validate(pipeline(tmp_path, run=pretend), source)
    assert (report.verdict, validated, report.observed) == ("refused", None, None)
    assert steps(report) == ["static", "ruff", "mypy"]


@pytest.mark.sandbox
def test_the_run_of_a_module_that_mypy_refuses_is_cancelled(tmp_path):
    need_sandbox()
    source = DOCUMENTED.replace('"value": 2 * value', '"value": "text"')
    slow = source.replace('"""Twice the number."""', f"__import__('time').sleep({HANG_SECONDS})")
    validate(pipeline(tmp_path, run=pretend), slow)  # mypy knows the libraries from here on
    began = time.monotonic()
    report, _ = validate(pipeline(tmp_path), slow)
    assert steps(report)[-1] == "mypy"
    assert time.monotonic() - began < PATIENCE_SECONDS


@pytest.mark.parametrize("checker", ["ruff", "mypy"])
def test_without_a_checker_it_is_unverified_and_nothing_runs(tmp_path, monkeypatch, checker):
    known = find_spec
    for module in (ruff_step, mypy_step):
        monkeypatch.setattr(module, "find_spec", lambda n: None if n == checker else known(n))
    report, validated = validate(pipeline(tmp_path, run=never), DOCUMENTED)
    assert (report.ok, report.verdict, validated) == (False, "unverified", None)
    assert steps(report)[-1] == checker
    assert "CHECKER_MISSING" in report.summary


def test_without_a_sandbox_it_is_unverified_and_never_promotable(tmp_path):
    def nowhere(job, limits):
        return run_with((), job, limits)

    report, validated = validate(pipeline(tmp_path, run=nowhere), DOCUMENTED)
    assert (report.ok, report.verdict, validated) == (False, "unverified", None)
    assert steps(report)[-1] == "import"
    assert "bwrap" in report.summary


def test_every_step_leaves_a_log_under_the_day(tmp_path):
    report, _ = validate(pipeline(tmp_path, run=pretend), DOCUMENTED)
    day = tmp_path / "logs" / "validation" / "2026-03-04"
    assert sorted(path.name for path in day.iterdir()) == [
        "double-dry-run.log",
        "double-import.log",
        "double-mypy.log",
        "double-ruff.log",
        "double-static.log",
    ]
    assert set(report.artifacts) == set(day.iterdir())
    assert report.sha256 in report.artifacts[0].read_text(encoding="utf-8")


def test_secrets_and_terminal_codes_reach_neither_logs_nor_report(tmp_path):
    def tells(job, limits):
        said = "\x1b[2J hunter2 \udcff"
        return SandboxOutcome("failed", "run", message=said, output=said, trace=said)

    using = pipeline(tmp_path, run=tells, redact=lambda text: text.replace("hunter2", "[redacted]"))
    report, _ = validate(using, DOCUMENTED)
    text = report.artifacts[-1].read_text(encoding="utf-8")
    for shown in (text, report.summary, report.steps[-1].output):
        assert "hunter2" not in shown
        assert "\x1b" not in shown
        shown.encode()
    assert "[redacted]" in text


def test_a_log_that_is_a_link_is_replaced_not_followed(tmp_path):
    day = tmp_path / "logs" / "validation" / "2026-03-04"
    day.mkdir(parents=True)
    precious = tmp_path / "precious"
    precious.write_text("kept", encoding="utf-8")
    (day / "double-ruff.log").symlink_to(precious)
    validate(pipeline(tmp_path, run=pretend), DOCUMENTED)
    assert precious.read_text(encoding="utf-8") == "kept"


def test_logs_that_cannot_be_written_stop_it_before_anything_runs(tmp_path):
    (tmp_path / "logs").write_text("a file", encoding="utf-8")
    with pytest.raises(StorageUnwritable):
        validate(pipeline(tmp_path, run=never), DOCUMENTED)


def test_a_plugins_validator_runs_after_the_gate_and_before_the_checkers(tmp_path):
    def no_doubles(source, tool):
        return StepResult("ignored", ok=False, duration_ms=0, message=f"{tool.name}: no doubles")

    using = pipeline(tmp_path, run=never, extra_validators=lambda: (("house-rules", no_doubles),))
    report, _ = validate(using, DOCUMENTED)
    assert steps(report) == ["static", "house-rules"]
    assert "no doubles" in report.summary


def test_a_plugins_validator_that_raises_is_that_steps_failure(tmp_path):
    def broken(source, tool):
        raise KeyError("oops")

    using = pipeline(tmp_path, run=never, extra_validators=lambda: (("flaky", broken),))
    report, _ = validate(using, DOCUMENTED)
    assert report.verdict == "refused"
    assert report.steps[-1].message == "the validator failed: KeyError: 'oops'"


def test_a_plugins_validator_that_cannot_check_leaves_it_unverified(tmp_path):
    def absent(source, tool):
        return StepResult("x", ok=False, duration_ms=0, message="no licence", unverified=True)

    using = pipeline(tmp_path, run=never, extra_validators=lambda: (("licensed", absent),))
    assert validate(using, DOCUMENTED)[0].verdict == "unverified"


@pytest.mark.sandbox
def test_a_composed_module_is_proven_with_its_pinned_steps(tmp_path):
    need_sandbox()
    step = tool_of(DOCUMENTED)
    composed = dedent(
        '''
        """Double twice.

        Examples:
            - inputs: {start: 3}
              output: {value: 12}
        """

        from typing import Any

        from pulsus.steps import call


        def run(start: int) -> Any:
            """Four times the number."""
            first = call("shared/math/double", value=start)
            return call("shared/math/double", value=first["value"])
        '''
    )
    given = {step.id: (step, DOCUMENTED.encode())}
    report, validated = validate(pipeline(tmp_path), composed, steps=given)
    assert (report.verdict, report.proof) == ("accepted", "behaviour"), report
    moved = {step.id: (replace(step, sha256="0" * 64), DOCUMENTED.encode())}
    report, validated = validate(pipeline(tmp_path), composed, steps=moved)
    assert (report.verdict, validated) == ("refused", None)


@pytest.mark.sandbox
def test_the_clocks_and_caps_are_those_of_the_settings(tmp_path):
    need_sandbox()
    slow = DOCUMENTED.replace("    return", "    import time\n    time.sleep(30)\n    return")
    using = pipeline(
        tmp_path, sandbox=SandboxConfig(max_seconds=0.5), validation=ValidationConfig()
    )
    report, _ = validate(using, slow)
    assert "took longer than 0.5 s" in report.summary


def test_the_working_folder_is_left_alone(tmp_path, monkeypatch):
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    validate(pipeline(tmp_path, run=pretend), DOCUMENTED)
    assert not list(work.iterdir())
