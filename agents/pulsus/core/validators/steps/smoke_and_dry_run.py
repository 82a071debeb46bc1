"""Import smoke test and dry run (spec §8.3, §8.4). Effect: starts sandboxes, one an example.

A wrong result of an example (`core/contract/example_match.py`), an effect beyond the declared ones
(`core/validators/effects/observed_against_declared.py`) and a timeout fail a module here. The
timeouts are `validation.import_seconds` and `sandbox.max_seconds` (`config/settings.py`), other
limits are in `core/sandbox/sandbox_limits.py`; the module is imported in
`core/sandbox/harness/load_and_call.py`, and inputs come from `dry_run_inputs.py`. Both happen in
one sandboxed process with a clock each: importing a module already runs its code.
"""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pulsus.core.contract.example_match import expects_value, matches
from pulsus.core.contract.strip_examples import remove_examples
from pulsus.core.python_source import python_parser
from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.sandbox.job import Job, SandboxOutcome, StepSource
from pulsus.core.sandbox.observation.observed_effects import join_effects
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.types import ObservedEffects, Proof
from pulsus.core.validators.effects import constant_targets
from pulsus.core.validators.effects.observed_against_declared import (
    judge_effects,
    list_undeclared_reads,
)
from pulsus.core.validators.proof import DecidedProof, decide_proof, known_examples
from pulsus.core.validators.steps.dry_run_inputs import Case, NeedsExample, list_cases
from pulsus.core.validators.validator_protocol import BUSY, Finding, Subject

_READS = "without the examples in its docstring it gives another result"
_UNDECLARED = "no Effects: are declared, and it {}: it counts as write when it is run"
_STRAYED = "it reads {}, which Effects: does not name"
_SHOWN = 2000
_LISTED = 5


Run = Callable[[Job, SandboxLimits], SandboxOutcome]
"""Runs one job under these limits in a fresh sandbox."""


