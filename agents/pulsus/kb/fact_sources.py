"""Sources of facts that are read anew for each question: this machine, and plugins.

A source that raises, gives a faulty document or takes too long (timeout: `kb.source_seconds`) is
named and left out. The facts of this machine are collected in `infra/local_facts.py`, those from
results of the agent's calls in `agent/knowledge/extractors/`. If a fact is stale is decided in
`facts.py`, and told by `explanation.py`.
Effect: reads each source in a thread of its own, because a source may never answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol

from pulsus.core.types import JsonValue
from pulsus.errors import PulsusError
from pulsus.fast_dataclass import dataclass
from pulsus.kb.facts import ClusterFact, KnownNode
from pulsus.kb.facts_document import FactDefaults, parse_document, require_known_nodes

_MOST_REASON: Final = 300


class FactSource(Protocol):
    """One source of facts."""

    @property
    def name(self) -> str:
        """Return what proofs name as the origin of the facts."""
        ...

    def read(self) -> Mapping[str, JsonValue]:
        """Return a facts document, as a facts file has it. May raise anything.

        A document without `observed_at` was observed when it was read.
        """
        ...


@dataclass(frozen=True, slots=True)
class SourceFailure:
    """A source that gave no facts, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class GatheredFacts:
    """The facts of all sources that answered, and the other sources."""

    facts: tuple[ClusterFact, ...] = ()
    failures: tuple[SourceFailure, ...] = ()


def gather_facts(
    sources: Sequence[FactSource],
    known: frozenset[str],
    now: datetime,
    defaults: FactDefaults,
    seconds: float,
) -> GatheredFacts:
    """Return the facts of the sources that answer within `seconds`, all together.

    `known` are nodes that other facts know. A source whose document has a fault gives nothing.
    """
    readings = [_Reading(source) for source in sources]
    ends = time.monotonic() + seconds
    for reading in readings:
        reading.start()
    found: dict[str, tuple[ClusterFact, ...]] = {}
    failures: list[SourceFailure] = []
    for reading in readings:
        reading.join(max(ends - time.monotonic(), 0.0))
        try:
            found[reading.name] = parse_document(
                reading.document(now, seconds), reading.name, defaults
            )
        except PulsusError as error:
            failures.append(SourceFailure(reading.name, error.message))
    return _drop_dangling(found, known, failures)


def _drop_dangling(
    found: dict[str, tuple[ClusterFact, ...]], known: frozenset[str], failures: list[SourceFailure]
) -> GatheredFacts:
    """Drop each source that names a node which no remaining source knows."""
    while True:
        names = {f.name for facts in found.values() for f in facts if isinstance(f, KnownNode)}
        for name, facts in found.items():
            try:
                require_known_nodes(facts, known | names)
            except PulsusError as error:
                failures.append(SourceFailure(name, error.message))
                del found[name]
                break  # its nodes are gone, so the others are checked again
        else:
            gathered = tuple(fact for facts in found.values() for fact in facts)
            return GatheredFacts(gathered, tuple(failures))


class _SourceFault(PulsusError):
    """A source raised, or did not answer in time."""


class _Reading(threading.Thread):
    """The reading of one source. A thread that never ends does not keep Pulsus from ending."""

    def __init__(self, source: FactSource) -> None:
        super().__init__(name=f"facts of {source.name}", daemon=True)
        self.name = source.name
        self._source = source
        self._answer: Mapping[str, JsonValue] | None = None
        self._failure = ""

    def run(self) -> None:
        """Read the source, and keep its answer or its failure."""
        try:
            self._answer = self._source.read()
        except BaseException as error:  # noqa: BLE001 - third-party code; it may even call exit()
            message = _in_words(error) if isinstance(error, PulsusError) else repr(error)
            self._failure = message[:_MOST_REASON]

    def document(self, now: datetime, seconds: float) -> JsonValue:
        """Return the document with a time of observation. Raises _SourceFault."""
        if self._failure:
            raise _SourceFault(self._failure)
        if self._answer is None:
            late = self.is_alive()
            raise _SourceFault(f"it took longer than {seconds:g} s" if late else "it gave nothing")
        if not isinstance(self._answer, Mapping):
            raise _SourceFault(f"it gave {ascii(self._answer)[:60]}, and no facts document")
        return {"observed_at": now.isoformat(), **self._answer}


def _in_words(error: PulsusError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
