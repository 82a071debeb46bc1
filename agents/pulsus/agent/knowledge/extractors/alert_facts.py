"""Facts of `pulsus_alerts`. Results are objects:

list      {alerts [{id?, resource_name, type, severity, value, threshold, status}]}
findings  {active [{key, severity, title, resource_id?}], dismissed? [], counts {active, dismissed}}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulsus.agent.knowledge.extractors.fact_extractor import (
    CallArgs,
    FactExtractor,
    KeyedValue,
    fixed_keys,
    has_list,
    joined,
    named,
    number_of,
    object_of,
    rows_of,
    tally,
    text_of,
)
from pulsus.agent.knowledge.session_fact import fact_key
from pulsus.core.types import JsonValue


def _list(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "alerts"):
        return
    alerts = rows_of(data, "alerts")
    counted = f"{len(alerts)} alerts"
    yield "alerts:overview", joined(counted, tally(alerts, "severity", "level") if alerts else "")
    for alert in alerts:
        about = text_of(alert, "resource_name", "resource_id", "resource")
        kind = text_of(alert, "type", "kind")
        if about and kind:
            yield fact_key("alert", about, kind), _alert_value(alert)


def _alert_value(alert: Mapping[str, Any]) -> str:
    value, threshold = number_of(alert, "value"), number_of(alert, "threshold")
    return joined(
        text_of(alert, "severity", "level"),
        "" if value is None else f"value={value:.1f}",
        "" if threshold is None else f"threshold={threshold:.1f}",
        text_of(alert, "status"),
        text_of(alert, "message"),
    )


def _findings(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "active", "findings"):
        return
    active = rows_of(data, "active", "findings")
    counts = object_of(data, "counts")
    stated = number_of(counts, "active")
    gone = number_of(counts, "dismissed")
    yield (
        "findings:overview",
        joined(
            f"{len(active) if stated is None else int(stated)} active",
            "" if gone is None else f"{int(gone)} dismissed",
            tally(active, "severity") if active else "",
        ),
    )
    for finding in active:
        key = text_of(finding, "key", "id")
        if key:
            value = joined(
                text_of(finding, "severity"),
                text_of(finding, "title"),
                named("on", text_of(finding, "resource_name", "resource_id")),
            )
            yield fact_key("finding", key), value


EXTRACTORS: Final = {
    "list": FactExtractor(_list, fixed_keys("alerts:overview")),
    "findings": FactExtractor(_findings, fixed_keys("findings:overview")),
}