@dataclass(slots=True)
class DryRun:
    """The two sandboxed steps of one validation: call `import_smoke`, then `dry_run`.

    `proof` counts after a passed `dry_run` (`core/validators/proof.py`). Without an example that
    expects a value it is `shape`.
    """

    subject: Subject
    limits: SandboxLimits
    run: Run
    proof: Proof = "shape"
    _cases: tuple[Case, ...] = ()
    _needs: str = ""
    _doubt: str = ""
    _first: SandboxOutcome | None = None
    _ran: list[SandboxOutcome] = field(default_factory=list)

    @property
    def observed(self) -> ObservedEffects | None:
        """The effects that every call so far tried outside its temporary folder, or None."""
        return join_effects(outcome.observed for outcome in self._ran) if self._ran else None

    def import_smoke(self) -> Finding:
        """Check that the module loads and that its entry point can be called.

        The first case runs in the same process, and `dry_run` uses its outcome.
        """
        try:
            self._cases = list_cases(self.subject.tool)
        except NeedsExample as error:
            self._needs = str(error)
        self._first = self._run_case(self._cases[0] if self._cases else None, self.limits)
        return self._with_failure_line(_import_finding(self._first))

    def dry_run(self) -> Finding:
        """Check that every case gives a well-formed result, and the one expected."""
        if self._needs or self._first is None:
            message = self._needs or "the module was not imported"
            return self._with_failure_line(Finding(ok=False, message=message))
        found = self._judge_cases(self._first)
        return self._with_failure_line(replace(found, shift_ms=self._first.run_ms))

    def _with_failure_line(self, found: Finding) -> Finding:
        """Return the finding with the line of its failure."""
        if found.ok or found.unverified:
            return found
        raised = self._ran[-1].line if self._ran else 0
        return replace(found, line=_find_failure_line(self.subject, raised))

    def _judge_cases(self, outcome: SandboxOutcome) -> Finding:
        seconds_left = self.limits.run_seconds - outcome.run_ms / 1000
        shown: list[str] = []
        undeclared: list[str] = []
        read: list[str] = []
        for number, case in enumerate(self._cases):
            if number:
                if seconds_left <= 0:
                    return self._case_failure(case, self._describe_no_time(), shown)
                outcome, seconds_left = self._run_further_case(case, seconds_left)
            shown.append(_render_transcript(case, outcome))
            if outcome.status == "unverified":
                return _unverified_finding(outcome)
            judged = judge_effects(self.subject.tool, outcome.observed, case.example.inputs)
            if judged.exceeded:
                return _exceeded_finding(case.label, judged.exceeded, shown)
            undeclared += judged.undeclared
            read += list_undeclared_reads(self.subject.tool, outcome.observed, case.example.inputs)
            if problem := _find_problem(case, outcome):
                return self._case_failure(case, problem, shown)
        module = constant_targets.read_index(self.subject.source)  # for all checks of the text
        stated, warned = constant_targets.judge_source(self.subject.tool, module)
        if stated.exceeded:
            return _exceeded_finding("its source", stated.exceeded, shown)
        decided = self._decide_proof(module, seconds_left)
        if (found := decided.refusal) is not None:
            return replace(found, output="\n".join((found.output, *shown)).strip())
        self.proof, self._doubt = decided.proof, decided.doubt
        warnings = (
            *_warn_of_effects(undeclared, _UNDECLARED),
            *_warn_of_effects(read, _STRAYED),
            *warned,
            *self._list_warnings(outcome),
        )
        return Finding(ok=True, output="\n".join(shown), warnings=warnings)

    def _decide_proof(self, module: ModuleIndex, seconds_left: float) -> DecidedProof:
        """Return the kind of proof, and a refusal if the module knows its matched examples."""
        cases = [c for c in self._cases if expects_value(c.example)]
        if not cases:
            return DecidedProof("shape")
        return decide_proof(
            self.subject.tool, module, lambda: self._run_without_examples(cases, seconds_left)
        )

    def _run_without_examples(self, cases: Sequence[Case], seconds_left: float) -> Finding | None:
        """Return a failure if the module fails without the examples in its docstring, or None."""
        stripped = remove_examples(self.subject.source)
        for case in cases if stripped != self.subject.source else ():
            if seconds_left <= 0:
                return self._case_failure(case, self._describe_no_time(), [])
            outcome, seconds_left = self._run_further_case(case, seconds_left, stripped)
            if outcome.status == "unverified":
                return Finding(ok=False, message=outcome.message, unverified=True)
            if problem := _find_problem(case, outcome):
                return known_examples(f"{case.label}: {problem}; {_READS}: work the result out")
        return None

    def _run_further_case(
        self, case: Case, seconds_left: float, source: bytes = b""
    ) -> tuple[SandboxOutcome, float]:
        """Run one more case. Return its outcome and the seconds left: all cases share one clock."""
        seconds = min(self.limits.import_seconds, seconds_left)
        limits = replace(self.limits, import_seconds=seconds, run_seconds=seconds_left)
        began = time.monotonic()
        outcome = self._run_case(case, limits, source)
        reported = (outcome.import_ms + outcome.run_ms) / 1000
        return outcome, seconds_left - max(reported, time.monotonic() - began)

    def _describe_no_time(self) -> str:
        return (
            f"no time is left of {self.limits.run_seconds:g} s for all {len(self._cases)} calls: "
            "make import and examples quicker"
        )

    def _run_case(
        self, case: Case | None, limits: SandboxLimits, source: bytes = b""
    ) -> SandboxOutcome:
        outcome = self.run(self._build_job(case, source or self.subject.source), limits)
        if outcome.status != "unverified":
            self._ran.append(outcome)
        return outcome

    def _build_job(self, case: Case | None, source: bytes) -> Job:
        tool = self.subject.tool
        return Job(
            source=source,
            name=tool.name,
            entry=tool.entry,
            inputs=case.example.inputs if case else None,
            files=case.example.files if case else (),
            steps={
                tool_id: StepSource(step.entry, code)
                for tool_id, (step, code) in self.subject.steps.items()
            },
            network=self.subject.network,
        )

    def _case_failure(self, case: Case, problem: str, shown: list[str]) -> Finding:
        hint = ""
        if case.made_up:
            names = ", ".join(f"`{name}`" for name in case.made_up)
            one = len(case.made_up) == 1
            which = f"the input {names} had" if one else f"the inputs {names} had"
            made = "a value was made up" if one else "values were made up"
            hint = f"; {which} no example, so {made}: add an item to Examples:"
        return Finding(
            ok=False,
            message=f"{case.label}: {problem}{hint}",
            output="\n".join(shown),
            warnings=self._warn_unreachable_hosts(),
        )

    def _warn_unreachable_hosts(self) -> tuple[str, ...]:
        """Return warnings about unreachable hosts, which may be the reason for the failure."""
        seen = self.observed or ObservedEffects()
        asked = tuple(h for h in seen.hosts if not h.startswith("unix:"))
        found: list[str] = []
        if hosts := tuple(h for h in asked if h not in self.subject.network):
            fix = "allow them by --allow-network HOST:PORT, or let it say well that it has none"
            found.append(f"its dry run has no network to {_list_first(hosts)}: {fix}")
        if asked and seen.commands:
            what = f"programs that it starts ({_list_first(seen.commands)}) cannot"
            found.append(f"only Python's own code can reach allowed hosts; {what}")
        return tuple(found)

    def _list_warnings(self, last: SandboxOutcome) -> tuple[str, ...]:
        tool = self.subject.tool
        found = [self._doubt] if self._doubt else []
        declared = () if "Returns" in tool.missing_sections else tool.returns
        value = last.value
        absent = [o.name for o in declared if isinstance(value, dict) and o.name not in value]
        if absent:
            found.append(f"Returns: names {', '.join(absent)}, which the result does not have")
        return tuple(found)


