"""Settings that ask for a part that is not built: refused, never ignored (spec §14). Pure."""

from __future__ import annotations

from collections.abc import Iterator

from pulsus.errors import NotAvailable


def require_built(*, rag: bool, embeddings: bool) -> None:
    """Raise NotAvailable naming the first setting that cannot be honoured."""
    for missing in unbuilt(rag=rag, embeddings=embeddings):
        raise missing


def unbuilt(*, rag: bool, embeddings: bool) -> Iterator[NotAvailable]:
    """One error for each setting that is on without the part that it needs."""
    if rag:
        yield _missing("rag_enabled", "hints from docs (RAG)", "leave out --rag")
    if embeddings:
        yield _missing("embeddings_enabled", "ranking by embeddings", "rank without them")


def _missing(setting: str, part: str, instead: str) -> NotAvailable:
    return NotAvailable(
        f"{setting} = true, and this version of Pulsus has no {part}",
        hint=f"{instead}: {setting} = false; `pulsus config show {setting}` says where it was set",
        setting=setting,
    )
