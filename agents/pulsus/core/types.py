"""Shared types of routing (spec §2). Every type that several packages use is defined here, once.

All are frozen values without behaviour of their own. Discovery makes a `ToolSpec`, the scorer a
`Ranked`, the pipeline a `ValidationReport`; a `RouteOutcome` holds everything of one run. Only a
`ValidatedModule` can be promoted, and it refuses a report that is not accepted. Types of settings
are in `config/settings.py`, errors in `errors.py`, types of the agent in `agent/tool_protocol.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Literal

from pulsus.errors import PulsusError
from pulsus.fast_dataclass import dataclass

# What a tool may change: only a write may change anything (docs/tool-contract.md).
Kind = Literal["resolve", "read", "write"]
# Who may allow a run of a tool (docs/tool-contract.md, ADR 41).
ApprovalLevel = Literal["none", "operator", "approver"]
# Take one tool, plan several as steps, or have a new tool written.
Policy = Literal["select", "compose", "generate"]
# An example compared a result, or only the form of the result was checked.
Proof = Literal["behaviour", "shape"]
# Unverified: a check could not run on this machine. That never counts as accepted.
Verdict = Literal["accepted", "refused", "unverified"]
# The kinds of `inspect.Parameter`, in lower case: modules are read without importing them.
ParamKind = Literal[
    "positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword"
]

# Inputs and results are JSON, so that they can cross process borders and be logged.
JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]


@dataclass(frozen=True, slots=True)
class ParsedIntent:
    """The goal of a request, as the prompt parser reads it (spec §3).

    `intent` is the raw text of the request. `domain` and `action` name the folder that the text
    points to, or are None. `confidence` in [0, 1] says how sure the parser is of both.
    """

    domain: str | None
    action: str | None
    intent: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A section of the project's own docs that serves as a ranking hint (spec §14).

    `source` is a path relative to the project, or the id of a tool. `heading` is the title above
    the passage. `score` in [0, 1] is its similarity to the request. `places` are the (domain,
    action) pairs that it mentions, `tools` the ids of the tools that it mentions.
    """

    source: str
    heading: str
    score: float
    places: tuple[tuple[str | None, str], ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clarification:
    """The one targeted question that a route may ask (spec §3).

    `options` are the answers to choose from: tool ids, a plan (`a then b`), or areas. `labels`
    describe them, in the same order. `default` is the option that an empty answer means; None means
    none of them. `answer` is None until a person has answered.
    """

    question: str
    options: tuple[str, ...]
    answer: str | None = None
    labels: tuple[str, ...] = ()
    default: str | None = None

    @property
    def in_one_line(self) -> str:
        """Return question and options, where there is no room for the labels."""
        return f"{self.question} ({', '.join(self.options)})"


@dataclass(frozen=True, slots=True)
class ArgSpec:
    """One parameter of a tool's entry point, read from its source.

    `type_hint` and `default` are source text. `required` is True if the parameter has no default.
    `description` comes from the `Args:` section of the docstring. `kind` is the kind of
    `inspect.Parameter`, in lower case.
    """

    name: str
    type_hint: str | None
    required: bool
    default: str | None
    description: str = ""
    kind: ParamKind = "positional_or_keyword"


@dataclass(frozen=True, slots=True)
class OutputSpec:
    """One named value that a tool returns, read from its `Returns:` section."""

    name: str
    type_hint: str | None
    description: str = ""


@dataclass(frozen=True, slots=True)
class InlineFile:
    """A file that an example writes before the tool runs.

    `age_s` is the file's age in seconds at the start of the run; None means that it is new.
    """

    path: str
    content: bytes
    age_s: float | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """One item of the `Examples:` section: a call of the tool, with its expected result.

    `inputs` are the arguments, `files` exist during the call. `expected` counts only if
    `has_expected` is True, because None is a possible result. `title` is a label for people.
    """

    inputs: Mapping[str, JsonValue]
    files: tuple[InlineFile, ...] = ()
    expected: JsonValue = None
    has_expected: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects that a tool declares in its `Effects:` section (docs/tool-contract.md).

    If `ToolSpec.effects` is None, the tool has no such section.
    """

    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeclaredCall:
    """A call of another tool that a contract declares, in `Verify:` or `Undo:` (ADR 41).

    `tool` is a tool id. Texts in `inputs` and `expected` may hold `{{input.NAME}}` and
    `{{output.NAME}}`; `core/contract/declared_call.py` fills them in. `expected` is a pattern like
    the output of an example. It counts only if `has_expected` is True.
    """

    tool: str
    inputs: Mapping[str, JsonValue] = field(default_factory=dict)
    expected: JsonValue = None
    has_expected: bool = False


@dataclass(frozen=True, slots=True)
class ShortToolId:
    """A contract error: `section` names a tool by `written`, which is only a part of its id.

    The whole id is in the catalogue, which the reader of one contract does not know. So
    `core/contract/declared_call.py` makes the text.
    """

    section: str
    written: str


ContractError = str | ShortToolId


@dataclass(frozen=True, slots=True)
class Manifest:
    """Ranking hints from a file beside the tool (spec §15). Running the tool never reads them.

    `intents` are phrases that should find the tool, `anti_intents` phrases that should not.
    `domain`, `action`, `args` and `returns` are further words to match. `requests` are whole
    requests that a person would type for the tool; route memory starts with them. `owner` is the
    team that maintains it, and no ranking hint.
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
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that routing can choose, read from its file without running it (spec §2).

    Identity: `id` is `domain/action/name`, or `shared/action/name` for a shared tool, and unique.
    `domain` is None for a shared tool. `path` is absolute. `sha256` is the hex digest of the file.

    Contract: `entry` is the function to call, with `args` and the source text `return_hint`. `doc`
    is the whole module docstring. `summary`, `body`, `returns`, `side_effects`, `effects`,
    `secrets` and `examples` are its parts. `kind` is "write" unless the docstring declares another
    one (`kind_declared`). `missing_sections` names the sections it lacks. `contract_errors` say
    which part of the docstring is invalid: such a tool can be routed to, but validation refuses it.

    Acting: `target` names the inputs that say which thing is acted on. `verify` is the read that
    checks a change, `undo` the call that reverses it. `approval` is who may allow a run, or None if
    the contract does not say. `owner` is the team that maintains the tool.

    Further: `manifest` holds ranking hints. A `composed` module calls other tools. For a tool with
    the output `exit_status`, `success_statuses` are the values that mean success, else empty.
    `score` is 0 until the tool is ranked.
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
    contract_errors: tuple[ContractError, ...] = ()
    composed: bool = False
    success_statuses: tuple[int, ...] = ()
    target: tuple[str, ...] = ()
    verify: DeclaredCall | None = None
    undo: DeclaredCall | None = None
    approval: ApprovalLevel | None = None
    owner: str | None = None
    score: float = 0.0

    @property
    def shared(self) -> bool:
        """Return True if the tool lies under `shared_tools/`."""
        return self.domain is None


@dataclass(frozen=True, slots=True)
class BrokenTool:
    """A file that looks like a tool but is invalid. `code` is stable, `reason` is for people."""

    path: Path
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Shadowed:
    """A shared tool that is hidden by a domain tool of the same action and name (spec §9)."""

    shared: Path
    domain: Path

    def warning(self, root: Path) -> str:
        """Return one line that names both paths, relative to `root`, and the tool that wins."""
        winner, loser = (display_path(root, path) for path in (self.domain, self.shared))
        return f"{loser} is shadowed by {winner}: the domain tool wins"


WarningCode = Literal["WARNING", "UNKNOWN_KEY", "INDEX_NOT_SAVED"]


@dataclass(frozen=True, slots=True)
class CatalogueWarning:
    """A manifest, a folder of tools or an index that discovery could not use or write.

    `path` is the manifest, below the folder of tools `root`. `text` does not name it. Both are None
    if the warning is about no manifest.
    """

    text: str
    path: Path | None = None
    root: Path | None = None
    code: WarningCode = "WARNING"

    def __str__(self) -> str:
        """Return the warning on one line, with the path of the manifest."""
        shown = f"{display_path(self.root, self.path)}: " if self.root and self.path else ""
        return f"{shown}{self.text}"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All tools that discovery found below `root`, the workflows folder, in the order of their ids.

    `tools` may be read from the index only when accessed (`core/contract/tool_table.py`). `broken`
    are invalid files, `shadowed` hidden tools. `digest` is a hex SHA-256 over every id and hash:
    equal digests mean equal catalogues.
    """

    root: Path
    tools: Sequence[ToolSpec]
    broken: tuple[BrokenTool, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    digest: str = ""
    warnings: tuple[CatalogueWarning, ...] = ()

    def get(self, tool_id: str) -> ToolSpec | None:
        """Return the tool with exactly this id, or None."""
        return next((t for t in self.tools if t.id == tool_id), None)

    def find(self, ref: str) -> tuple[ToolSpec, ...]:
        """Return the tools that `ref` may mean: an id, a bare name, `name.py` or `name.py::run`."""
        bare = ref.removesuffix("::run").removesuffix("::main").removesuffix(".py")
        exact = self.get(bare)
        return (exact,) if exact else tuple(t for t in self.tools if t.name == bare)


@dataclass(frozen=True, slots=True)
class ToolHistory:
    """The past results of a tool, which ranking uses (spec §4).

    `promotions` counts promoted versions, `accepted` routes that a person approved, `failed` failed
    and rejected ones, and `ran` routes that ended with an answer, without any feedback.
    `last_success` is the latest promotion or answer, in aware UTC; None if there is neither.
    """

    tool_id: str
    promotions: int
    accepted: int
    failed: int
    last_success: datetime | None
    ran: int = 0


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A request word that matched a tool by another word.

    `found` is the tool's word, or its stem. `how` is the reason why the two match.
    """

    word: str
    found: str
    how: Literal["synonym", "typo", "compound"]


@dataclass(frozen=True, slots=True)
class Vote:
    """A past request that counts for a tool (`weight` > 0) or against it (`weight` < 0).

    `similarity` to the current request lies in [0, 1].
    """

    request: str
    similarity: float
    weight: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate with all values that `--explain` prints. Only the scorer makes it (spec §5).

    Result: `score` is the weighted sum of `features`; `weights` has the same keys. `p` in [0, 1] is
    the calibrated probability, which is compared with τ. `signals` are the numbers that `p` is
    computed from. `rank` starts at 1. `tie_break` says what decided between equal scores, `why_not`
    why the candidate was not chosen.

    Words: `matched` maps a part of the tool (name, doc, args, manifest, path, history) to the
    request words found there. `meant` are words matched by synonym, typo or compound, `unmatched`
    words that the tool lacks.

    After a person answered the question, `p` is conditioned on the answer, and `p_before_answer` is
    the probability that the signals give. It is None if no answer changed `p`. `p_before_values` is
    the same where `p` was raised because the tool takes the request's values. `phrased` is True if
    the whole request is one of the manifest's intents, which counts like a name in the request.

    `caution` names a conflict of request and tool: one asks for a change, the other only reads. It
    lowers the doc feature and `p`. `votes` are the past requests that memory counted, strongest
    first.
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
    p_before_answer: float | None = None
    p_before_values: float | None = None
    phrased: bool = False


@dataclass(frozen=True, slots=True)
class SubIntent:
    """One clause of a request that asks for one thing, with its candidates, best first."""

    text: str
    candidates: tuple[Ranked, ...] = ()


@dataclass(frozen=True, slots=True)
class ParamRef:
    """A reference to a plan parameter, written `{{input.NAME}}`."""

    name: str


@dataclass(frozen=True, slots=True)
class OutputRef:
    """A reference to a result of an earlier step, written `{{steps.STEP.outputs.OUTPUT}}`."""

    step: str
    output: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal JSON value as the input of a step."""

    value: JsonValue


@dataclass(frozen=True, slots=True)
class Expression:
    """A value that is computed, written alone as `{{ source }}`. It keeps its type.

    `source` is an expression of jinja2 over `input`, `steps` and `item`.
    """

    source: str


@dataclass(frozen=True, slots=True)
class Template:
    """Text with `{{ expression }}` in it, which renders to text."""

    source: str


@dataclass(frozen=True, slots=True)
class Structure:
    """A list or mapping with references, expressions or templates in it."""

    value: Sequence[PlanValue] | Mapping[str, PlanValue]


# The source of one input of a step.
PlanValue = ParamRef | OutputRef | Constant | Expression | Template | Structure


@dataclass(frozen=True, slots=True)
class ForEach:
    """Run a step once for each item of a list. More than `limit` items are an error."""

    items: PlanValue
    limit: int


@dataclass(frozen=True, slots=True)
class Retry:
    """Try a failed step again: `attempts` in all, with `delay_s` seconds between them."""

    attempts: int
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One tool call of a plan.

    `tool` is a tool id, or a reference until the plan is pinned. `inputs` maps an argument to its
    value, `outputs` an output name in the plan to the tool's key. `sha256` pins the bytes of the
    tool, and `version` names the promoted version; both are None only in a hand-written plan that
    is not pinned yet.

    Order (docs/plans.md): the step waits for the steps that it refers to and for those in `needs`.
    It runs only if the expression `when` is true, and once for each item of `for_each`. `timeout_s`
    is None for the setting's limit. After a failure that `retry` did not help, `on_failure` says
    whether the rest of the plan stops.
    """

    id: str
    tool: str
    inputs: Mapping[str, PlanValue]
    outputs: Mapping[str, str]
    sha256: str | None = None
    version: str | None = None
    needs: tuple[str, ...] = ()
    when: Expression | None = None
    for_each: ForEach | None = None
    retry: Retry | None = None
    timeout_s: float | None = None
    on_failure: Literal["stop", "continue"] = "stop"


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan as a value (the DSL of spec §6). `params` and `returns` are its `io` block."""

    description: str
    steps: tuple[PlanStep, ...]
    params: tuple[str, ...] = ()
    returns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteDecision:
    """The decision of one route (spec §2): the policy, its tools, and the reason in one line.

    `selected` is empty for "generate". `plan` is set for "compose" only.
    """

    route_id: str
    policy: Policy
    selected: tuple[ToolSpec, ...]
    plan: Plan | None
    reason: str


@dataclass(frozen=True, slots=True)
class ObservedEffects:
    """Effects that a dry run attempted outside its temporary folder (spec §8), all sorted.

    Blocked attempts count too. `paths` were to be created, changed or deleted; `~/…` is below the
    home folder. `hosts` were to be reached: `host:port`, a looked-up name, or `unix:…`. `commands`
    are the first words of started commands. `others` describe the rest, such as signals to
    processes that the module did not start, or threads that it left running. `reads` are files and
    folders that Python code read, without those of the system and those below /tmp.
    """

    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one validation step.

    `message` is for people, `output` is the checker's own text without control characters.
    `artifact` is a file with details. `unverified` means that the step could not run. `line` is the
    line in the module, from 1; it is 0 if unknown or if the text names it. `code` is stable and
    mostly empty: `BUSY` means that the machine had no time for the step.
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
    """The verdict on the bytes of one module (spec §2, §8).

    `verdict` is `unverified` if a step could not run because the sandbox or a checker is missing;
    that never counts as a pass. `steps` are in pipeline order. `proof` is `behaviour` if an example
    compared a result, `shape` if only its form was checked. `warnings` do not change the verdict.
    `observed` is None if the module was not run. `cached` marks a verdict of an earlier run on the
    same bytes; promotion does not accept it. `network` lists the hosts that the dry run could
    reach, as `host:port`.
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
        """Return True if the module is unverified only because the machine was busy."""
        return not self.ok and all(step.ok or step.code == "BUSY" for step in self.steps)


@dataclass(frozen=True, slots=True)
class ValidatedModule:
    """Source that passed validation. Promotion accepts nothing else; only the pipeline makes it.

    Raises ValueError if the report does not accept exactly these bytes.
    """

    source: bytes
    tool: ToolSpec
    report: ValidationReport

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.source).hexdigest()
        if not (self.report.ok and self.report.verdict == "accepted"):
            raise ValueError(f"report of {self.report.path} is {self.report.verdict}, not accepted")
        # The cache lies in a file that others may write: a promotion needs a fresh run.
        if self.report.cached:
            raise ValueError(f"report of {self.report.path} is of an earlier run")
        if not digest == self.report.sha256 == self.tool.sha256:
            raise ValueError(f"report of {self.report.path} is about other bytes")