def _find_failure_line(subject: Subject, raised: int) -> int:
    """Return the line that raised, from 1, or that of the entry point if no line of the module did.

    The sandbox reports `raised`. It counts only if the module has such a line.
    """
    if 1 <= raised <= subject.source.count(b"\n") + 1:
        return raised
    for node in python_parser.read_tree(subject.source).body:
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name == subject.tool.entry
        ):
            return node.lineno
    return 1


def _exceeded_finding(where: str, found: tuple[str, ...], shown: list[str]) -> Finding:
    """Return a refusal. Its message names the first few effects, its output all of them."""
    message = (
        f"{where}: it does more than its docstring declares: {_list_first(found)}; "
        f"declare it under Kind: and Effects:, or do without"
    )
    listed = "\n".join(("beyond what is declared:", *(f"- {item}" for item in found)))
    return Finding(ok=False, message=message, output="\n".join((listed, *shown)))


def _warn_of_effects(found: list[str], text: str) -> tuple[str, ...]:
    """Return the warning `text` with some of the effects in it, or nothing without any."""
    return (text.format(_list_first(tuple(dict.fromkeys(found)))),) if found else ()


def _list_first(found: tuple[str, ...]) -> str:
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return ", ".join(found[:_LISTED]) + more


def _unverified_finding(outcome: SandboxOutcome) -> Finding:
    code = BUSY if outcome.starved else ""
    return Finding(ok=False, message=outcome.message, unverified=True, code=code)


def _import_finding(outcome: SandboxOutcome) -> Finding:
    if outcome.status == "unverified":
        return _unverified_finding(outcome)
    if outcome.stage in ("run", "result", "end", "done"):
        return Finding(ok=True, shift_ms=-outcome.run_ms)
    what = "an example's file cannot be written" if outcome.stage == "files" else "import failed"
    text = f"{outcome.output}\n{outcome.trace}".strip()
    return Finding(ok=False, message=f"{what}: {outcome.message}", output=text)


def _find_problem(case: Case, outcome: SandboxOutcome) -> str:
    if outcome.status != "ok":
        return outcome.message
    if case.example.has_expected:
        return matches(case.example.expected, outcome.value) or ""
    return ""


def _render_transcript(case: Case, outcome: SandboxOutcome) -> str:
    lines = [
        f"{case.label}: inputs {json.dumps(dict(case.example.inputs))[:_SHOWN]}",
        f"result: {json.dumps(outcome.value)[:_SHOWN]}" if outcome.status == "ok" else "",
        f"import {outcome.import_ms} ms, run {outcome.run_ms} ms, "
        f"peak {outcome.peak_bytes / (1 << 20):.0f} MiB",
        outcome.message,
        outcome.output,
        outcome.trace,
    ]
    return "\n".join(line for line in lines if line)
