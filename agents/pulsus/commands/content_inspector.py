"""Content inspectors: judges of languages inside words, such as SQL, redis or awk.

Answers are cached here. That a plugin cannot replace a built-in kind is checked in
`plugins/contributions.py`; a plugin that fails is handled in `plugins/plugin_failures.py`.
Interpreters (`python -c`, `perl -e`) have no inspector: their tables
(`commands/tables/python.yaml`) refuse them.

An inspector is a function from the words it is given and the table's argument (`sql:postgres`) to
an `Opinion`. More come from plugins through `pulsus_content_inspectors`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Final, Protocol

from pulsus.commands.command_verdict import Category
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Opinion:
    """The answer of an inspector: `reads` is True if the content only reads, `rule` says why.

    `word` is the part of the content that decided; without one the first word is shown. With a
    `category` it may need a terminal or not end: then it is no read, and `reads` says whether it
    would be one if it ended (`timeout N`).
    """

    reads: bool
    rule: str
    word: str = ""
    category: Category | None = None


class ContentInspector(Protocol):
    """Judges content. Pure, never raises for any text; what it does not know is no read."""

    def __call__(self, words: tuple[str, ...], argument: str) -> Opinion: ...


_BUILT_IN: Final[Mapping[str, str]] = {
    "awk": "awk.awk:awk",
    "sed": "sed:sed",
    "miller": "miller:miller",
    "jq": "jq.jq:jq",
    "yq": "jq.jq:yq",
    "cql": "sql.cql:cql",
    "cloud": "cloud:inspect",
    "http_url": "http:url",
    "http_user": "http:user",
    "influxql": "sql.cql:influxql",
    "mongo": "mongo:inspect",
    "postgres_place": "sql.client_commands:postgres",
    "ps": "ps:inspect",
    "redis": "redis:inspect",
    "redis_times": "redis:repeated",
    "sql": "sql.sql:inspect",
}
"""Kind → `module:function` below `pulsus.commands.inspectors`, imported when first met."""

_ARGUMENTS: Final[Mapping[str, frozenset[str]]] = {
    "cloud": frozenset({"aws", "az", "linode"}),
    "http_url": frozenset({"", "docker"}),
    "ps": frozenset({"", "podman"}),
    "sed": frozenset({"", "joined"}),
    "sql": frozenset(
        {"clickhouse", "cockroach", "duckdb", "mysql", "postgres", "sqlite", "tsql"},
    ),
}
"""Arguments of a kind, after the colon. A kind that is not listed takes none."""

_loaded: dict[str, ContentInspector] = {}


def inspector(kind: str) -> ContentInspector | None:
    """Return the inspector of `kind`, or None."""
    if kind not in _loaded and kind in _BUILT_IN:
        module, _, function = _BUILT_IN[kind].partition(":")
        loaded = getattr(import_module(f"pulsus.commands.inspectors.{module}"), function)
        _loaded[kind] = loaded
    return _loaded.get(kind)


class _InspectorKey:
    """An inspector that is the same as itself alone: a plugin's may have no hash."""

    def __init__(self, inspect: ContentInspector) -> None:
        self.inspect = inspect


@lru_cache(maxsize=256)
def _ask_inspector(key: _InspectorKey, words: tuple[str, ...], argument: str) -> Opinion:
    return key.inspect(words, argument)


_asked: dict[int, _InspectorKey] = {}


def opinion(inspect: ContentInspector, words: tuple[str, ...], argument: str) -> Opinion:
    """Return the opinion of `inspect` on `words`, from a cache if it was asked before."""
    known = _asked.get(id(inspect))
    if known is None or known.inspect is not inspect:
        known = _asked[id(inspect)] = _InspectorKey(inspect)
    return _ask_inspector(known, words, argument)


def is_built_in(kind: str) -> bool:
    """Return True if `kind` ships with Pulsus. A plugin cannot replace such a kind."""
    return kind in _BUILT_IN


def spellings(kind: str) -> tuple[str, ...]:
    """Return the spellings of `kind` in a table (`sql:mysql`), or nothing for a kind of a
    plugin."""
    if kind not in _BUILT_IN:
        return ()
    arguments = sorted(_ARGUMENTS.get(kind, ("",)))
    return tuple(f"{kind}:{each}" if each else kind for each in arguments)


class Unclear(Exception):
    """An inspector raises it at a `word` that does more than read, or cannot be followed.

    `rule` says why. `category` is set if the text needs a terminal or may not end.
    """

    def __init__(self, word: str, rule: str, category: Category | None = None) -> None:
        super().__init__(f"{word}: {rule}")
        self.word, self.rule, self.category = word, rule, category

    @property
    def opinion(self) -> Opinion:
        """Return the opinion that the content does not only read."""
        return Opinion(False, self.rule, self.word, self.category)
