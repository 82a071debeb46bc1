"""Rate a tool beside the other candidates: it feeds one, or it does the same. Pure.

Only `pulsus compose-eval` uses it.
"""

from __future__ import annotations

import numpy as np

from pulsus.core.compose.tool_chains.chain_model import Matrix
from pulsus.core.compose.tool_chains.tool_evidence import ToolEvidence
from pulsus.core.compose.tool_chains.tool_signature import SignatureTable

NAMES = (
    *("evidence_logit", "evidence_p", "feeds", "feeds_by_key", "feeds_family", "fed"),
    *("fed_by_family", "fed_by_key", "better_alike", "better_in_clause", "family_p"),
    *("rank_in_clause", "rank", "feeds_times_p", "family_times_p", "rank_in_clause_times_p"),
)
"""Columns, in order; those of the evidence follow."""


def logit(p: Matrix) -> Matrix:
    """Return the logits of probabilities, between -9.2 and 9.2."""
    inside = np.clip(p, 1e-4, 1 - 1e-4)
    found: Matrix = np.log(inside / (1 - inside))
    return found


def collect_support(found: ToolEvidence, p: Matrix, table: SignatureTable) -> Matrix:
    """Return one row for each candidate. `p` is the probability by its own evidence."""
    count = len(found.tools)
    strength, key, family, alike = (np.zeros((count, count)) for _ in range(4))
    for row, consumer in enumerate(found.tools):
        for column, producer in enumerate(found.tools):
            if row != column:
                link = table.link(consumer, producer)
                strength[row, column] = link.strength
                key[row, column] = link.strength > 0 and link.by_key
                family[row, column] = link.family
                alike[row, column] = table.likeness(consumer, producer)
    as_producer = strength * p[:, None]
    as_consumer = strength * p[None, :]
    better = p[None, :] > p[:, None]
    clause = np.array(found.clause)
    same = clause[:, None] == clause[None, :]
    feeds = as_producer.max(0)
    family_p = (family * p[None, :]).max(1)
    rank_in_clause = 1 / (1 + (better & same).sum(1))
    columns: Matrix = np.column_stack(
        [
            *(logit(p), p, feeds, (as_producer * key).max(0), (as_producer * family).max(0)),
            *(as_consumer.max(1), (as_consumer * family).max(1), (as_consumer * key).max(1)),
            (alike * better * p[None, :]).max(1),
            (p[None, :] * better * same).max(1),
            *(family_p, rank_in_clause, 1 / (1 + better.sum(1))),
            *(feeds * p, family_p * p, rank_in_clause * p),
            found.columns,
        ]
    )
    return columns
