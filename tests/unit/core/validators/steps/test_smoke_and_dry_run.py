"""Import smoke and dry run as findings (spec §8.3, §8.4), on a pretended sandbox."""

from dataclasses import replace
from pathlib import Path

import pytest

from pulsus.config.settings import SandboxConfig
from pulsus.core.sandbox.job import SandboxOutcome
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.types import ObservedEffects
from pulsus.core.validators.steps.smoke_and_dry_run import DryRun
from pulsus.core.validators.validator_protocol import Subject
from tests.candidates import DOCUMENTED, tool_of

LIMITS = SandboxLimits.of(SandboxConfig(max_seconds=10.0), import_seconds=3.0)
OK = SandboxOutcome("ok", "done", value={"value": 8}, import_ms=5, run_ms=7)
TWO = DOCUMENTED.replace(
    "      output: {value: 8}\n", "      output: {value: 8}\n    - inputs: {value: 4}\n"
)


def dry(source, *outcomes):
    """A DryRun over that source, and the jobs and limits it asks for."""
    left, asked = list(outcomes), []

    def run(job, limits):
        asked.append((job, limits))
        return left.pop(0)

    subject = Subject(source.encode(), Path("/x/double.py"), tool_of(source))
    return DryRun(subject, LIMITS, run), asked


def test_a_matching_example_proves_behaviour():
    run, asked = dry(DOCUMENTED, OK)
    assert run.import_smoke().ok
    assert run.dry_run().ok
    assert run.proof == "behaviour"
    assert [job.inputs for job, _ in asked] == [{"value": 4}]


def test_the_expected_output_is_never_handed_to_the_candidate():
    run, asked = dry(DOCUMENTED, OK)
    run.import_smoke()
    (job, _), *_ = asked
    assert "8" not in str((job.inputs, job.files, job.steps))


def test_another_result_than_the_expected_one_fails_and_names_the_difference():
    run, _ = dry(DOCUMENTED, SandboxOutcome("ok", "done", value={"value": 9}))
    run.import_smoke()
    finding = run.dry_run()
    assert not finding.ok
    assert "example 1: value: expected 8, got 9" in finding.message


def test_an_example_without_output_proves_the_shape_only():
    run, _ = dry(DOCUMENTED.replace("      output: {value: 8}\n", ""), OK)
    run.import_smoke()
    assert run.dry_run().ok
    assert run.proof == "shape"


def test_an_output_of_wildcards_alone_proves_the_shape_only():
    run, _ = dry(DOCUMENTED.replace("{value: 8}", "{value: ...}"), OK)
    run.import_smoke()
    assert run.dry_run().ok
    assert run.proof == "shape"


def test_every_example_gets_its_own_sandbox_and_what_is_left_of_the_clock():
    slow = SandboxOutcome("ok", "done", value={"value": 8}, run_ms=4000)
    run, asked = dry(TWO, slow, OK)
    run.import_smoke()
    assert run.dry_run().ok
    assert [limits.run_seconds for _, limits in asked] == [10.0, 6.0]


def test_no_time_left_is_a_failure():
    run, _ = dry(TWO, SandboxOutcome("ok", "done", value={"value": 8}, run_ms=10_000))
    run.import_smoke()
    assert "no time is left" in run.dry_run().message


def test_the_second_example_counts_too():
    bad = SandboxOutcome("failed", "run", message="ValueError: no")
    run, _ = dry(TWO, OK, bad)
    run.import_smoke()
    assert run.dry_run().message == "example 2: ValueError: no"


def test_a_failing_import_is_the_import_steps():
    run, _ = dry(DOCUMENTED, SandboxOutcome("failed", "import", message="ImportError: no"))
    finding = run.import_smoke()
    assert (finding.ok, finding.message) == (False, "import failed: ImportError: no")


