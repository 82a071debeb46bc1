"""The state of the cluster for a prompt, within a time limit (tool calling chapter §32.3.2).

Its text is made by `kb/rag_context.py`. A timeout leaves the word `*Unavailable.*` in the prompt.

Effect: those of the port, in a thread of its own. A run goes on without the context.
"""

from __future__ import annotations

import logging
from typing import Protocol

import anyio
import anyio.to_thread

from pulsus.errors import PulsusError
from pulsus.fast_dataclass import dataclass
from pulsus.kb.rag_context import UNAVAILABLE

_log = logging.getLogger("pulsus.agent")


class ReadContext(Protocol):
    """Reads the context for one request from the knowledge base."""

    def __call__(self, request: str) -> str:
        """Return the context as Markdown; empty if the project has no facts of a cluster.

        May raise PulsusError and OSError.
        """
        ...


@dataclass(frozen=True, slots=True)
class ClusterContext:
    """The port with its time limit in seconds."""

    read: ReadContext
    seconds: float

    async def fetch(self, request: str) -> str:
        """Return the context, or `*Unavailable.*` if it fails or takes too long."""
        try:
            with anyio.move_on_after(self.seconds):
                return await anyio.to_thread.run_sync(self.read, request, abandon_on_cancel=True)
            reason = f"it took longer than {self.seconds:g} s"
        except (PulsusError, OSError) as error:
            reason = str(error)
        _log.warning("the context of the knowledge base is not available: %s", reason)
        return UNAVAILABLE


def join_contexts(*parts: str) -> str:
    """Return the parts that have text, with an empty line between them."""
    return "\n\n".join(part for part in parts if part.strip())
