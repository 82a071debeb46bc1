"""Runs the examples of an earlier revision on the new bytes (spec §10, ADR 20).

Callers rely on the examples they were shown. A version that gives another result for the same
inputs is not a patch, whatever its signature says: `core/storage/promotion/needed_bump.py` counts
it. `core/storage/promotion/result_diff.py` says which difference breaks callers. Effect: starts
sandboxes, one for each call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pulsus.core.sandbox.job import Job, SandboxOutcome, StepSource
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.storage.promotion import needed_bump, result_diff
from pulsus.core.storage.promotion.needed_bump import ApiChange
from pulsus.core.storage.promotion.result_diff import Difference
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.types import BrokenTool, Example, JsonValue, ToolSpec
from pulsus.core.validators.steps.dry_run_inputs import Case, NeedsExample, list_cases
from pulsus.core.validators.steps.smoke_and_dry_run import Run
from pulsus.core.validators.validator_protocol import Steps
from pulsus.errors import PulsusError

_SHOWN = 60
"""Characters of a value in a reason: it stands in a CHANGELOG."""
_LISTED = 3


@dataclass(frozen=True, slots=True)
class ExampleReplay:
    """Compares two revisions by their results.

    `steps` gives what a composed module calls. `redactor` hides secrets in the reasons.
    """

    limits: SandboxLimits
    run: Run
    steps: Callable[[bytes], Steps]
    redactor: Redactor

    def __call__(
        self, old: bytes, new: bytes, newer: Sequence[bytes] = ()
    ) -> tuple[ApiChange, ...]:
        """Return the changes that calls like the examples of `old` notice in `new`.

        An example that says what comes back is held against that, any other against what `old`
        gives now; values that `old` itself gives differently twice are left out. So are examples
        that one of `newer` has too: revisions between the two that are compared on their own.
        """
        before, after = needed_bump.read_revision(old), needed_bump.read_revision(new)
        if isinstance(before, BrokenTool) or isinstance(after, BrokenTool):
            return ()
        known = _Side(self, before, old, cache(lambda: self._find_old_steps(old)))
        now = _Side(self, after, new, cache(lambda: self.steps(new)))
        again = [
            case.example
            for each in newer
            for case in _list_cases_of(needed_bump.read_revision(each))
        ]
        return tuple(
            change
            for case in _list_shared_cases(before, after)
            if not any(_is_same_call(case.example, each) for each in again)
            for change in self._compare_case(case, known, now)
        )

    def _find_old_steps(self, old: bytes) -> Steps | None:
        """Return the steps of an earlier composition, or None if one is gone."""
        try:
            return self.steps(old)
        except PulsusError:
            return None

    def _compare_case(self, case: Case, known: _Side, now: _Side) -> Iterator[ApiChange]:
        found = now.call(case)
        label = self._label_case(case)
        if found is None or found.status != "ok":
            message = found.message if found else "what it calls is not there"
            text = f"{label} does not run any more: {self.redactor.redact(message)}"
            yield ApiChange("major", one_line(text, 300))
            return
        seen = self._find_differences(case, known, found.value)
        broken = [each for each in seen if each.breaks]
        for each in broken[:_LISTED]:
            yield ApiChange("major", f"{label} gives {self._describe_difference(each)}")
        if len(broken) > _LISTED:
            yield ApiChange("major", f"{label}: {len(broken) - _LISTED} further differences")
        if added := [each.at for each in seen if not each.breaks]:
            names = ", ".join(_format_path(at) for at in added[:_LISTED])
            more = f" and {len(added) - _LISTED} more" if len(added) > _LISTED else ""
            yield ApiChange("minor", one_line(f"{label} also gives {names}{more}", 300))

    def _find_differences(self, case: Case, known: _Side, value: JsonValue) -> Sequence[Difference]:
        if case.example.has_expected:
            return result_diff.find_differences(case.example.expected, value, pattern=True)
        before = known.call(case)
        if before is None or before.status != "ok":
            return ()
        found = result_diff.find_differences(before.value, value)
        again = known.call(case) if found else None
        if again is None or again.status != "ok":
            return found
        return result_diff.stable_differences(
            found, result_diff.find_differences(before.value, again.value)
        )

    def _label_case(self, case: Case) -> str:
        inputs = self.redactor.redact_value(dict(case.example.inputs))
        return f"{case.label} {_shorten_json(inputs)}"

    def _describe_difference(self, found: Difference) -> str:
        where, old, new = _format_path(found.at), *self._shown_values(found)
        match found.what:
            case "removed":
                return f"no {where}, it was {old}"
            case "length":
                return f"{new} items in {where}, it was {old}"
            case _:
                return f"{where} = {new}, it was {old}"

    def _shown_values(self, found: Difference) -> tuple[str, str]:
        key = next((part for part in reversed(found.at) if isinstance(part, str)), "")
        hidden = [self.redactor.redact_value({key: value}) for value in (found.old, found.new)]
        old, new = (_shorten_json(each[key] if isinstance(each, dict) else each) for each in hidden)
        return old, new


@dataclass(slots=True)
class _Side:
    """One of the two revisions, with the time that is left for all its calls."""

    replay: ExampleReplay
    tool: ToolSpec
    source: bytes
    pinned: Callable[[], Steps | None]
    _spent: float = 0.0

    def call(self, case: Case) -> SandboxOutcome | None:
        """Run one call. Return None if its steps are gone."""
        steps = self.pinned()
        if steps is None:
            return None
        calls = {key: StepSource(tool.entry, code) for key, (tool, code) in steps.items()}
        limits = self.replay.limits
        remaining_s = limits.run_seconds - self._spent
        if remaining_s <= 0:
            return SandboxOutcome("failed", "run", f"no time is left of {limits.run_seconds:.0f} s")
        example, tool = case.example, self.tool
        job = Job(self.source, tool.name, tool.entry, example.inputs, example.files, calls)
        outcome = self.replay.run(job, replace(limits, run_seconds=remaining_s))
        self._spent += outcome.run_ms / 1000
        return outcome


def _list_shared_cases(old: ToolSpec, new: ToolSpec) -> list[Case]:
    """Return the old tool's calls that the new one takes and was not just validated with."""
    judged = [each for each in new.examples if each.has_expected]
    return [
        case
        for case in _list_cases_of(old)
        if is_callable_with(new, case.example.inputs)
        and not any(_is_same_call(case.example, each) for each in judged)
    ]


def _list_cases_of(tool: ToolSpec | BrokenTool) -> tuple[Case, ...]:
    try:
        return () if isinstance(tool, BrokenTool) else list_cases(tool)
    except NeedsExample:
        return ()


def is_callable_with(tool: ToolSpec, inputs: Mapping[str, JsonValue]) -> bool:
    """Return True if the tool can be called with these arguments by name."""
    named = {a.name for a in tool.args if a.kind not in ("var_positional", "var_keyword")}
    anything = any(a.kind == "var_keyword" for a in tool.args)
    needed = {a.name for a in tool.args if a.required}
    return needed <= inputs.keys() and (anything or inputs.keys() <= named)


def _is_same_call(one: Example, other: Example) -> bool:
    return one.files == other.files and _call_key(one) == _call_key(other)


def _call_key(example: Example) -> str:
    call = (dict(example.inputs), example.has_expected, example.expected)
    return json.dumps(call, sort_keys=True)


def _format_path(at: result_diff.Place) -> str:
    text = ""
    for part in at:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.isidentifier():
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part)}]"
    return one_line(text, _SHOWN) or "the result"


def _shorten_json(value: JsonValue) -> str:
    return one_line(json.dumps(value), _SHOWN)
