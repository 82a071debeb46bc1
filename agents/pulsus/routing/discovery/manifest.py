"""The manifest of a tool: ranking hints beside it (spec §15). Effect: `load` reads one file.

A misspelt key costs a warning with the nearest key, and a manifest above 100,000 bytes is not read.
`routing/discovery/module_files.py` decides to which tool a manifest belongs. Two tools with the
same name are found in `routing/index/catalogue_builder.py`.

A manifest never decides what runs: signature, kind and contract come from the module alone, and a
manifest that cannot be read costs a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from pulsus.core.contract.section_names import nearest_name
from pulsus.core.system import regular_files, strict_toml, strict_yaml
from pulsus.core.types import Manifest
from pulsus.routing.index.value_codec import LoadedManifest

MAX_BYTES = 100_000
"""No list of hints a person writes is longer."""


class _ManifestSection(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    def unknown(self) -> list[str]:
        """Keys this schema does not know."""
        return sorted(self.model_extra or {})


class _ManifestArg(_ManifestSection):
    name: str
    type: str | None = None
    required: bool | None = None


class _ManifestHints(_ManifestSection):
    domain: str | None = None
    action: str | None = None
    anti_intents: list[str] = []


class _ManifestFile(_ManifestSection):
    name: str | None = None
    intents: list[str] = []
    requests: list[str] = []
    args: list[_ManifestArg] = []
    returns: list[str] = []
    hints: _ManifestHints = _ManifestHints()
    owner: str | None = None

    def all_unknown(self) -> list[str]:
        """Unknown keys of the file and its parts, as dotted names."""
        parts: Mapping[str, _ManifestSection] = {
            "hints": self.hints,
            **{f"args[{i}]": arg for i, arg in enumerate(self.args)},
        }
        return self.unknown() + [f"{at}.{k}" for at, part in parts.items() for k in part.unknown()]


def load_manifest(path: Path) -> LoadedManifest:
    """Return the manifest at `path`, by its suffix YAML or TOML. Never raises."""
    try:
        data, _ = regular_files.read_file(path, MAX_BYTES)
    except regular_files.UnreadableFile as error:
        return LoadedManifest(None, (error.reason,))
    return parse_manifest(data, path)


def parse_manifest(data: bytes, path: Path) -> LoadedManifest:
    """Return the manifest these bytes hold. Never raises; unknown keys are named and left out."""
    try:
        text = data.decode("utf-8-sig")
        raw = strict_toml.load_toml(text) if path.suffix == ".toml" else strict_yaml.load_yaml(text)
        file = _ManifestFile.model_validate(raw)
    except UnicodeDecodeError as error:
        return LoadedManifest(None, (f"not UTF-8 ({error.reason})",))
    except ValidationError as error:
        return LoadedManifest(None, (_first_problem(error),))
    except (strict_toml.TomlError, strict_yaml.YamlError, RecursionError) as error:
        return LoadedManifest(None, (" ".join(str(error).split()),))
    manifest = Manifest(
        path=path,
        name=file.name,
        intents=tuple(file.intents),
        anti_intents=tuple(file.hints.anti_intents),
        domain=file.hints.domain,
        action=file.hints.action,
        args=tuple(arg.name for arg in file.args),
        returns=tuple(file.returns),
        requests=tuple(dict.fromkeys(" ".join(r.split()) for r in file.requests if r.strip())),
        owner=" ".join(file.owner.split()) or None if file.owner else None,
    )
    return LoadedManifest(manifest, tuple(map(_describe_unknown, file.all_unknown())))


def _describe_unknown(key: str) -> str:
    """Return the warning about a key that no schema knows at its place, with the nearest key."""
    if key in _ManifestHints.model_fields and key not in _ManifestFile.model_fields:
        return f"unknown key {key!r}: write it below `hints`"
    part, _, name = key.rpartition(".")
    schema: type[_ManifestSection] = _ManifestFile
    if part:
        schema = _ManifestHints if part == "hints" else _ManifestArg
    nearest, _ = nearest_name(name, schema.model_fields)
    return f"unknown key {key!r}: the nearest is {nearest!r}"


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else "not a mapping with name, intents, args, hints"
