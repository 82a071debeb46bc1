"""Words people use → words tools use: shipped, from plugins, from the project. Reads files.

Here they are loaded. `core/rankers/lexical/query_terms.py` uses them in a search,
`routing/prompt_parser.py` for domain and action, and word forms are reduced to stems in
`core/text/tokens.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pulsus.core.rankers.lexical import query_terms
from pulsus.core.rankers.lexical.query_terms import StemmedSynonyms, Synonyms
from pulsus.core.system import cache_file
from pulsus.core.system.regular_files import endless_kind
from pulsus.core.text import tokens
from pulsus.errors import ConfigError


def shipped_synonyms() -> Synonyms:
    """Return the general infrastructure vocabulary that comes with Pulsus.

    Its lines are all of one shape, `word = ["meaning"]`, and read as that: all of TOML takes tens
    of milliseconds on every route. A test holds the two readings equal.
    """
    source = Path(__file__).with_name("synonyms.toml").read_text("utf-8")
    lines = (line.partition(" = ") for line in source.splitlines() if not line.startswith("#"))
    return {word.strip('"'): tuple(json.loads(list_)) for word, _, list_ in lines if word}


def load_synonyms(path: Path) -> Synonyms:
    """Return a project's synonyms; none where the file is absent.

    Raises ConfigError naming the file and the key of what is not a list of words.
    """
    if kind := endless_kind(path):
        raise _unusable(path, ValueError(f"it is {kind}, not a file"))
    try:
        source = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as failure:
        raise _unusable(path, failure) from None
    import tomllib  # only where there is such a file

    try:
        data = tomllib.loads(source)
    except ValueError as failure:
        raise _unusable(path, failure) from None
    for word, meanings in data.items():
        if not isinstance(meanings, list) or not all(isinstance(m, str) for m in meanings):
            raise ConfigError(
                f"{path}: {word!r} is not a list of words", hint='write `word = ["meaning"]`'
            )
    return {word.lower(): tuple(meanings) for word, meanings in data.items()}


def stem_synonyms(synonyms: Synonyms, state_dir: Path | None) -> Synonyms:
    """Return the same synonyms with their stems, which an earlier run kept where there was one.

    `state_dir` None neither reads nor writes.
    """
    if state_dir is None:
        return synonyms
    file = state_dir / "index" / "synonyms.json"
    key = cache_file.key_of(repr(sorted(synonyms.items())), code=(query_terms, tokens))
    table = cache_file.load(file, key, lambda cached: _table(cached.values))
    if table is None:
        table = query_terms.synonym_table(synonyms)
        plain = {" ".join(phrase): stems for phrase, stems in table.items()}
        cache_file.save(file, cache_file.pack(key, plain))
    return StemmedSynonyms(synonyms, table)


def _table(raw: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {tuple(phrase.split()): tuple(said) for phrase, said in raw.items()}


def _unusable(path: Path, failure: Exception) -> ConfigError:
    return ConfigError(
        f"cannot use {path}: {failure}", hint='write it as TOML: `word = ["meaning"]`'
    )


def merge_synonyms(layers: Sequence[Mapping[str, tuple[str, ...]]]) -> Synonyms:
    """Return all meanings of every word, each once, in the order of the layers."""
    merged: dict[str, dict[str, None]] = {}
    for layer in layers:
        for word, meanings in layer.items():
            merged.setdefault(word.lower(), {}).update(dict.fromkeys(meanings))
    return {word: tuple(meanings) for word, meanings in merged.items()}
