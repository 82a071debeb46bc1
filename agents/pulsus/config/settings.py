"""Typed settings (spec §20): every threshold, weight and limit, with its default and range.

Here are also the command patterns that are blocked by default (`policy.block`: `rm <system>`,
`mkfs*`, `reboot`), and the prices for tokens. The mark of a setting says if a project file may set
it (`config/trust/approval_marks.py`).

`config/pulsus.toml` lists the same keys with comments; a test keeps the two equal. Reading,
merging and validating the layers is `config/layers.py`, with pydantic; the values are plain, so
that a command whose settings were validated before does not import it (`config/settings_cache.py`).
`Settings` is built only in `bootstrap`; a room receives its own section as a frozen value.
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from pulsus.config.egress_hosts import is_place
from pulsus.config.notify_targets import is_mail_address, notify_target_error
from pulsus.config.policy_patterns import pattern_error
from pulsus.config.setting_types import Days, Hosts, Seconds, Section, Unit, ValueLimits
from pulsus.config.trust.approval_marks import (
    ASKS,
    ASKS_ADDED,
    ASKS_DROPPED,
    ASKS_LOOSER,
    ASKS_LOWERED,
    ASKS_OUTSIDE,
    ASKS_PROGRAM,
    ASKS_RAISED,
    ASKS_SET,
    ASKS_UNCOVERED,
    ASKS_WIDER_CONTROL,
    FREE,
)
from pulsus.config.trust.signers import signer_error
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True)
class ParserConfig(Section):
    """Words to intent (spec §3)."""

    confidence_threshold: Annotated[Unit, ASKS_LOWERED] = 0.55
    settled_at: Annotated[Unit, ASKS_LOWERED] = 0.90
    max_request_chars: Annotated[int, ValueLimits(ge=1, le=100_000), ASKS_RAISED] = 4000
    max_options: Annotated[int, ValueLimits(ge=2, le=20), FREE] = 4


@dataclass(frozen=True)
class DiscoveryConfig(Section):
    """Limits of the files that discovery reads (spec §4)."""

    max_file_bytes: Annotated[int, ValueLimits(ge=1), ASKS_RAISED] = 1_000_000
    max_depth: Annotated[int, ValueLimits(ge=1, le=50), ASKS_RAISED] = 6


@dataclass(frozen=True)
class RankerConfig(Section):
    """Engine, weights and τ (spec §5). `weights` may name a plugin's feature too."""

    engine: Annotated[Literal["lexical", "spec"], FREE] = "lexical"
    threshold: Annotated[Unit, ASKS_LOWERED] = 0.60
    weights: Annotated[dict[str, Annotated[float, ValueLimits(ge=0.0)]], FREE] = field(
        default_factory=lambda: {"name": 0.4, "doc": 0.4, "history": 0.2}
    )
    compose_slack: Annotated[Unit, ASKS_RAISED] = 0.05
    max_candidates: Annotated[int, ValueLimits(ge=1, le=1000), FREE] = 10
    history_half_life_days: Annotated[float, ValueLimits(gt=0.0), FREE] = 90.0
    tie_tolerance: Annotated[Unit, FREE] = 0.01

    def __post_init__(self) -> None:
        if not sum(self.weights.values()) > 0:
            raise ValueError("at least one ranking weight must be above 0")


@dataclass(frozen=True)
class AccessConfig(Section):
    """Filters of the tools that a request may be routed to, before anything is ranked. `deny`
    wins.
    """

    allow: Annotated[tuple[str, ...], ASKS_ADDED] = ("*",)
    deny: Annotated[tuple[str, ...], ASKS_DROPPED] = ()
    kinds: Annotated[tuple[Literal["resolve", "read", "write"], ...], ASKS_ADDED] = (
        "resolve",
        "read",
        "write",
    )

    def __post_init__(self) -> None:
        if not self.kinds:
            raise ValueError("access.kinds must name at least one of resolve, read and write")


