"""Find tools that ranking cannot reach, and tools that take each other's requests (`pulsus tools
check`).

Every tool is asked for in its own words, or in golden requests where there are some, and what comes
first is looked at. Pure but for the ranking it is given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from pulsus.core.text.tokens import stems, words
from pulsus.core.types import ToolSpec
from pulsus.routing.evaluation.dataset import GoldenRow, with_nearest
from pulsus.routing.maintenance.catalogue_check import CatalogueFinding
from pulsus.routing.maintenance.shared_intents import SharedIntent

MOST = 12
"""Texts a tool is asked for by: its name, its summary, then requests and intents in turn."""

_NEAR = 0.5
"""Share of a tool's requests from which another tool that takes them is nearly its duplicate."""

_EVIDENCE = 2
"""Requests of different words from which something is shown of two tools: one is chance."""

_MANY = 0.25
"""Share from which it is worth a warning: one in a dozen is what any two neighbours share."""

FirstTool = Callable[[str, str], str | None]
"""The id of the tool that comes first for a text, given the id that should; None for none."""


@dataclass(slots=True)
class ReachabilityResult:
    """The result of asking for one tool. `taken` maps another tool's id to the texts it won.

    `by_name` is True if its bare name brings it first, `by_words` if any other text does.
    """

    tool: ToolSpec
    asked: int
    by_name: bool
    by_words: bool
    taken: dict[str, list[str]] = field(default_factory=dict)


def request_texts(tool: ToolSpec) -> tuple[str, ...]:
    """Return the tool's own words as requests, each once, at most `MOST`."""
    hints = tool.manifest
    pairs = zip_longest(hints.requests, hints.intents) if hints else ()
    said = (_name_in_words(tool), tool.summary, *(t for pair in pairs for t in pair if t))
    return tuple(dict.fromkeys(text for text in said if text.strip()))[:MOST]


def unknown_tool_findings(
    rows: Iterable[GoldenRow], path: Path, known: AbstractSet[str]
) -> Iterator[CatalogueFinding]:
    """Yield each tool id of a golden file that the catalogue lacks. Its requests test nothing."""
    asked: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        for tool in row.tools:
            asked[tool].append(row.query)
    for tool in sorted(asked.keys() - known):
        yield CatalogueFinding(
            "UNKNOWN_TOOL",
            "warning",
            path,
            (),
            f"no such tool: {with_nearest(tool, known)}",
            "correct the id in the golden file, or take the request out",
            tuple(asked[tool]),
        )


