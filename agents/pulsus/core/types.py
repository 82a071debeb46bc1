"""Shared contracts of routing (spec §2). Every shared type is defined here, once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Literal

from pulsus.errors import PulsusError
from pulsus.fast_dataclass import dataclass

Kind = Literal["resolve", "read", "write"]
Policy = Literal["select", "compose", "generate"]
Proof = Literal["behaviour", "shape"]
Verdict = Literal["accepted", "refused", "unverified"]
ParamKind = Literal[
    "positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword"
]

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]


@dataclass(frozen=True, slots=True)
class ParsedIntent:
    """What a request seems to ask for. `intent` is the raw text, `confidence` lies in [0, 1]."""

    domain: str | None
    action: str | None
    intent: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Passage:
    """Part of the project's own docs taken as a hint (spec §14).

    `source` is a path relative to the project, or a tool's id; `heading` the title it stands under.
    `score` lies in [0, 1]. `places` are the (domain, action) it speaks of, `tools` the ids.
    """

    source: str
    heading: str
    score: float
    places: tuple[tuple[str | None, str], ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clarification:
    """The one targeted question of spec §3. `answer` is None until somebody answered."""

    question: str
    options: tuple[str, ...]
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class ArgSpec:
    """One parameter of a tool's entry point, read from source. `default` is source text."""

    name: str
    type_hint: str | None
    required: bool
    default: str | None
    description: str = ""
    kind: ParamKind = "positional_or_keyword"


@dataclass(frozen=True, slots=True)
class OutputSpec:
    """One named value a tool returns, from its `Returns:` section."""

    name: str
    type_hint: str | None
    description: str = ""