@dataclass(frozen=True)
class PolicyConfig(Section):
    """Rules for shell commands in requests (docs/command-safety.md, Policy).

    Patterns of commands: a program, then words of the call in that order. block wins over
    require_approval, that over allow; what no pattern names needs approval. `@default` stands for
    the patterns that ship. `target_…` adds patterns for targets by name (`*` and `?` as in file
    names). `egress` says which places a read may connect to, `egress_hosts` adds some; `high_cost`
    says what is done with an expensive read, and the seconds are the limits of its cost.
    """

    allow: Annotated[tuple[str, ...], ASKS_ADDED] = ("@read",)
    require_approval: Annotated[tuple[str, ...], FREE] = ()
    block: Annotated[tuple[str, ...], ASKS_DROPPED] = (
        *("@secret", "@disk", "@shell-from-network", "shutdown", "reboot", "poweroff", "halt"),
        *("init 0", "init 6", "telinit 0", "telinit 6", "systemctl poweroff", "systemctl reboot"),
        *("systemctl halt", "systemctl kexec", "systemctl emergency", "systemctl rescue"),
        *("systemctl soft-reboot", "systemctl reboot.target", "systemctl poweroff.target"),
        *("loginctl reboot", "loginctl poweroff", "loginctl halt", "kexec", "mkfs*", "mke2fs"),
        *("wipefs", "shred", "dd of=/dev/*", "rm <system>", "mv <system>", "chmod <system>"),
        *("chown <system>", "find / -delete"),
    )
    target_allow: Annotated[dict[str, tuple[str, ...]], ASKS] = field(default_factory=dict)
    target_require_approval: Annotated[dict[str, tuple[str, ...]], FREE] = field(
        default_factory=dict
    )
    target_block: Annotated[dict[str, tuple[str, ...]], FREE] = field(default_factory=dict)
    egress: Annotated[Literal["allow", "known", "approve", "block"], ASKS_LOOSER] = "known"
    egress_hosts: Annotated[tuple[str, ...], ASKS_SET] = ()
    high_cost: Annotated[Literal["allow", "approve", "block"], ASKS_LOOSER] = "allow"
    low_seconds: Annotated[Seconds, ASKS_RAISED] = 30.0
    high_seconds: Annotated[float, ValueLimits(gt=0.0, le=86_400.0), ASKS_RAISED] = 600.0

    def __post_init__(self) -> None:
        for name in ("allow", "require_approval", "block"):
            everywhere = getattr(self, name)
            lists = (everywhere, *getattr(self, f"target_{name}").values())
            for patterns, pattern in ((each, one) for each in lists for one in each):
                replaces = name == "block" and patterns is everywhere
                wrong = pattern_error(pattern, everywhere if replaces else ())
                if wrong:
                    raise ValueError(f"policy.{name}: {pattern!r} can never match: {wrong}")
        for entry in self.egress_hosts:
            if not is_place(entry):
                raise ValueError(
                    f"policy.egress_hosts: {entry!r} names no place: write a host, host:port, "
                    "*.example.org or a network such as 10.0.0.0/8"
                )
        if self.low_seconds > self.high_seconds:
            raise ValueError("policy.low_seconds is above policy.high_seconds: lower it")


@dataclass(frozen=True)
class ComposeConfig(Section):
    """Limits of a composed plan (spec §6)."""

    max_steps: Annotated[int, ValueLimits(ge=2, le=50), ASKS_RAISED] = 8