@dataclass(frozen=True, slots=True)
class Promotion:
    """A promoted version of a tool (spec §16).

    `created` is False if this name and hash were promoted before. `previous` is the version before.
    `bump` is the part of the version that was raised, `changes` say why; a first version has
    neither. `restores` is the older version with the same bytes. `kind` is the recorded kind:
    running the tool counts as this kind.
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
    """A candidate in `_tmp/` from an earlier run of the same request (spec §16).

    `status` is pending, rejected or failed. `reasons` say why it was not promoted. `edited` is True
    if the file was changed since it was made.
    """

    module: Path
    status: str
    reasons: tuple[str, ...]
    created_at: datetime
    edited: bool = False


@dataclass(frozen=True, slots=True)
class GivenPlace:
    """Folder and name that a caller gave for a new tool, and the `words` of its other options.

    The commands that follow repeat them, so that a reader can run these commands as they are.
    """

    domain: str | None = None
    action: str | None = None
    name: str | None = None
    words: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `pulsus generate` and `promote` for folder and name."""
        given = {"--domain": self.domain, "--action": self.action, "--name": self.name}
        return tuple(word for option, value in given.items() if value for word in (option, value))


@dataclass(frozen=True, slots=True)
class GenerationRound:
    """One answer of a model, with its verdict (spec §7). Number 0 is the first answer.

    `sha256` is the hash of the checked module, or None if the answer contains no module. `step` is
    the check that refused it, or None if it was accepted. `reasons` are the messages of that check.
    `changed` says how this question differed after a repeated answer.
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
    """Report on the generation of a module (spec §7).

    `generator` is "template" for a skeleton: no model is asked, and there are no rounds. `repairs`
    counts the rounds that repaired an earlier answer. `estimated` marks token counts that the
    server did not report. `stopped` is the reason why the rounds ended.

    Examples: `behaviours` counts the caller's examples that name a result, `held_back` those of
    them that the model never saw. `boundaries` are cases that no example proves, as (argument,
    value, reason). `extra_imports` are modules allowed beside those of the specification. `test` is
    the test file written beside a skeleton.
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
class Verification:
    """The verdict on one change, by the read that the contract of the write names (ADR 41).

    `tool` is the id of the verifying tool, or None if none is declared, none could be chosen, or
    the declared call can prove nothing. `reason` says why the change counts as verified or not.
    `result` is what the tool returned, or None if it did not end.
    """

    tool: str | None
    ok: bool
    reason: str
    result: JsonValue = None