@dataclass(frozen=True, slots=True)
class InlineFile:
    """A file an example brings along. `age_s` is seconds before the run; None = now."""

    path: str
    content: bytes
    age_s: float | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """One `Examples:` item. `expected` counts only where `has_expected` (None is a value)."""

    inputs: Mapping[str, JsonValue]
    files: tuple[InlineFile, ...] = ()
    expected: JsonValue = None
    has_expected: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Effects:
    """What a tool says it touches. None in `ToolSpec.effects` = it says nothing."""

    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """Ranking hints beside a tool (spec §15). Never a source of truth for running it.

    `requests` are whole requests a person would type for the tool: memory it starts with.
    """

    path: Path
    name: str | None = None
    intents: tuple[str, ...] = ()
    anti_intents: tuple[str, ...] = ()
    domain: str | None = None
    action: str | None = None
    args: tuple[str, ...] = ()
    returns: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A routable tool. `id` is `domain/action/name` or `shared/action/name` and unique.

    `path` is absolute. `domain` is None for a shared tool. `doc` is the whole module docstring.
    `sha256` is the hex digest of the file's bytes. `contract_errors` say what in the docstring
    cannot be read; such a tool is routable, and validation refuses it. A `composed` module calls
    other tools. `score` is 0 until ranked.
    """

    id: str
    path: Path
    entry: Literal["run", "main"]
    args: tuple[ArgSpec, ...]
    doc: str
    domain: str | None
    action: str
    name: str
    summary: str
    sha256: str
    body: str = ""
    kind: Kind = "write"
    kind_declared: bool = False
    returns: tuple[OutputSpec, ...] = ()
    return_hint: str | None = None
    side_effects: str | None = None
    effects: Effects | None = None
    secrets: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    manifest: Manifest | None = None
    missing_sections: tuple[str, ...] = ()
    contract_errors: tuple[str, ...] = ()
    composed: bool = False
    score: float = 0.0

    @property
    def shared(self) -> bool:
        """Whether it lies under `shared_tools/`."""
        return self.domain is None


@dataclass(frozen=True, slots=True)
class BrokenTool:
    """A file that looks like a tool and cannot be routed to, with a stable reason code."""

    path: Path
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Shadowed:
    """A shared tool hidden by a domain tool of the same action and name (spec §9)."""

    shared: Path
    domain: Path

    def warning(self, root: Path) -> str:
        """One line naming both paths, relative to `root`, and who wins."""
        winner, loser = (_relative(p, root) for p in (self.domain, self.shared))
        return f"{loser} is shadowed by {winner}: the domain tool wins"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything discovery found below `root` (the workflows folder), in id order.

    `tools` may be read from the index only when they are looked at (`core/contract/tool_table.py`).
    `digest` is a hex SHA-256 over every tool's id and hash: equal digests, equal catalogues.
    `warnings` are one line each: manifests that were not used, an index that was not.
    """

    root: Path
    tools: Sequence[ToolSpec]
    broken: tuple[BrokenTool, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    digest: str = ""
    warnings: tuple[str, ...] = ()

    def get(self, tool_id: str) -> ToolSpec | None:
        """The tool of that exact id."""
        return next((t for t in self.tools if t.id == tool_id), None)

    def find(self, ref: str) -> tuple[ToolSpec, ...]:
        """Tools a reference may mean: an id, a bare name, `name.py` or `name.py::run`."""
        bare = ref.removesuffix("::run").removesuffix("::main").removesuffix(".py")
        exact = self.get(bare)
        return (exact,) if exact else tuple(t for t in self.tools if t.name == bare)


@dataclass(frozen=True, slots=True)
class ToolHistory:
    """How a tool fared before (spec §4): promotions, and past routes that chose it.

    `failed` counts failed and rejected routes. `last_success` is aware UTC: the later of the last
    promotion and the last accepted route; None where there is neither.
    """

    tool_id: str
    promotions: int
    accepted: int
    failed: int
    last_success: datetime | None


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A request word that stands in a tool as something else. `found` is that word or its stem."""

    word: str
    found: str
    how: Literal["synonym", "typo", "compound"]


@dataclass(frozen=True, slots=True)
class Vote:
    """A past request that spoke for a tool (`weight` > 0) or against it (< 0).

    `similarity` to the request at hand lies in [0, 1].
    """

    request: str
    similarity: float
    weight: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate with everything `--explain` prints; produced by the scorer, never beside it.

    `features` and `weights` share their keys; `score` is the weighted sum of §5, `p` the
    calibrated probability in [0, 1] that τ applies to; `rank` starts at 1. `matched` maps a
    place (name, doc, args, manifest, path, history) to the request words found there.
    `signals` are the numbers `p` was computed from. `caution` says where request and tool are at
    odds (one asks for a change, the other only reads), which lowers the doc feature and `p`.
    `meant` says which words were found by what they mean, `unmatched` which the tool has not got.
    `votes` are the past requests that memory counted, strongest first.
    """

    tool: ToolSpec
    features: Mapping[str, float]
    weights: Mapping[str, float]
    score: float
    p: float
    rank: int
    tie_break: str | None = None
    why_not: str | None = None
    matched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    signals: Mapping[str, float] = field(default_factory=dict)
    caution: str | None = None
    meant: tuple[WordMatch, ...] = ()
    unmatched: tuple[str, ...] = ()
    votes: tuple[Vote, ...] = ()


@dataclass(frozen=True, slots=True)
class SubIntent:
    """One clause of a request that asks for one thing, with its candidates, best first."""

    text: str
    candidates: tuple[Ranked, ...] = ()


@dataclass(frozen=True, slots=True)
class ParamRef:
    """`{{input.NAME}}`: a plan parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class OutputRef:
    """`{{steps.STEP.outputs.OUTPUT}}`: what an earlier step gave."""

    step: str
    output: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal JSON value."""

    value: JsonValue


PlanValue = ParamRef | OutputRef | Constant


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One call. `outputs` maps the plan's name for a value to the tool's key.

    `sha256` pins the tool's bytes (None only in a hand-written plan before it is pinned).
    """

    id: str
    tool: str
    inputs: Mapping[str, PlanValue]
    outputs: Mapping[str, str]
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan DSL of spec §6 as a value. `params` and `returns` are the `io` block."""

    description: str
    steps: tuple[PlanStep, ...]
    params: tuple[str, ...] = ()
    returns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteDecision:
    """What routing decided (spec §2). `selected` is empty for generate."""

    route_id: str
    policy: Policy
    selected: tuple[ToolSpec, ...]
    plan: Plan | None
    reason: str


@dataclass(frozen=True, slots=True)
class ObservedEffects:
    """What a dry run tried outside its temporary folder, whether or not it was let (spec §8).

    `paths` were to be created, changed or deleted (`~/…` = in the home folder), `hosts` reached
    (`host:port`, a name looked up, `unix:…`), `commands` started (their first word), `others` what
    is none of these, in words: signals to processes it did not start, threads left running. `reads`
    are files and folders that Python code read, but the system's own and those below /tmp. Sorted.
    """

    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one validation step found. `output` is the checker's own text, control-stripped.

    `line` is where in the module, from 1; 0 where that is not known or the text says it. `code` is
    stable and mostly empty; `BUSY`: the machine had no time for the step.
    """

    step: str
    ok: bool
    duration_ms: int
    message: str = ""
    output: str = ""
    artifact: Path | None = None
    unverified: bool = False
    line: int = 0
    code: str = ""


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """The verdict over one module's bytes (spec §2, §8).

    `verdict` is `unverified` where a step could not run for want of a sandbox or checker: that
    is never a pass. `steps` are in pipeline order. `warnings` do not change the verdict.
    `observed` is None where the module was not run. `cached`: the verdict is that of an earlier
    run over the same bytes, which proves nothing to promotion. `network` are the hosts that the
    dry run was allowed to reach, as `host:port`.
    """

    ok: bool
    verdict: Verdict
    path: Path
    sha256: str
    steps: tuple[StepResult, ...]
    duration_ms: int
    artifacts: tuple[Path, ...]
    summary: str
    proof: Proof | None = None
    warnings: tuple[str, ...] = ()
    observed: ObservedEffects | None = None
    cached: bool = False
    network: tuple[str, ...] = ()

    @property
    def busy(self) -> bool:
        """True if nothing but a busy machine kept the module from being verified."""
        return not self.ok and all(step.ok or step.code == "BUSY" for step in self.steps)


@dataclass(frozen=True, slots=True)
class ValidatedModule:
    """Bytes that passed. The only thing promotion accepts; made by the pipeline alone.

    Raises ValueError when the report is not an acceptance of exactly these bytes.
    """

    source: bytes
    tool: ToolSpec
    report: ValidationReport

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.source).hexdigest()
        if not (self.report.ok and self.report.verdict == "accepted"):
            raise ValueError(f"report of {self.report.path} is {self.report.verdict}, not accepted")
        if self.report.cached:
            raise ValueError(f"report of {self.report.path} is of an earlier run")
        if not digest == self.report.sha256 == self.tool.sha256:
            raise ValueError(f"report of {self.report.path} is about other bytes")


@dataclass(frozen=True, slots=True)
class Promotion:
    """A promoted revision. `created` is False where name and hash were already there.

    `bump` is by how much the version went up from `previous`, `changes` why; both say nothing of a
    tool's first revision. `restores` is the version whose bytes came back. `kind` is the one on
    record: what the tool counts as when it is run.
    """

    revision: str
    version: str
    path: Path
    tool_id: str
    created: bool
    previous: str | None = None
    bump: str | None = None
    changes: tuple[str, ...] = ()
    restores: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class PendingCandidate:
    """A candidate that an earlier run of the same request left in `_tmp/` (spec §16).

    `status` is pending, rejected or failed; `reasons` say why it was not promoted; `edited` is
    whether somebody changed it since it was made.
    """

    module: Path
    status: str
    reasons: tuple[str, ...]
    created_at: datetime
    edited: bool = False


@dataclass(frozen=True, slots=True)
class GenerationRound:
    """One answer of a model and what became of it (spec §7). Number 0 is the first answer.

    `sha256` is that of the module as it was checked, None where the answer held none. `step` is
    where it was refused, None where it was accepted. `changed` says how it was asked differently.
    """

    number: int
    temperature: float
    seed: int
    prompt_hash: str
    tokens: int
    sha256: str | None
    step: str | None
    reasons: tuple[str, ...] = ()
    changed: str | None = None


@dataclass(frozen=True, slots=True)
class GenerationReport:
    """How a module was made. `repairs` counts the rounds that were to repair an earlier answer.

    A `template` is a skeleton: no model, no rounds. `stopped` says why no further round was made,
    `behaviours` counts the caller's examples that say what the result must be, `held_back` those of
    them that the model never saw; `extra_imports` were allowed beside those of the specification.
    `boundaries` are (argument, value, what is special) of cases that no example proves.
    """

    generator: Literal["model", "template"]
    accepted: bool
    provider: str | None = None
    model: str | None = None
    rounds: tuple[GenerationRound, ...] = ()
    repairs: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    behaviours: int = 0
    held_back: int = 0
    boundaries: tuple[tuple[str, JsonValue, str], ...] = ()
    extra_imports: tuple[str, ...] = ()
    stopped: str = ""
    test: Path | None = None


@dataclass(frozen=True, slots=True)
class RouteOutcome:
    """Everything a route produced; summary, JSON, explain and exit code are read from it.

    `failure` is why it ended early although there is an outcome to show (nothing fits, approval
    needed); its exit status is `exit_code`. `weights` are the configured ones. `passages` are what
    hints were taken from. `left` are candidates that an earlier run of the request left.
    `generation` is how a module was written for the request. Where not `logged`, nothing else knows
    `run_id`.
    """

    run_id: str
    intent: ParsedIntent
    decision: RouteDecision
    candidates: tuple[Ranked, ...]
    tau: float
    widened: bool
    exit_code: int
    clarification: Clarification | None = None
    subintents: tuple[SubIntent, ...] = ()
    module: Path | None = None
    validation: ValidationReport | None = None
    promotion: Promotion | None = None
    shadowed: tuple[Shadowed, ...] = ()
    result: JsonValue = None
    ran: bool = False
    confinement: Mapping[str, JsonValue] | None = None
    failure: PulsusError | None = None
    notes: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    passages: tuple[Passage, ...] = ()
    left: tuple[PendingCandidate, ...] = ()
    generation: GenerationReport | None = None
    logged: bool = True


def _relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root.parent)) if path.is_relative_to(root.parent) else str(path)
