"""A version's examples on its successor's bytes (spec §10, ADR 20)."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pulsus.core.sandbox.job import SandboxOutcome
from pulsus.core.sandbox.sandbox_probe import run_sandboxed
from pulsus.core.storage.promotion import choose_version
from pulsus.core.storage.promotion.needed_bump import ApiChange
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.validators.example_replay import ExampleReplay
from pulsus.errors import BumpRefused, HashMoved
from pulsus.routing.delivery.catalogue_promoter import CataloguePromoter
from tests.promotions import CONTEXT, promoted, store_of, validated
from tests.sandboxes import LIMITS, need_sandbox

CONTRACT = '''"""Count the words of a text.

Args:
    text (str): The text.

Returns:
    words (int): How many.

Side effects:
    none

Kind: read

Effects:
    paths: none
    hosts: none
    commands: none

Secrets: none
{examples}"""


def run(text: str) -> dict[str, object]:
    {body}
'''
SHOWN = '\nExamples:\n    - inputs: {text: "a b"}\n      output: {words: 2}\n'
OPEN = '\nExamples:\n    - inputs: {text: "a b"}\n'
OLD = "return {'words': len(text.split())}"


def module(body=OLD, examples=SHOWN):
    return CONTRACT.replace("{examples}", examples).replace("{body}", body).encode()


@pytest.fixture
def replay():
    need_sandbox()
    return ExampleReplay(LIMITS, run_sandboxed, lambda source: {}, Redactor())


def bumps(changes):
    return [change.bump for change in changes]


@pytest.mark.sandbox
@pytest.mark.parametrize("examples", [SHOWN, OPEN, ""], ids=["said", "not said", "no example"])
def test_another_result_for_the_same_inputs_is_no_patch(replay, examples):
    old = module(examples=examples)
    new = module("return {'words': len(text)}", examples.replace("2}", "3}"))
    (change,) = replay(old, new)
    assert change.bump == "major"
    assert '"text": ' in change.text
    assert "gives words = " in change.text
    assert "it was " in change.text


@pytest.mark.sandbox
def test_another_body_with_the_same_results_is_a_patch(replay):
    same = "return {'words': sum(1 for _ in text.split())}"
    for examples in (SHOWN, OPEN, ""):
        assert replay(module(examples=examples), module(same, examples)) == ()
        assert replay(module(examples=examples), module(same, "")) == ()


@pytest.mark.sandbox
def test_keys_only_added_are_a_minor_change(replay):
    more = "return {'words': len(text.split()), 'chars': len(text)}"
    (change,) = replay(module(), module(more, ""))
    assert (change.bump, "also gives chars" in change.text) == ("minor", True)


@pytest.mark.sandbox
def test_an_example_that_cannot_run_any_more_is_a_major_change(replay):
    (change,) = replay(module(), module("raise ValueError('too few')", ""))
    assert change.bump == "major"
    assert "does not run any more" in change.text
    assert "too few" in change.text


@pytest.mark.sandbox
def test_values_that_differ_on_every_run_do_not_make_a_version_major(replay):
    body = "import time; return {'words': 2, 'at': time.perf_counter_ns()}"
    assert replay(module(body, OPEN), module(body + "  # again", OPEN)) == ()


@pytest.mark.sandbox
def test_a_signature_that_takes_the_inputs_no_more_is_not_called(replay):
    source = (
        module().replace(b"text: str", b"content: str").replace(b"text.split", b"content.split")
    )
    assert replay(module(), source) == ()


def fake(*values):
    """A `Run` that gives these values in turn, and a list of the jobs it was given."""
    left, jobs = list(values), []

    def run(job, limits):
        jobs.append(job)
        value = left.pop(0)
        return (
            value
            if isinstance(value, SandboxOutcome)
            else SandboxOutcome("ok", "done", value=value)
        )

    return run, jobs


def test_an_example_that_validation_just_ran_is_not_run_again():
    run, jobs = fake()
    assert (
        ExampleReplay(LIMITS, run, lambda source: {}, Redactor())(module(), module(OLD + "  # x"))
        == ()
    )
    assert jobs == []


def test_a_reason_is_short_and_names_no_secret():
    secret = "hunter2hunter2"
    examples = f'\nExamples:\n    - inputs: {{text: "password={secret}"}}\n'
    long = {"password": "s3cr3t-value", "rows": "x" * 5000}
    run, _ = fake({"password": secret, "rows": "y"}, long, long)
    run2, _ = fake(long, {"password": secret, "rows": "y"}, {"password": secret, "rows": "y"})
    old, new = module(examples=examples), module(OLD + "  # new", examples)
    for each in (run, run2):
        changes = ExampleReplay(LIMITS, each, lambda source: {}, Redactor())(old, new)
        text = " ".join(change.text for change in changes)
        assert changes
        assert secret not in text
        assert "s3cr3t-value" not in text
        assert all(len(change.text) < 320 for change in changes)
        assert "\n" not in text


def test_a_sandbox_that_fails_is_never_a_patch():
    run, _ = fake(SandboxOutcome("unverified", "start", "no sandbox"))
    (change,) = ExampleReplay(LIMITS, run, lambda source: {}, Redactor())(
        module(), module("pass", "")
    )
    assert change.bump == "major"


def test_without_the_earlier_steps_only_expected_outputs_are_compared():
    old, new = module(examples=OPEN), module(OLD + "  # new", OPEN)

    def steps(source):
        if source == old:
            raise HashMoved("moved", hint="plan again")
        return {}

    run, jobs = fake({"words": 5})
    assert ExampleReplay(LIMITS, run, steps, Redactor())(old, new) == ()
    assert [job.source for job in jobs] == [new]


def promoter(project, replay=None, **more):
    (project / "workflows").mkdir(exist_ok=True)
    return CataloguePromoter(
        store_of(project, lock_seconds=5.0, clock=lambda: datetime(2026, 3, 1, tzinfo=UTC)),
        replay=replay,
        **more,
    )


TARGET = Target("system", "count", "things")


def test_the_record_and_the_changelog_name_changed_results(tmp_path):
    promoted(tmp_path, module(), target=TARGET)
    shown = promoter(tmp_path, lambda *given: (ApiChange("major", "example 1 gives 3, it was 2"),))
    done = shown.promote(validated(module(OLD + "  # more")), TARGET)
    assert (done.version, done.changes) == ("2.0.0", ("major: example 1 gives 3, it was 2",))
    folder = tmp_path / "workflows/domains/system"
    row = json.loads((folder / "count/metadata.jsonl").read_text("utf-8").splitlines()[-1])
    assert row["changes"] == ["major: example 1 gives 3, it was 2"]
    assert "- major: example 1 gives 3" in (folder / "CHANGELOG.md").read_text("utf-8")


def test_the_examples_of_a_moved_tool_are_those_of_its_old_place(tmp_path):
    promoted(tmp_path, module(), target=TARGET)
    seen = []

    def replay(old, new, network, newer):
        seen.append((old, new))
        return ()

    new = module(OLD + "  # moved")
    promoter(tmp_path, replay, replaces=TARGET).promote(
        validated(new), Target("system", "tally", "things")
    )
    assert seen == [(module(), new)]


def versions_of(project, sources, replay):
    shown = promoter(project, lambda old, new, network, newer: replay(old, new, newer))
    return [shown.promote(validated(source), TARGET) for source in sources]


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "between",
    ["", OPEN, SHOWN.replace("2}", "...}"), SHOWN.replace("a b", "").replace("2}", "0}")],
    ids=["taken out", "says nothing", "says less", "another"],
)
def test_an_example_that_a_patch_took_out_still_makes_a_change_of_its_result_major(
    tmp_path, replay, between
):
    more = "n = len(text.split()); return {'words': 2 * n if n > 1 else n}"
    sources = [module(), module(OLD, between), module(more, between)]
    *_, patch, done = versions_of(tmp_path, sources, replay)
    assert (patch.version, done.version) == ("1.0.1", "2.0.0")
    assert "words = 4, it was 2" in done.changes[0]


@pytest.mark.sandbox
def test_examples_of_versions_before_the_last_major_one_are_not_replayed(tmp_path, replay):
    doubled = "return {'words': len(text.split()) * 2}"
    sources = [module(), module(doubled, ""), module(doubled + "  # new", "")]
    assert [p.version for p in versions_of(tmp_path, sources, replay)][1:] == ["2.0.0", "2.0.1"]


@pytest.mark.sandbox
def test_keys_added_since_an_older_version_are_counted_once(tmp_path, replay):
    more = "return {'words': len(text.split()), 'chars': len(text)}"
    shown = SHOWN.replace("2}", "2, chars: 3}")
    sources = [module(), module(more, shown), module(more + "  # new", shown)]
    assert [p.version for p in versions_of(tmp_path, sources, replay)][1:] == ["1.1.0", "1.1.1"]


def test_examples_that_every_version_has_are_not_run_once_for_each(tmp_path):
    sources = [module(f"{OLD}  # {n}", OPEN) for n in range(4)]
    ran = []

    def run(job, limits):
        ran.append(job.source)
        return SandboxOutcome("ok", "done", value={"words": 2})

    versions_of(tmp_path, sources, ExampleReplay(LIMITS, run, lambda source: {}, Redactor()))
    assert ran == [each for n in (1, 2, 3) for each in (sources[n], sources[n - 1])]


def test_an_older_version_whose_bytes_are_gone_is_not_taken_for_one_without_examples(tmp_path):
    promote = promoter(tmp_path, lambda *given: ())
    promote.promote(validated(module()), TARGET)
    promote.promote(validated(module(OLD + "  # more", "")), TARGET)
    (kept,) = (tmp_path / "workflows/domains/system/count/.versions").iterdir()
    kept.unlink()
    done = promote.promote(validated(module("return {'words': 0}", "")), TARGET)
    assert done.version == "2.0.0"
    assert "the bytes of 1.0.0 are not kept" in done.changes[0]


def test_a_version_promoted_meanwhile_is_compared_anew_and_never_with_an_older_one(tmp_path):
    promoted(tmp_path, module(), target=TARGET)
    between, last = module(OLD + "  # between"), module(OLD + "  # last")
    seen: list[bytes] = []

    def replay(old, new, network, newer):
        if not seen:
            promoted(tmp_path, between, target=TARGET)
        seen.append(old)
        return ()

    done = promoter(tmp_path, replay).promote(validated(last), TARGET)
    assert seen == [module(), between, module()]
    assert (done.previous, done.version) == ("1.0.1", "1.0.2")


def test_a_comparison_with_another_revision_is_refused(tmp_path):
    promoted(tmp_path, module(), target=TARGET)
    stale = choose_version.ReplayResult("sha256:" + "0" * 64, ())
    with pytest.raises(choose_version.Outdated) as caught:
        promoted(tmp_path, module("pass"), target=TARGET, context=replace(CONTEXT, behaviour=stale))
    assert caught.value.code == "BUSY"


def test_a_first_version_that_is_second_after_all_is_compared(tmp_path):
    """Two first promotions at once: the later one replaces what the earlier one made."""
    promoted(tmp_path, module(), target=TARGET)
    nothing = choose_version.ReplayResult(None, ())
    with pytest.raises(choose_version.Outdated):
        promoted(
            tmp_path, module("pass"), target=TARGET, context=replace(CONTEXT, behaviour=nothing)
        )


def test_a_bump_of_unchanged_bytes_is_refused_and_not_ignored(tmp_path):
    done = promoted(tmp_path, module(), target=TARGET)
    with pytest.raises(BumpRefused, match=r"--bump major: these are the bytes .* 1\.0\.0"):
        promoted(tmp_path, module(), target=TARGET, context=replace(CONTEXT, bump="major"))
    sha256 = validated(module()).report.sha256
    with pytest.raises(BumpRefused, match="unchanged"):
        promoter(tmp_path, bump="major").current(TARGET, sha256)
    assert promoter(tmp_path).current(TARGET, sha256).revision == done.revision
    assert Path(done.path).read_bytes() == module()