def golden_texts(rows: Iterable[GoldenRow]) -> dict[str, tuple[str, ...]]:
    """Return the requests of a golden file that one tool alone must answer, by its id."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if len(row.tools) == 1 and row.policy in (None, "select"):
            found[row.tools[0]].append(row.query)
    return {tool: tuple(queries) for tool, queries in found.items()}


def probe_tools(
    tools: Iterable[ToolSpec], first: FirstTool, golden: Mapping[str, Sequence[str]]
) -> Iterator[ReachabilityResult]:
    """Yield each tool with what came first for its own texts, and for its golden requests.

    What is taken from it is told by its golden requests, where it has some.
    """
    for tool in tools:
        own = {text: first(text, tool.id) for text in request_texts(tool)}
        given = {text: first(text, tool.id) for text in golden.get(tool.id, ())}
        judged = given or own
        by_name = own.get(_name_in_words(tool)) == tool.id
        by_words = any(
            winner == tool.id
            for text, winner in {**own, **given}.items()
            if text != _name_in_words(tool)
        )
        found = ReachabilityResult(tool, len(judged), by_name, by_words)
        for text, winner in judged.items():
            if winner is not None and winner != tool.id:
                found.taken.setdefault(winner, []).append(text)
        yield found


def reachability_findings(probed: Sequence[ReachabilityResult]) -> Iterator[CatalogueFinding]:
    """Yield unreachable tools, near-duplicates, and tools that take requests of another."""
    by_id = {one.tool.id: one for one in probed}
    told: set[frozenset[str]] = set()
    for one in probed:
        if not one.by_words:
            yield _unreachable_finding(one)
        for thief, requests in sorted(one.taken.items(), key=lambda t: (-len(t[1]), t[0])):
            pair = frozenset((one.tool.id, thief))
            many = _count_distinct(requests) >= _EVIDENCE and len(requests) >= _NEAR * one.asked
            near = many or one.tool.summary in requests
            if not near:
                yield _taken_requests_finding(one, thief, requests)
            elif pair not in told:
                told.add(pair)
                yield _near_duplicate_finding(one, by_id.get(thief), thief, requests)


def intent_collisions(
    claims: Iterable[SharedIntent], first: FirstTool
) -> Iterator[CatalogueFinding]:
    """Yield intents that two manifests claim, if one tool loses a request by it.

    The request is the intent as that tool writes it. If each tool gets its own wording, there is no
    problem.
    """
    lost: dict[tuple[str, str], list[SharedIntent]] = defaultdict(list)
    for claim in claims:
        for text, owner, other in (
            (claim.phrase, claim.tool, claim.rival),
            (claim.theirs, claim.rival, claim.tool),
        ):
            if first(text, owner.id) == other.id:
                lost[owner.id, other.id].append(
                    SharedIntent(owner, other, text, claim.other(owner))
                )
                break
    for (owner_id, rival_id), found in sorted(lost.items()):
        manifest = found[0].tool.manifest
        told = [c.phrase if c.same else f"{c.phrase} = {c.theirs}" for c in found]
        more = f" and {len(told) - 3} more" if len(told) > 3 else ""
        yield CatalogueFinding(
            "INTENT_COLLISION",
            "warning",
            manifest.path if manifest else None,
            (owner_id, rival_id),
            f"{rival_id} claims the same and comes first: {', '.join(map(repr, told[:3]))}{more}",
            "leave the intent to one of them",
            tuple(told),
        )


def _unreachable_finding(one: ReachabilityResult) -> CatalogueFinding:
    """Report a tool that only its exact name finds, or no request at all."""
    winners = sorted(one.taken, key=lambda t: (-len(one.taken[t]), t))
    instead = f"; {winners[0]} comes first instead" if winners else ""
    reason = (
        "only its very name finds it, no request made of its summary or intents"
        if one.by_name
        else "no request made of its name, summary or intents finds it"
    )
    return CatalogueFinding(
        "NAME_ONLY" if one.by_name else "UNREACHABLE",
        "warning",
        one.tool.path,
        (one.tool.id, *winners[:1]),
        reason + instead,
        "give it a summary and intents that say what only it does, or merge the two",
        tuple(text for found in one.taken.values() for text in found),
    )


def _near_duplicate_finding(
    one: ReachabilityResult, other: ReachabilityResult | None, thief: str, taken: Sequence[str]
) -> CatalogueFinding:
    back = other.taken.get(one.tool.id, []) if other else []
    both = f", and gives it {len(back)} of {other.asked} of its own" if other and back else ""
    return CatalogueFinding(
        "NEAR_DUPLICATE",
        "warning",
        one.tool.path,
        (one.tool.id, thief),
        f"{thief} takes {len(taken)} of its {_count_text(one.asked)}{both}: {taken[0]!r}",
        "merge the two, or say in each summary and its intents what the other does not do",
        (*taken, *back),
    )


def _taken_requests_finding(
    one: ReachabilityResult, thief: str, taken: Sequence[str]
) -> CatalogueFinding:
    shown = _count_distinct(taken) >= _EVIDENCE
    yet = "" if shown else " (one request; not evidence yet)"
    return CatalogueFinding(
        "TAKES_REQUESTS",
        "warning" if shown and len(taken) >= _MANY * one.asked else "info",
        one.tool.path,
        (one.tool.id, thief),
        f"{thief} takes {len(taken)} of its {_count_text(one.asked)}: {taken[0]!r}{yet}",
        "add these words to its intents, or to the other tool's anti_intents",
        tuple(taken),
    )


def _count_distinct(requests: Iterable[str]) -> int:
    """Count the requests that differ in more than word forms, order and punctuation."""
    return len({tuple(sorted(set(stems(text)))) for text in requests})


def _count_text(number: int) -> str:
    return f"{number} request{'' if number == 1 else 's'}"


def _name_in_words(tool: ToolSpec) -> str:
    return " ".join(words(tool.name))
