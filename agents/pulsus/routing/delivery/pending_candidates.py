"""Find the candidates that earlier runs of the same request left in `_tmp/` (spec §16).

The candidates are kept in `core/storage/candidate_store.py`.

Effect: reads candidates and their notes.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from pulsus.core.storage import candidate_store
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import PendingCandidate, RouteOutcome


def pending_for_request(
    tmp_dir: Path, request: str, route_id: str, redactor: Redactor
) -> tuple[PendingCandidate, ...]:
    """Return the candidates of this request, newest first: of this route, or of the same words."""
    words = _normalise_blanks(redactor.redact(request))
    return tuple(
        PendingCandidate(c.module, c.status, c.reasons, c.created_at, is_edited(c))
        for c in candidate_store.list_candidates(tmp_dir)
        if c.route_id == route_id or _normalise_blanks(c.request) == words
    )


def drop_resolved(outcome: RouteOutcome, *, asked: bool) -> RouteOutcome:
    """Return the outcome without what was promoted meanwhile, or was just decided on (`asked`)."""
    existing = (found for found in outcome.pending if found.module.is_file())
    done = outcome.module if asked else None
    return replace(outcome, pending=tuple(found for found in existing if found.module != done))


def is_edited(candidate: candidate_store.StoredCandidate) -> bool:
    """Return True if the module was edited since Pulsus made it; False if that is unknown."""
    if candidate.sha256 is None:
        return False
    try:
        now = hashlib.sha256(candidate.module.read_bytes()).hexdigest()
    except OSError:
        return False
    return now != candidate.sha256


def _normalise_blanks(text: str) -> str:
    return " ".join(text.casefold().split())
