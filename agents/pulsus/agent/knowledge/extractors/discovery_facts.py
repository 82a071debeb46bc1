"""Facts of `pulsus_discovery`. A result is an object, whatever the action:

{service_type, hostname, target_id, resource_id, ports [{port, protocol?} or number],
 config_paths? [], log_paths? [], data_paths? [], version?}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulsus.agent.knowledge.extractors.fact_extractor import (
    CallArgs,
    FactExtractor,
    KeyedValue,
    joined,
    named,
    object_of,
    resource_of,
    text_of,
)
from pulsus.agent.knowledge.session_fact import fact_key
from pulsus.core.types import JsonValue

_PORTS: Final = 10
_PATHS: Final = 3


def _keys(args: CallArgs) -> tuple[str, ...]:
    resource = resource_of(args)
    target = text_of(args, "target_id", "target_host")
    if "target_resource_id" in args or (target and not resource):
        # Our own calls name one resource: an id says its host itself.
        return (fact_key("discovery", *filter(None, (target, resource))),)
    return (fact_key("discovery", target, resource),) if target and resource else ()


def _facts(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    value = joined(
        named("service", text_of(data, "service_type")),
        named("hostname", text_of(data, "hostname")),
        _listed("ports", _ports(data)),
        _listed("config", _texts(data, "config_paths")),
        _listed("logs", _texts(data, "log_paths")),
        named("version", text_of(data, "version", "service_version")),
    )
    target, resource = text_of(data, "target_id"), text_of(data, "resource_id")
    keys = _keys(args) or ((fact_key("discovery", target, resource),) if resource else ())
    if value:
        yield from ((key, value) for key in keys)


def _ports(data: JsonValue) -> list[str]:
    ports = object_of(data).get("ports")
    rows = ports if isinstance(ports, list) else []
    found = (text_of(row, "port") or text_of({"port": row}, "port") for row in rows)
    return [port for port in found if port][:_PORTS]


def _texts(data: JsonValue, name: str) -> list[str]:
    found = object_of(data).get(name)
    rows = found if isinstance(found, list) else []
    return [each for each in rows if isinstance(each, str)][:_PATHS]


def _listed(name: str, texts: list[str]) -> str:
    return f"{name}=[{','.join(texts)}]" if texts else ""


EXTRACTORS: Final = {"": FactExtractor(_facts, _keys)}
