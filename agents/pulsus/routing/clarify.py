"""The one targeted question of spec §3, and what its answer changes. Reads no input itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pulsus.core.compose.selection.selector import Decision
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.text.tokens import clean
from pulsus.core.types import Clarification, ParsedIntent, ToolSpec
from pulsus.routing.prompt_parser import FolderGuess, ParseResult, best_intent

if TYPE_CHECKING:
    from pulsus.routing.search.searcher import SearchResult

_SUMMARY_CHARS = 80

_MEANT = "Did you mean "

SHARED = "shared"
"""The name of the shared tools' folder in a question about the domain."""


def clarifying_question(
    reading: ParseResult, *, threshold: float, max_options: int
) -> Clarification | None:
    """Return the question to ask, or None if the reading is sure and complete.

    Asks for the domain, or, where that is sure already, for the action. With nothing to go by it
    offers the catalogue's domains. None as well where the catalogue leaves no choice.
    """
    intent = reading.intent
    if intent.confidence >= threshold and intent.domain and intent.action:
        return None
    domains = _shares(reading.alternatives, part="domain")
    sure = bool(domains) and max(domains.values()) >= threshold
    if sure or len(domains) == 1:
        best = max(domains, key=lambda d: domains[d])
        inside = [g for g in reading.alternatives if (g.domain or SHARED) == best]
        return _ask("action", list(_shares(inside, part="action")), max_options)
    known = sorted({domain or SHARED for domain, _ in reading.known})
    return _ask("domain", list(domains) or known, max_options)


def resolve_answer(reading: ParseResult, asked: Clarification, answer: str | None) -> ParsedIntent:
    """Return the intent after the answer: an option's number, an option, or any known domain or
    action.

    Anything else, or no answer, leaves the best guess and its confidence as they were.
    """
    part, chosen = _chosen(reading, asked, clean(answer or ""))
    if chosen is None:
        return reading.intent
    fits = [g for g in reading.alternatives if _part(g, part) == chosen]
    if not fits:
        fits = [
            FolderGuess(domain, action, 0.0)
            for domain, action in reading.known
            if _part(FolderGuess(domain, action, 0.0), part) == chosen
        ]
    return _conditioned(reading.intent.intent, fits)


def question_between_tools(found: SearchResult, *, tau: float) -> Clarification | None:
    """Return the question which of two near-equal tools is meant; None if none is needed.

    It is asked if neither tool reaches τ, but both together do. The second must be at least a third
    as probable as the first, and neither may be at odds with the request.
    """
    if found.choice.policy != "generate" or len(found.candidates) < 2:
        return None
    first, second = found.candidates[:2]
    unsure = first.p < tau <= first.p + second.p and second.p >= first.p / 3
    if not unsure or first.caution or second.caution:
        return None
    listed = " or ".join(
        f"{r.tool.name} ({one_line(r.tool.summary, _SUMMARY_CHARS).rstrip('.')})"
        for r in (first, second)
    )
    return Clarification(f"{_MEANT}tool={listed}?", (first.tool.id, second.tool.id))


def intent_from_candidates(
    intent: ParsedIntent, found: SearchResult, *, least: float
) -> ParsedIntent | None:
    """Return the intent that what was found settles (ADR 9): in the folder of its last domain tool.

    None if any chosen tool's p is below `least`, or is at odds with the request. The confidence
    is the lowest of their p.
    """
    chosen = found.choice.chosen
    p = min((r.p for r in chosen), default=0.0)
    if p < least or p <= intent.confidence or any(r.caution for r in chosen):
        return None
    return _in_folder_of(intent, [r.tool for r in chosen], p)


def with_plan_option(
    asked: Clarification, found: SearchResult, *, max_options: int
) -> Clarification:
    """Return the question with the plan found as its first option, where there is a plan.

    A request for several things is about several folders: which of them is meant is not the doubt.
    """
    if found.choice.policy != "compose":
        return asked
    part, _, _ = asked.question.removeprefix(_MEANT).partition("=")
    steps = _steps(found)
    options = (steps, *asked.options[: max_options - 1])
    return Clarification(f"{_MEANT}steps={steps} or {part}={' or '.join(options[1:])}?", options)


