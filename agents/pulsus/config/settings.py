"""Typed settings (spec §20): every threshold, weight and limit, with its default and range.

`config/pulsus.toml` lists the same keys with comments; a test keeps the two equal. Reading and
merging the layers is `config/layers.py`. `Settings` is built only in `bootstrap`; a room receives
its own section as a frozen value.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

Unit = Annotated[float, Field(ge=0.0, le=1.0)]
Seconds = Annotated[float, Field(gt=0.0, le=3600.0)]
Days = Annotated[int, Field(ge=0, le=3650)]


class Section(BaseModel):
    """A frozen group of settings; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ParserConfig(Section):
    """Words to intent (spec §3)."""

    confidence_threshold: Unit = 0.55
    max_request_chars: int = Field(default=4000, ge=1, le=100_000)
    max_options: int = Field(default=4, ge=2, le=20)


class DiscoveryConfig(Section):
    """Which files are looked at (spec §4)."""

    max_file_bytes: int = Field(default=1_000_000, ge=1)
    max_depth: int = Field(default=6, ge=1, le=50)


class RankerConfig(Section):
    """Weights and τ (spec §5). `weights` may name a plugin's feature too."""

    threshold: Unit = 0.60
    weights: dict[str, Annotated[float, Field(ge=0.0)]] = {"name": 0.4, "doc": 0.4, "history": 0.2}
    compose_slack: Unit = 0.05
    max_candidates: int = Field(default=10, ge=1, le=1000)
    history_half_life_days: float = Field(default=90.0, gt=0.0)

    @model_validator(mode="after")
    def _weights_must_weigh(self) -> RankerConfig:
        if not sum(self.weights.values()) > 0:
            raise ValueError("at least one ranking weight must be above 0")
        return self


class ComposeConfig(Section):
    """Limits of a composed plan (spec §6)."""

    max_steps: int = Field(default=8, ge=2, le=50)


class SandboxConfig(Section):
    """Caps of the dry run (spec §8, §17). There is no setting that turns the sandbox off."""

    max_seconds: Seconds = 30.0
    max_mem_mb: int = Field(default=512, ge=64)
    max_processes: int = Field(default=64, ge=4)
    max_tmp_mb: int = Field(default=64, ge=1)
    max_output_kb: int = Field(default=8, ge=1)
    max_result_kb: int = Field(default=64, ge=1, le=4096)
    network: Literal["off"] = "off"


class ValidationConfig(Section):
    """Clocks and rules of the steps (spec §8)."""

    ruff_seconds: Seconds = 5.0
    mypy_seconds: Seconds = 20.0
    import_seconds: Seconds = 3.0
    max_module_bytes: int = Field(default=200_000, ge=1)
    ruff_rules: tuple[str, ...] = ("E4", "E7", "E9", "F", "B006", "B008", "PLE")
    mypy_flags: tuple[str, ...] = ("--check-untyped-defs", "--warn-unreachable")


class TmpConfig(Section):
    """Candidates that were not promoted (spec §16)."""

    dirname: str = Field(default="_tmp", pattern=r"^[A-Za-z0-9_.-]+$")
    retention_days: Days = 7


class LogConfig(Section):
    """Traces (spec §11, §16)."""

    retention_days: Days = 30
    metrics: bool = True


class ModelConfig(Section):
    """The language model for the generator. With `base_url` empty none is configured."""

    provider: str = "openai"
    name: str = "gpt-4o-mini"
    temperature: float = Field(default=0.3, ge=0.0, le=2.0)
    base_url: str = ""
    api_key_env: str = "PULSUS_LLM_API_KEY"


class StorageConfig(Section):
    """Locks around promotion (spec §10)."""

    lock_seconds: Seconds = 30.0


class RunConfig(Section):
    """Running a promoted tool on this machine."""

    max_seconds: Seconds = 300.0


class PluginsConfig(Section):
    """Plugins found through the entry-point group `pulsus.plugins`."""

    disabled: tuple[str, ...] = ()


class Settings(BaseSettings):
    """All settings. Built from already merged layers: it reads no file or variable itself."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix="PULSUS_", env_nested_delimiter="__"
    )

    workflows_root: Path = Path("workflows")
    log_dir: Path = Path("logs")
    state_dir: Path = Path(".pulsus")
    non_interactive: bool = False
    cache_enabled: bool = True
    embeddings_enabled: bool = False
    rag_enabled: bool = False
    parser: ParserConfig = ParserConfig()
    discovery: DiscoveryConfig = DiscoveryConfig()
    ranker: RankerConfig = RankerConfig()
    compose: ComposeConfig = ComposeConfig()
    sandbox: SandboxConfig = SandboxConfig()
    validation: ValidationConfig = ValidationConfig()
    tmp: TmpConfig = TmpConfig()
    log: LogConfig = LogConfig()
    model: ModelConfig = ModelConfig()
    storage: StorageConfig = StorageConfig()
    run: RunConfig = RunConfig()
    plugins: PluginsConfig = PluginsConfig()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only the constructor's arguments: `config/layers.py` merges the other sources."""
        return (init_settings,)
