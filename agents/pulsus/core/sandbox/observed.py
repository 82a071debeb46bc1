"""What a candidate was seen trying, as the host reads it from the sandbox (spec §8, §17). Pure."""

from __future__ import annotations

from collections.abc import Iterable

from pulsus.core.sandbox.observe import MOST, outside, printable
from pulsus.core.types import Observed

KEEP_BYTES = 128 * 1024
_MORE = "(and more)"


def read(data: bytes, total: int) -> Observed:
    """What those lines report, sorted and bounded. `total` is how many bytes were sent in all.

    A line that is none of ours is dropped: it can only have come from the candidate.
    """
    found: dict[str, set[str]] = {"p": set(), "h": set(), "c": set()}
    for line in data.split(b"\n")[:-1]:
        kind, _, text = line.decode("utf-8", "backslashreplace").partition(" ")
        shown = printable(text)
        if kind in found and shown and (kind != "p" or _is_outside(shown)):
            found[kind].add(shown)
    lost = total > len(data)
    return Observed(*(_bounded(found[kind], lost=lost) for kind in "phc"))


def _is_outside(path: str) -> bool:
    return path[0] == "~" or (path[0] == "/" and bool(outside(path)))


def together(several: Iterable[Observed]) -> Observed:
    """All that was seen in any of them."""
    each = list(several)
    return Observed(
        paths=_union(o.paths for o in each),
        hosts=_union(o.hosts for o in each),
        commands=_union(o.commands for o in each),
        others=_union(o.others for o in each),
    )


def _union(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    items = {item for part in parts for item in part}
    return _bounded(items - {_MORE}, lost=_MORE in items)


def _bounded(items: set[str], *, lost: bool) -> tuple[str, ...]:
    kept = sorted(items)
    return (*kept[:MOST], _MORE) if len(kept) > MOST or lost else tuple(kept)
