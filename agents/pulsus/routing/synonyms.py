"""Words people use → words tools use: shipped, from plugins, from the project. Reads files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from pulsus.core.rankers.query import Synonyms
from pulsus.errors import ConfigError


def shipped_synonyms() -> Synonyms:
    """The general infrastructure vocabulary that comes with Pulsus."""
    text = resources.files(__package__).joinpath("synonyms.toml").read_text("utf-8")
    return {word: tuple(meanings) for word, meanings in tomllib.loads(text).items()}


def load_synonyms(path: Path) -> Synonyms:
    """A project's synonyms; none where the file is absent.

    Raises ConfigError naming the file and the key of what is not a list of words.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as failure:
        raise ConfigError(
            f"cannot use {path}: {failure}", hint='write it as TOML: `word = ["meaning"]`'
        ) from None
    for word, meanings in data.items():
        if not isinstance(meanings, list) or not all(isinstance(m, str) for m in meanings):
            raise ConfigError(
                f"{path}: {word!r} is not a list of words", hint='write `word = ["meaning"]`'
            )
    return {word.lower(): tuple(meanings) for word, meanings in data.items()}


def merge_synonyms(layers: Sequence[Mapping[str, tuple[str, ...]]]) -> Synonyms:
    """All meanings of every word, each once, in the order of the layers."""
    merged: dict[str, dict[str, None]] = {}
    for layer in layers:
        for word, meanings in layer.items():
            merged.setdefault(word.lower(), {}).update(dict.fromkeys(meanings))
    return {word: tuple(meanings) for word, meanings in merged.items()}
