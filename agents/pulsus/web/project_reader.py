"""The project as the pages show it, in JSON values, read again for each call. A protocol.

`cli/serve/project_views.py` implements it.
"""

from __future__ import annotations

from typing import Any, Protocol

Fields = dict[str, Any]
"""JSON values by name, as `--output json` of the command line has them."""


class ProjectReader(Protocol):
    """Reads the project for the pages. Nothing runs, and nothing is written.

    Every method may raise PulsusError: a damaged catalogue or log, a request that is not valid.
    """

    def tools(self, query: str) -> list[Fields]:
        """Return the tools whose id or summary has every word of `query`, in the order of ids."""
        ...

    def tool(self, tool_id: str) -> Fields:
        """Return one tool: contract, docstring, versions, decisions and health.

        Raises ToolNotFound.
        """
        ...

    def route(self, request: str) -> Fields:
        """Return how a request would be decided, with every number behind it."""
        ...

    def plan(self, request: str) -> Fields:
        """Return the plan for a request: `svg`, `steps`, `inputs`, `notes`, `missing`.

        Without a plan there is only `reason`.
        """
        ...

    def decisions(self, before: int | None) -> Fields:
        """Return `records` of the decision log, newest first, and `next` for older ones.

        `before` is the number of a record.
        """
        ...

    def latest_decisions(self, count: int) -> list[Fields]:
        """Return the last `count` records of the decision log, newest first."""
        ...

    def catalogue_health(self) -> Fields:
        """Return `tools`, `kinds`, `promoted`, and `faults` with `what`, `count`, `names`."""
        ...

    def cluster_state(self) -> Fields:
        """Return what the knowledge base knows now: nodes, their health, alerts."""
        ...

    def check_log(self) -> Fields:
        """Return the number of `records` of the decision log, and `damages` as texts."""
        ...
