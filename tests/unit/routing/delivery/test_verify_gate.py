"""The hint for a write without `Verify:` gives an example that exists and fits the tool."""

from __future__ import annotations

from dataclasses import replace

import pytest

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
    assert (f'hash_file {{path: "{{{{input.{name}}}}}"}}' in (fault.hint or "")) is example
