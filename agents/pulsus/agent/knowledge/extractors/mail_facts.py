"""Facts of `pulsus_pmg`, the mail gateway. Results are objects:

status      {instances [{name, host?, status?, version?}], total}
mail_stats  {instance, stats {total_in, total_out, spam_in, virus_in}}
queues      {instance, queues [{node, active, deferred, total}]}
spam        {instance, quarantine {spam, virus, total}}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulsus.agent.knowledge.extractors.fact_extractor import (
    CallArgs,
    FactExtractor,
    KeyedValue,
    count_of,
    fixed_keys,
    has_list,
    joined,
    marker_and_rows,
    named,
    number_of,
    object_of,
    rows_of,
    text_of,
)
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue


def _status(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "instances"):
        return
    instances = rows_of(data, "instances")
    rows = (
        (
            text_of(each, "name", "id"),
            joined(
                text_of(each, "status"),
                named("host", text_of(each, "host")),
                named("version", text_of(each, "version")),
            )
            or "listed",
        )
        for each in instances
    )
    yield from marker_and_rows("pmg", f"{count_of(data, instances)} instances", rows)


def _mail_stats(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    yield from _counts(
        "pmg_mail_stats",
        data,
        "stats",
        (("total_in", "in"), ("total_out", "out"), ("spam_in", "spam"), ("virus_in", "virus")),
    )


def _spam(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    names = (("total", "total"), ("spam", "spam"), ("virus", "virus"))
    yield from _counts("pmg_spam", data, "quarantine", names)


def _counts(
    marker: str, data: JsonValue, member: str, names: tuple[tuple[str, str], ...]
) -> Iterator[KeyedValue]:
    counts = object_of(data, member)
    if counts:
        numbers = ((number_of(counts, name), noun) for name, noun in names)
        shown = (f"{int(number)} {noun}" for number, noun in numbers if number is not None)
        yield f"{marker}:queried", joined(text_of(data, "instance"), *shown)


def _queues(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "queues"):
        return
    rows = rows_of(data, "queues")
    queued, deferred = (
        int(sum(number_of(row, name) or 0 for row in rows)) for name in ("total", "deferred")
    )
    value = joined(
        text_of(data, "instance"),
        counted(len(rows), "node"),
        f"{queued} queued",
        f"{deferred} deferred",
    )
    yield "pmg_queues:queried", value


EXTRACTORS: Final = {
    "status": FactExtractor(_status, fixed_keys("pmg:queried")),
    "mail_stats": FactExtractor(_mail_stats, fixed_keys("pmg_mail_stats:queried")),
    "queues": FactExtractor(_queues, fixed_keys("pmg_queues:queried")),
    "spam": FactExtractor(_spam, fixed_keys("pmg_spam:queried")),
}