@dataclass(frozen=True)
class SandboxConfig(Section):
    """Caps of the dry run (spec §8, §17). There is no setting that turns the sandbox off.

    `network` is "off" or the hosts that every dry run may reach, `tool_network` those that the dry
    run of a tool may, by id: `host:port` each.
    """

    max_seconds: Annotated[Seconds, ASKS_RAISED] = 30.0
    max_mem_mb: Annotated[int, ValueLimits(ge=64), ASKS_RAISED] = 512
    max_processes: Annotated[int, ValueLimits(ge=4), ASKS_RAISED] = 64
    max_tmp_mb: Annotated[int, ValueLimits(ge=1), ASKS_RAISED] = 64
    max_output_kb: Annotated[int, ValueLimits(ge=1), ASKS_RAISED] = 8
    max_result_kb: Annotated[int, ValueLimits(ge=1, le=4096), ASKS_RAISED] = 64
    max_network_mb: Annotated[int, ValueLimits(ge=1), ASKS_RAISED] = 16
    network: Annotated[str | tuple[str, ...], Hosts(off=True), ASKS_SET] = "off"
    tool_network: Annotated[dict[str, Annotated[tuple[str, ...], Hosts()]], ASKS] = field(
        default_factory=dict
    )


@dataclass(frozen=True)
class ValidationConfig(Section):
    """Clocks and rules of the steps (spec §8). ruff and mypy are limited by processor time.

    `wait_seconds` is how long a module waits while other validations take every core.
    """

    ruff_seconds: Annotated[Seconds, ASKS_RAISED] = 5.0
    mypy_seconds: Annotated[Seconds, ASKS_RAISED] = 20.0
    import_seconds: Annotated[Seconds, ASKS_RAISED] = 3.0
    wait_seconds: Annotated[Seconds, ASKS_RAISED] = 600.0
    max_module_bytes: Annotated[int, ValueLimits(ge=1), ASKS_RAISED] = 200_000
    ruff_rules: Annotated[tuple[str, ...], ASKS_UNCOVERED] = (
        *("E4", "E7", "E9", "F", "B006", "B008", "PLE"),
    )
    mypy_flags: Annotated[tuple[str, ...], ASKS] = ("--check-untyped-defs", "--warn-unreachable")


@dataclass(frozen=True)
class TmpConfig(Section):
    """Candidates that were not promoted (spec §16)."""

    dirname: Annotated[str, ValueLimits(pattern=r"^[A-Za-z0-9_.-]+$"), ASKS] = "_tmp"
    retention_days: Annotated[Days, FREE] = 7


@dataclass(frozen=True)
class LogConfig(Section):
    """Traces (spec §11, §16)."""

    retention_days: Annotated[Days, FREE] = 30
    metrics: Annotated[bool, FREE] = True


@dataclass(frozen=True)
class ModelConfig(Section):
    """The language model for the generator. With `base_url` empty none is configured.

    With `inputs` it is also asked about inputs that the words of a request leave open.
    """

    provider: Annotated[str, ASKS] = "openai"
    name: Annotated[str, FREE] = "gpt-4o-mini"
    temperature: Annotated[float, ValueLimits(ge=0.0, le=2.0), FREE] = 0.3
    base_url: Annotated[str, ASKS] = ""
    api_key_env: Annotated[str, ASKS] = "PULSUS_LLM_API_KEY"
    key_hosts: Annotated[tuple[str, ...], ASKS_SET] = ()
    allow_plain_http: Annotated[bool, ASKS_RAISED] = False
    connect_seconds: Annotated[Seconds, ASKS_RAISED] = 10.0
    read_seconds: Annotated[Seconds, ASKS_RAISED] = 300.0
    total_seconds: Annotated[Seconds, ASKS_RAISED] = 900.0
    retries: Annotated[int, ValueLimits(ge=0, le=10), ASKS_RAISED] = 3
    max_answer_tokens: Annotated[int, ValueLimits(ge=1), ASKS_RAISED] = 4096
    max_answer_kb: Annotated[int, ValueLimits(ge=1, le=65_536), ASKS_RAISED] = 512
    max_tokens_per_run: Annotated[int, ValueLimits(ge=1), ASKS_RAISED] = 200_000
    price_per_1k_prompt: Annotated[float, ValueLimits(ge=0.0), ASKS] = 0.0
    price_per_1k_answer: Annotated[float, ValueLimits(ge=0.0), ASKS] = 0.0
    budget: Annotated[float, ValueLimits(ge=0.0), FREE] = 0.0
    inputs: Annotated[bool, FREE] = True
    input_seconds: Annotated[Seconds, ASKS_RAISED] = 30.0

    def __post_init__(self) -> None:
        if self.budget and not (self.price_per_1k_prompt or self.price_per_1k_answer):
            raise ValueError("model.budget needs model.price_per_1k_prompt or _answer")


