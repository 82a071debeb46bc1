"""Routing sets ranked for `fit_calibration.py`: each in its whole catalogue, in small parts of it
and with a past.

A set is a folder with `tools.jsonl` ({id, name, description, params?}) and `queries.jsonl`
({query, tools}). Effect: reads them, and keeps what was ranked where a folder is named for it.
"""

from __future__ import annotations

import hashlib
import pickle
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pulsus.config.settings import RankerConfig
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.routing.evaluation import calibration_fit
from pulsus.routing.evaluation.calibration_fit import Sample
from pulsus.routing.evaluation.dataset import GoldenRow, load_queries, load_tools
from pulsus.routing.search.past_request_store import MemoryStore, accepted_queries

CODE = Path(__file__).parent.parent / "agents/pulsus"

FEWEST = 149
MOST = 500
SMALL = 60
"""Tools of such a part."""
BATCH = 10
"""Requests that share a part."""


NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""When what is remembered was asked, and now: nothing has faded."""


@dataclass(frozen=True)
class Found:
    """One set ranked: its requests in the whole catalogue, in small parts of it, with a past."""

    whole: list[Sample]
    small: list[Sample]
    past: list[Sample]


def gather(bench: Path, cache: Path | None) -> dict[str, Found]:
    """Return the samples of every set that is large enough, in name order."""
    folders = sorted(p.parent for p in bench.glob("*/queries.jsonl"))
    return {f.name: _cached(f, cache) for f in folders if len(_rows(f)) >= FEWEST}


def _cached(folder: Path, cache: Path | None) -> Found:
    path = cache / f"{folder.name}-{_state(folder)}.pickle" if cache else None
    if path and path.is_file():
        kept: Found = pickle.loads(path.read_bytes())
        return kept
    found = Found(list(_in_whole(folder)), list(_in_small(folder)), list(_with_past(folder)))
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(found))
    return found


def _state(folder: Path) -> str:
    """Return a hash of the set and of the ranking's own code and settings."""
    parts = [
        *sorted((CODE / "core/rankers").rglob("*.py")),
        *sorted((CODE / "core/text").glob("*.py")),
        CODE / "config/settings.py",
    ]
    parts += [folder / "tools.jsonl", folder / "queries.jsonl"]
    return hashlib.sha256(b"".join(p.read_bytes() for p in parts)).hexdigest()[:16]


def _in_whole(folder: Path) -> Iterator[Sample]:
    rows, tools = _rows(folder), load_tools(folder / "tools.jsonl")
    yield from _ranked(Ranker.build(tools), rows)


def _in_small(folder: Path) -> Iterator[Sample]:
    """Yield the same requests in catalogues of `SMALL` tools, their own among others drawn at
    random.
    """
    rng = random.Random(folder.name)
    rows, tools = _rows(folder), load_tools(folder / "tools.jsonl")
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        gold = {t for row in batch for t in row.tools}
        others = [t for t in tools if t.id not in gold]
        some = rng.sample(others, max(0, min(len(others), SMALL - len(gold))))
        yield from _ranked(Ranker.build([*some, *(t for t in tools if t.id in gold)]), batch)


def _with_past(folder: Path) -> Iterator[Sample]:
    """Yield the same requests in the whole catalogue, where others of the set are remembered."""
    past = [r for r in load_queries(folder / "queries.jsonl") if r.tools][MOST:]
    if (folder / "history.jsonl").is_file():
        past += load_queries(folder / "history.jsonl")
    if len(past) < MOST:
        return
    tools = load_tools(folder / "tools.jsonl")
    recall = MemoryStore(RankerConfig().history_half_life_days, NOW)
    rows = accepted_queries([(row.query, row.tools) for row in past], NOW)
    memory = recall.of(list(rows), len(tools))
    yield from _ranked(Ranker.build(tools, memory=memory), _rows(folder))


def _rows(folder: Path) -> list[GoldenRow]:
    return [r for r in load_queries(folder / "queries.jsonl") if r.tools][:MOST]


def _ranked(index: Ranker, rows: Sequence[GoldenRow]) -> Iterator[Sample]:
    return calibration_fit.collect_samples(
        rows, lambda text, gone: index.rank(text, limit=1, without=gone)
    )
