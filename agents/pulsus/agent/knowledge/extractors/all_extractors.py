"""The table of extractors, by tool and action. A tool that is missing gives no facts.

`agent/knowledge/knowledge_extractor.py` calls them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pulsus.agent.knowledge.extractors import (
    alert_facts,
    discovery_facts,
    docker_facts,
    kubernetes_facts,
    mail_facts,
    metrics_facts,
    query_facts,
    read_facts,
    storage_facts,
)
from pulsus.agent.knowledge.extractors.fact_extractor import CallArgs, FactExtractor, text_of

EXTRACTORS: Final[Mapping[str, Mapping[str, FactExtractor]]] = {
    "pulsus_alerts": alert_facts.EXTRACTORS,
    "pulsus_discovery": discovery_facts.EXTRACTORS,
    "pulsus_docker": docker_facts.EXTRACTORS,
    "pulsus_kubernetes": kubernetes_facts.EXTRACTORS,
    "pulsus_metrics": metrics_facts.EXTRACTORS,
    "pulsus_pmg": mail_facts.EXTRACTORS,
    "pulsus_query": query_facts.EXTRACTORS,
    "pulsus_read": read_facts.EXTRACTORS,
    "pulsus_storage": storage_facts.EXTRACTORS,
}


def find_extractor(tool: str, args: CallArgs) -> FactExtractor | None:
    """Return the extractor of a call, or None. The action is the argument `action` or `type`.

    The extractor under "" is that of a call without an action, and of a tool with one shape only.
    """
    actions = EXTRACTORS.get(tool, {})
    action = text_of(args, "action", "type")
    if list(actions) == [""]:
        action = ""
    return actions.get(action)