def test_a_failing_call_is_not_the_import_steps():
    run, _ = dry(DOCUMENTED, SandboxOutcome("failed", "run", message="ValueError: no"))
    assert run.import_smoke().ok
    assert not run.dry_run().ok


def test_no_sandbox_is_unverified_and_never_a_pass():
    run, _ = dry(DOCUMENTED, SandboxOutcome("unverified", "start", message="not verified, because"))
    finding = run.import_smoke()
    assert (finding.ok, finding.unverified) == (False, True)


def test_a_sandbox_lost_between_examples_is_unverified():
    run, _ = dry(TWO, OK, SandboxOutcome("unverified", "start", message="gone"))
    run.import_smoke()
    finding = run.dry_run()
    assert (finding.ok, finding.unverified) == (False, True)


@pytest.mark.parametrize("signature", ["a, b", "a: Widget"])
def test_an_argument_that_needs_an_example_is_named_after_the_import(signature):
    source = f'"""Tool."""\ndef run({signature}):\n    """It."""\n'
    run, asked = dry(source, SandboxOutcome("ok", "done"))
    assert run.import_smoke().ok
    finding = run.dry_run()
    assert not finding.ok
    assert "argument 'a'" in finding.message
    assert "example" in finding.message
    assert [job.inputs for job, _ in asked] == [None]


def test_made_up_inputs_that_fail_ask_for_an_example():
    told = {
        "path: str": "the input `path` had no example, so a value was made up: ",
        "a: str, b: str": "the inputs `a`, `b` had no example, so values were made up: ",
    }
    for signature, said in told.items():
        source = f'"""Tool."""\ndef run({signature}):\n    """It."""\n'
        run, _ = dry(source, SandboxOutcome("failed", "run", message="FileNotFoundError: example"))
        run.import_smoke()
        assert run.dry_run().message.endswith(f"; {said}add an item to Examples:")


def test_a_program_without_network_is_not_sent_to_an_option_that_does_not_help_it():
    seen = ObservedEffects(hosts=("a.example:443",), commands=("curl",))
    source = '"""Tool."""\ndef run():\n    """It."""\n'
    run, _ = dry(source, SandboxOutcome("failed", "run", message="no", observed=seen))
    run.subject = replace(run.subject, network=("a.example:443",))
    run.import_smoke()
    assert run.dry_run().warnings == (
        "only Python's own code can reach allowed hosts; programs that it starts (curl) cannot",
    )


def test_a_promised_key_that_is_absent_is_a_warning():
    run, _ = dry(
        DOCUMENTED.replace("      output: {value: 8}\n", ""),
        SandboxOutcome("ok", "done", value={"other": 1}),
    )
    run.import_smoke()
    assert run.dry_run().warnings == ("Returns: names value, which the result does not have",)


def test_a_failed_run_is_shown_where_the_module_raised():
    run, _ = dry(DOCUMENTED, SandboxOutcome("failed", "run", message="ValueError: no", line=3))
    run.import_smoke()
    assert run.dry_run().line == 3


@pytest.mark.parametrize("line", [0, -4, 10_000])
def test_a_run_whose_line_is_not_the_modules_is_shown_at_its_entry_point(line):
    run, _ = dry(DOCUMENTED, SandboxOutcome("failed", "run", message="ValueError: no", line=line))
    run.import_smoke()
    entry = DOCUMENTED.splitlines()[run.dry_run().line - 1]
    assert entry.startswith("def run(")


def test_a_wrong_result_is_shown_at_the_entry_point():
    run, _ = dry(DOCUMENTED, SandboxOutcome("ok", "done", value={"value": 9}))
    run.import_smoke()
    assert DOCUMENTED.splitlines()[run.dry_run().line - 1].startswith("def run(")


def test_an_import_that_fails_is_shown_where_it_does():
    run, _ = dry(DOCUMENTED, SandboxOutcome("failed", "import", message="ImportError: no", line=2))
    assert run.import_smoke().line == 2