@dataclass(frozen=True)
class GeneratorConfig(Section):
    """Limits and options of code generation by a model (spec §7)."""

    allowed_imports: Annotated[tuple[str, ...], ASKS_ADDED] = (
        *("typing", "dataclasses", "pathlib", "json", "csv", "math", "statistics", "re"),
        *("datetime", "collections", "itertools", "functools", "random"),
    )
    extra_imports: Annotated[tuple[str, ...], ASKS_SET] = ()
    allow_writes: Annotated[bool, ASKS_RAISED] = False
    rounds: Annotated[int, ValueLimits(ge=0, le=10), ASKS_RAISED] = 2
    seed: Annotated[int, ValueLimits(ge=0), FREE] = 1
    neighbours: Annotated[int, ValueLimits(ge=0, le=10), ASKS_RAISED] = 2
    neighbour_chars: Annotated[int, ValueLimits(ge=0, le=50_000), ASKS_RAISED] = 3000


@dataclass(frozen=True)
class StorageConfig(Section):
    """Locks around promotion (spec §10)."""

    lock_seconds: Annotated[Seconds, ASKS_RAISED] = 30.0


@dataclass(frozen=True)
class AuditConfig(Section):
    """The decision log (spec §10, §16).

    Records whose commit carries a good signature of a key in `trusted_signers` are accepted.
    """

    seal_days: Annotated[Days, FREE] = 30
    trusted_signers: Annotated[tuple[str, ...], ASKS_ADDED] = ()

    def __post_init__(self) -> None:
        for signer in self.trusted_signers:
            wrong = signer_error(signer)
            if wrong:
                raise ValueError(f"audit.trusted_signers: {signer!r} names no key: {wrong}")


@dataclass(frozen=True)
class RunConfig(Section):
    """Running a promoted tool on this machine, and what it may use meanwhile."""

    max_seconds: Annotated[Seconds, ASKS_RAISED] = 300.0
    max_mem_mb: Annotated[int, ValueLimits(ge=64, le=1_048_576), ASKS_RAISED] = 2048
    max_processes: Annotated[int, ValueLimits(ge=1, le=32_768), ASKS_RAISED] = 256
    max_files: Annotated[int, ValueLimits(ge=32, le=1_048_576), ASKS_RAISED] = 4096


@dataclass(frozen=True)
class PlansConfig(Section):
    """Running a plan: reads at the same time, how long an approval is waited for, and how long
    the record of an ended run is kept.
    """

    max_parallel: Annotated[int, ValueLimits(ge=1, le=64), ASKS_RAISED] = 4
    approval_hours: Annotated[float, ValueLimits(gt=0.0, le=8760.0), ASKS_RAISED] = 24.0
    retention_days: Annotated[Days, FREE] = 90


