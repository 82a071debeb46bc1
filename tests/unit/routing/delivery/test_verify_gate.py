"""The hint for a write without `Verify:` gives an example that exists and fits the tool."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pulsus.core.contract.declared_call import find_verify_gap, parse_call
from pulsus.core.types import DeclaredCall, OutputSpec
from pulsus.routing.delivery.verify_gate import find_verification_fault
from tests.compositions import arg, spec

HASHES = spec("shared/hash/hash_file", arg("path"))


@pytest.mark.parametrize(
    ("name", "found", "example"),
    [
        pytest.param("path", HASHES, True, id="a file"),
        pytest.param("limit", HASHES, False, id="a percentage is no file"),
        pytest.param("path", None, False, id="an empty catalogue"),
    ],
)
def test_the_hint_for_a_missing_verify_does_not_name_a_call_that_cannot_work(name, found, example):
    tool = replace(spec("a/b/c", arg(name), kind="write"), kind_declared=True)
    fault = find_verification_fault(tool, lambda _: found, new=True)
    assert fault is not None
    assert (f'hash_file {{path: "{{{{input.{name}}}}}",' in (fault.hint or "")) is example


@pytest.mark.parametrize(
    ("found", "returns"), [(HASHES, ()), (HASHES, ("new_sha256",)), (None, ("path",))]
)
def test_the_call_that_the_hint_for_a_missing_verify_gives_compares_a_value(found, returns):
    results = tuple(OutputSpec(name, "str") for name in returns)
    tool = replace(
        spec("a/b/c", arg("path"), kind="write"), kind_declared=True, returns=results, verify=None
    )
    fault = find_verification_fault(tool, lambda _: found, new=True)
    assert fault is not None
    text = (fault.hint or "").split("`")[1]
    outputs = (*returns, "NAME", "sha256")
    call, errors = parse_call(
        "Verify", text.removeprefix("Verify: ").replace("TOOL", HASHES.id), None, outputs
    )
    assert (call is not None, errors) == (True, ())
    assert find_verify_gap(replace(tool, verify=call)) is None
    assert ("{{output.new_sha256}}" in text) == ("new_sha256" in returns)


SET, DRY = {"path": "{{input.path}}"}, {"path": "{{input.dry_run}}"}


@pytest.mark.parametrize(
    ("call", "code"),
    [
        pytest.param(DeclaredCall(HASHES.id, {"path": "/x"}), "VERIFY_UNRELATED", id="a constant"),
        pytest.param(DeclaredCall(HASHES.id, DRY), "VERIFY_UNRELATED", id="dry_run alone"),
        pytest.param(
            DeclaredCall(HASHES.id, {"path": "/x"}, {"bytes": 1}, True),
            "VERIFY_UNRELATED",
            id="an expectation of constants",
        ),
        pytest.param(DeclaredCall(HASHES.id, SET), None, id="an input in its inputs"),
        pytest.param(
            DeclaredCall(HASHES.id, {"path": "/x"}, {"rows": ["{{output.path}}"]}, True),
            None,
            id="an output in its expectation",
        ),
    ],
)
def test_a_new_write_is_not_promoted_with_a_check_that_uses_nothing_of_it(call, code):
    tool = replace(
        spec("a/b/c", arg("path"), arg("dry_run"), kind="write"), kind_declared=True, verify=call
    )
    fault = find_verification_fault(tool, lambda _: HASHES, new=True)
    assert (fault and fault.code) == code
    if code:
        assert find_verification_fault(tool, lambda _: HASHES, new=False) is None
        assert fault is not None
        assert "{{input.path}}" in (fault.hint or "")