def intent_of_accepted_plan(
    intent: ParsedIntent, found: SearchResult, asked: Clarification
) -> ParsedIntent | None:
    """Return the intent once the plan found is what was meant: in the folder of its last domain
    tool.

    None if the answer was another.
    """
    steps = _steps(found) if found.choice.policy == "compose" else ""
    said = clean(asked.answer or "").lower().rpartition("=")[2].strip().rstrip(".!?")
    if not steps or asked.options[0] != steps or said not in ("1", "steps", "yes", "y", steps):
        return None
    return _in_folder_of(intent, [r.tool for r in found.choice.chosen], 1.0)


def _in_folder_of(
    intent: ParsedIntent, tools: Sequence[ToolSpec], confidence: float
) -> ParsedIntent:
    last = next((t for t in reversed(tools) if t.domain), tools[-1])
    return replace(intent, domain=last.domain, action=last.action, confidence=confidence)


def _steps(found: SearchResult) -> str:
    return " then ".join(r.tool.name for r in found.choice.chosen)


def select_answered_tool(found: SearchResult, asked: Clarification) -> SearchResult:
    """Return the search with the tool of the answer selected: its number, id or name.

    Anything else leaves it as it was.
    """
    said = clean(asked.answer or "").lower().rpartition("=")[2].strip().rstrip(".!?")
    pair = found.candidates[: len(asked.options)]
    spelt = [(str(n), r.tool.id.lower(), r.tool.name.lower()) for n, r in enumerate(pair, start=1)]
    meant = [r for r, names in zip(pair, spelt, strict=True) if said in names]
    if len(meant) != 1:
        return found
    best = replace(meant[0], why_not=None)
    others = (
        replace(r, why_not=r.why_not or f"{best.tool.id} was meant")
        for r in found.candidates
        if r.tool.id != best.tool.id
    )
    ordered = tuple(replace(r, rank=n) for n, r in enumerate((best, *others), start=1))
    choice = Decision("select", (ordered[0],), f"{best.tool.id}: the answer to the question")
    return replace(found, candidates=ordered, choice=choice)


def _conditioned(text: str, fits: Sequence[FolderGuess]) -> ParsedIntent:
    """Return the best of the guesses an answer leaves, its share taken of what is left."""
    total = sum(g.share for g in fits)
    shares = [g.share / total if total else 1 / len(fits) for g in fits]
    guesses = [FolderGuess(g.domain, g.action, s) for g, s in zip(fits, shares, strict=True)]
    return best_intent(text, guesses)


def _ask(part: str, options: Sequence[str], max_options: int) -> Clarification | None:
    offered = tuple(options[:max_options])
    if len(offered) < 2:
        return None
    listed = ", ".join(offered[:-1])
    return Clarification(f"{_MEANT}{part}={listed} or {offered[-1]}?", offered)


def _shares(guesses: Sequence[FolderGuess], *, part: str) -> dict[str, float]:
    """Return the probability of each domain or action, likeliest first."""
    shares: dict[str, float] = {}
    for guess in guesses:
        name = _part(guess, part)
        shares[name] = shares.get(name, 0.0) + guess.share
    return dict(sorted(shares.items(), key=lambda item: (-round(item[1], 9), item[0])))


def _part(guess: FolderGuess, part: str) -> str:
    return guess.action if part == "action" else guess.domain or SHARED


def _chosen(reading: ParseResult, asked: Clarification, answer: str) -> tuple[str, str | None]:
    """Return which part the answer names, and its value; None if it names none."""
    said = answer.lower().rpartition("=")[2].strip().rstrip(".!?")
    domains = {domain or SHARED for domain, _ in reading.known}
    actions = {action for _, action in reading.known}
    part = "domain" if "domain=" in asked.question else "action"
    if said.isdecimal() and 1 <= int(said) <= len(asked.options):
        return part, asked.options[int(said) - 1]
    by_part = {"domain": domains, "action": actions}
    for name in (part, "action" if part == "domain" else "domain"):
        found = next((known for known in sorted(by_part[name]) if known.lower() == said), None)
        if found:
            return name, found
    return part, None
