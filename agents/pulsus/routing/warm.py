"""The fitted ranking index, kept between runs (spec §13). Effect: one file in the state folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pulsus.config.settings import RankerConfig
from pulsus.core.rankers.base import Feature
from pulsus.core.rankers.query import Synonyms
from pulsus.core.rankers.scorer import RankIndex
from pulsus.core.storage import atomic
from pulsus.core.types import ToolSpec
from pulsus.errors import PulsusError

FILE_NAME = "ranking.json"


def rank_index(
    tools: Sequence[ToolSpec],
    config: RankerConfig,
    *,
    features: Sequence[Feature],
    synonyms: Synonyms,
    state_dir: Path | None,
    file_name: str = FILE_NAME,
) -> RankIndex:
    """The index of `tools`; what an earlier run fitted for the same tools is used again.

    `state_dir` None neither reads nor writes. A damaged file is fitted anew; one that cannot be
    written only costs the next run its head start.
    """
    path = state_dir / "index" / file_name if state_dir else None
    fitted = _load(path) if path else None
    index = RankIndex.build(tools, config, features=features, synonyms=synonyms, fitted=fitted)
    if path:
        _save(path, index.to_json(), fitted)
    return index


def _load(path: Path) -> Mapping[str, Any] | None:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _save(path: Path, data: dict[str, Any], known: Mapping[str, Any] | None) -> None:
    if known == data:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write_text(path, json.dumps(data, separators=(",", ":")))
    except (OSError, PulsusError):
        return  # a cache: the next run fits again
