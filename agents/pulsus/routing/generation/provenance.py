"""Where a generated module came from, in the words of records and notes (spec §7, §10). Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from pulsus.core.compose.writing import caller_examples
from pulsus.core.types import Example, GenerationReport, JsonValue


def provenance(generation: GenerationReport, sha256: str) -> dict[str, JsonValue]:
    """Where a module came from, for its record (spec §10)."""
    last = next(
        (r for r in reversed(generation.rounds) if r.sha256 == sha256), generation.rounds[-1]
    )
    return {
        "provider": generation.provider,
        "name": generation.model,
        "prompt_hash": last.prompt_hash,
        "temperature": last.temperature,
        "seed": last.seed,
        "rounds": generation.repairs,
        "tokens": generation.prompt_tokens + generation.completion_tokens,
        "tokens_estimated": generation.estimated,
    }


def refusal_reasons(generation: GenerationReport) -> tuple[str, ...]:
    """Every reason of every round, and why there was no further one."""
    found = []
    for each in generation.rounds:
        where = f"answer {each.number + 1}, {each.step}"
        found += [f"{where}: {reason}" for reason in each.reasons]
    return (*found, *((generation.stopped,) if generation.stopped else ()))


def examples_digest(given: Sequence[Example]) -> str:
    """Names the caller's examples."""
    text = json.dumps(caller_examples.items(given), sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