@dataclass(frozen=True)
class AgentConfig(Section):
    """The agent: what it may do, how long it runs, and what it remembers.

    With `json_max_turns` answers are one JSON object each, with `max_turns` the model calls tools
    natively (tool calling chapter §32.3; assistant deep dive §1 to §14).
    """

    control_level: Annotated[
        Literal["read_only", "controlled", "autonomous"], ASKS_WIDER_CONTROL
    ] = "read_only"
    strict_resolution: Annotated[bool, ASKS_LOWERED] = True
    protocol: Annotated[Literal["json", "native"], FREE] = "json"
    max_turns: Annotated[int, ValueLimits(ge=2, le=1000), ASKS_RAISED] = 20
    json_max_turns: Annotated[int, ValueLimits(ge=2, le=1000), ASKS_RAISED] = 5
    run_seconds: Annotated[Seconds, ASKS_RAISED] = 300.0
    temperature: Annotated[float, ValueLimits(ge=0.0, le=2.0), FREE] = 0.1
    max_answer_tokens: Annotated[int, ValueLimits(ge=16), ASKS_RAISED] = 400
    context_tokens: Annotated[int, ValueLimits(ge=1024), FREE] = 8192
    breaker_failures: Annotated[int, ValueLimits(ge=1, le=1000), FREE] = 3
    breaker_seconds: Annotated[Seconds, FREE] = 60.0
    parallel_reads: Annotated[int, ValueLimits(ge=1, le=64), ASKS_RAISED] = 4
    context_ttl_minutes: Annotated[float, ValueLimits(gt=0.0, le=1440.0), ASKS_RAISED] = 45.0
    context_max_resources: Annotated[int, ValueLimits(ge=1, le=100_000), ASKS_RAISED] = 500
    max_facts: Annotated[int, ValueLimits(ge=1, le=10_000), FREE] = 60
    max_fact_chars: Annotated[int, ValueLimits(ge=200, le=1_000_000), FREE] = 2000
    max_fact_value: Annotated[int, ValueLimits(ge=20, le=10_000), FREE] = 200
    max_turn_calls: Annotated[int, ValueLimits(ge=1, le=6), FREE] = 6
    max_identical_calls: Annotated[int, ValueLimits(ge=1, le=100), ASKS_RAISED] = 3
    max_error_turns: Annotated[int, ValueLimits(ge=1, le=100), ASKS_RAISED] = 3
    compaction_keep_turns: Annotated[int, ValueLimits(ge=1, le=100), FREE] = 2
    compaction_min_chars: Annotated[int, ValueLimits(ge=50), FREE] = 300
    wrap_up_after: Annotated[int, ValueLimits(ge=1), FREE] = 12
    wrap_up_escalate_after: Annotated[int, ValueLimits(ge=1), FREE] = 18
    approval_minutes: Annotated[float, ValueLimits(gt=0.0, le=1440.0), ASKS_RAISED] = 5.0
    grant_minutes: Annotated[float, ValueLimits(ge=0.0, le=60.0), FREE] = 60.0


@dataclass(frozen=True)
class KnowledgeConfig(Section):
    """The knowledge base (tool calling chapter, §32.1.2). `files` lie below the project."""

    files: Annotated[tuple[str, ...], FREE] = ()
    local_metrics: Annotated[bool, FREE] = True
    use_degraded: Annotated[bool, ASKS_RAISED] = False
    use_racks: Annotated[bool, ASKS_LOWERED] = True
    alert_seconds: Annotated[float, ValueLimits(gt=0.0, le=86_400.0), FREE] = 300.0
    live_ttl_seconds: Annotated[float, ValueLimits(gt=0.0, le=86_400.0), ASKS_RAISED] = 300.0
    inventory_ttl_seconds: Annotated[float, ValueLimits(gt=0.0, le=31_536_000.0), ASKS_RAISED] = (
        86_400.0
    )
    max_answers: Annotated[int, ValueLimits(ge=1, le=100_000), FREE] = 1000
    query_seconds: Annotated[Seconds, ASKS_RAISED] = 5.0
    context_seconds: Annotated[Seconds, ASKS_RAISED] = 3.0
    source_seconds: Annotated[Seconds, ASKS_RAISED] = 3.0


@dataclass(frozen=True)
class MigrationsConfig(Section):
    """Migrations that a person approved at the server (tool calling chapter §32.4).

    `network` is the CIDR that VMs move through; empty: that of the cluster.
    """

    executor: Annotated[Literal["dry-run", "proxmox"], ASKS] = "dry-run"
    network: Annotated[str, ASKS] = ""
    stop_on_failure: Annotated[bool, ASKS_LOWERED] = True
    approval_minutes: Annotated[float, ValueLimits(gt=0.0, le=1440.0), ASKS_RAISED] = 10.0

    def __post_init__(self) -> None:
        if self.network:
            from ipaddress import ip_network  # few projects set it

            try:
                ip_network(self.network)
            except ValueError as wrong:
                raise ValueError(f"migrations.network is no CIDR: {wrong}") from None