InputSource = Literal["request", "option", "answer", "default", "wired"]
Proponent = Literal["words", "model"]
"""The source of a choice of words for an input: the fitted weights, or a language model."""
"""The origin of an input's value (contracts: `inputs` of `pulsus route`)."""


@dataclass(frozen=True, slots=True)
class InputValue:
    """The value of one input. `text` are the words of the request it came from, `p` how sure that
    is, 0 to 1, and `by` who gave these words to the input. The three are for the source `request`.
    A wired value is `step.output`. A proposal that is `unclear` is asked about before a run.
    `is_default` says of a value of the request that the tool would take the same one without it.
    """

    value: JsonValue
    source: InputSource
    text: str = ""
    p: float = 1.0
    by: tuple[Proponent, ...] = ()
    unclear: bool = False
    is_default: bool = False


@dataclass(frozen=True, slots=True)
class InputModelUse:
    """The use of a language model for open inputs: those asked about, and those it confirmed.

    `error` is the code and the message of a failure, or empty. After one the values are those
    that the words gave without the model.
    """

    model: str
    asked: tuple[str, ...]
    confirmed: tuple[str, ...] = ()
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True)
class RouteOutcome:
    """Everything that one route produced. Summary, JSON, explain and exit status are read from it.

    Choice: `intent`, `decision`, `candidates` and `subintents`. `tau` is the threshold, `weights`
    are the configured ones. Scores within `tie_tolerance` of the best count as equal. `widened` is
    True if the search left the parsed folder. `uncovered` are parts of the request that no chosen
    tool covers, and `repeated` are those of them that ask for a second call of the selected tool.
    `unconnected` are steps of the plan, as (step, tool id), that no result connects to the first
    step, directly or indirectly. `passages` are the docs that gave hints,
    `pending` are candidates from earlier runs of the same request.

    Inputs: `inputs` are the values by name, `missing` the required arguments without one. Values of
    the request that are not sure enough are `proposed`, and `unused` are those that no input takes.
    `left_out` are other words that restrict the answer and that nothing of the decision follows.
    `input_model` says how a language model was asked about them, or is None.

    Delivery: `given` is where the caller wants a new tool.
    `module` is the candidate file, with `validation`, `promotion` and `generation`. If
    `ran` is True, `result` is what the tool returned, and `confinement` describes the limits of
    that run. `script_exit_status` is that of the script that the tool wraps, else None.
    `verification` is None if the run changed nothing.

    End: `failure` is the error that ended the route early, although there is an outcome to show,
    for example a missing approval. `notes` are lines for the user. If `logged` is False, no log or
    trace mentions `run_id`.
    """

    run_id: str
    intent: ParsedIntent
    decision: RouteDecision
    candidates: tuple[Ranked, ...]
    tau: float
    widened: bool
    clarification: Clarification | None = None
    subintents: tuple[SubIntent, ...] = ()
    inputs: Mapping[str, InputValue] = field(default_factory=dict)
    missing: tuple[ArgSpec, ...] = ()
    proposed: Mapping[str, InputValue] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    input_model: InputModelUse | None = None
    module: Path | None = None
    validation: ValidationReport | None = None
    promotion: Promotion | None = None
    shadowed: tuple[Shadowed, ...] = ()
    result: JsonValue = None
    ran: bool = False
    confinement: Mapping[str, JsonValue] | None = None
    script_exit_status: int | None = None
    verification: Verification | None = None
    failure: PulsusError | None = None
    notes: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    tie_tolerance: float = 0.0
    uncovered: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    unconnected: tuple[tuple[str, str], ...] = ()
    passages: tuple[Passage, ...] = ()
    pending: tuple[PendingCandidate, ...] = ()
    generation: GenerationReport | None = None
    given: GivenPlace = GivenPlace()
    logged: bool = True

    @property
    def exit_status(self) -> int:
        """Return the exit status of `failure`, or 0 without a failure."""
        return self.failure.exit_status if self.failure else 0


def display_path(root: Path, path: Path) -> str:
    """Return a path as a person knows it, on one line: relative to the folder that `root` is in."""
    text = str(path.relative_to(root.parent) if path.is_relative_to(root.parent) else path)
    return text if text.isprintable() else repr(text)