@dataclass(frozen=True)
class ApprovalsConfig(Section):
    """Requests of promotions and plans, and notices of cards that wait (docs/serve.md).

    `notify` has web addresses, `command:PROGRAM ARGUMENTS` and `mailto:NAME@HOST`.
    """

    request_minutes: Annotated[float, ValueLimits(gt=0.0, le=1440.0), ASKS_RAISED] = 10.0
    notify: Annotated[tuple[str, ...], ASKS_SET] = ()
    notify_seconds: Annotated[float, ValueLimits(gt=0.0, le=60.0), FREE] = 10.0
    mail_server: Annotated[str, ASKS] = "localhost:25"
    mail_sender: Annotated[str, FREE] = "pulsus@localhost"

    def __post_init__(self) -> None:
        for target in self.notify:
            wrong = notify_target_error(target)
            if wrong:
                raise ValueError(f"approvals.notify: {wrong}")
        host, _, port = self.mail_server.rpartition(":")
        if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
            raise ValueError(
                f"approvals.mail_server: {self.mail_server!r} is not like localhost:25"
            )
        if not is_mail_address(self.mail_sender):
            raise ValueError(f"approvals.mail_sender: {self.mail_sender!r} is no mail address")


@dataclass(frozen=True)
class ServeConfig(Section):
    """The address of `pulsus serve`. The agent never connects to it (contracts, Commands)."""

    port: Annotated[int, ValueLimits(ge=1, le=65535), ASKS] = 8765


@dataclass(frozen=True)
class ToolsConfig(Section):
    """The Python for tools. If `python` is empty, it is the Python that runs Pulsus."""

    python: Annotated[str, ASKS_PROGRAM] = ""


@dataclass(frozen=True)
class PluginsConfig(Section):
    """Plugins found through the entry-point group `pulsus.plugins`."""

    disabled: Annotated[tuple[str, ...], ASKS_SET] = ()


@dataclass(frozen=True)
class Settings(Section):
    """All settings. Built from already merged layers: it reads no file or variable itself."""

    workflows_root: Annotated[Path, ASKS_OUTSIDE] = Path("workflows")
    log_dir: Annotated[Path, ASKS] = Path("logs")
    state_dir: Annotated[Path, ASKS] = Path(".pulsus")
    non_interactive: Annotated[bool, ASKS_RAISED] = False
    cache_enabled: Annotated[bool, FREE] = True
    embeddings_enabled: Annotated[bool, FREE] = False
    rag_enabled: Annotated[bool, FREE] = False
    parser: ParserConfig = ParserConfig()
    discovery: DiscoveryConfig = DiscoveryConfig()
    ranker: RankerConfig = RankerConfig()
    access: AccessConfig = AccessConfig()
    policy: PolicyConfig = PolicyConfig()
    compose: ComposeConfig = ComposeConfig()
    sandbox: SandboxConfig = SandboxConfig()
    validation: ValidationConfig = ValidationConfig()
    tmp: TmpConfig = TmpConfig()
    log: LogConfig = LogConfig()
    model: ModelConfig = ModelConfig()
    generator: GeneratorConfig = GeneratorConfig()
    storage: StorageConfig = StorageConfig()
    audit: AuditConfig = AuditConfig()
    run: RunConfig = RunConfig()
    plans: PlansConfig = PlansConfig()
    agent: AgentConfig = AgentConfig()
    kb: KnowledgeConfig = KnowledgeConfig()
    migrations: MigrationsConfig = MigrationsConfig()
    approvals: ApprovalsConfig = ApprovalsConfig()
    serve: ServeConfig = ServeConfig()
    tools: ToolsConfig = ToolsConfig()
    plugins: PluginsConfig = PluginsConfig()
