"""Clarification: when a request is in doubt, the one targeted question of spec §3, and what its
answer decides. Reads no input.

The question names the nearest tools, because a person knows what a tool does better than the folder
in which it lies. If no tool may be meant, it asks for the area instead. A request is ambiguous if
no tool reaches the threshold τ although one is near, or if two are about equally likely. Without a
person, `approvals/unattended.py` refuses a low confidence. An intent is unclear below
`parser.confidence_threshold`. The action that a request means is found in
`routing/prompt_parser.py`.

The question is asked by `routing/search_and_clarify.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pulsus.core.compose.selection.choose_policy import CLEAR_MARGIN, PolicyChoice, by_p
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.text.tokens import clean
from pulsus.core.types import Clarification, ParsedIntent, Ranked, ToolSpec
from pulsus.routing.prompt_parser import FolderGuess, ParseResult, best_intent

if TYPE_CHECKING:
    from pulsus.routing.search.search_result import SearchResult

Place = tuple[str | None, str]
"""Domain (None = shared) and action."""

SearchInside = Callable[[ParsedIntent, Sequence[Place]], "SearchResult"]
"""Search only the tools of these folders (`Searcher.search_inside`)."""

SHARED = "shared"
"""The name of the shared tools' folder in a question about the area."""

LEAST_OFFERED = 0.005
"""A tool with a smaller p (shown as 0.00) is no likely answer, so no question offers it."""
WHICH_TOOL = "Which tool do you mean?"
WHICH_AREA = "No tool fits these words. In which area shall Pulsus look?"

WRITES = "[writes]"
"""The mark of a tool that may write, in every list of choices."""

_NONE = frozenset({"0", "none", "none of these", "neither", "n", "no"})
"""Answers that select nothing, even if a name begins so: a no must never run a tool."""
_CONSENT = frozenset({"y", "yes"})
"""Answers to another kind of question. They are no beginning of a name."""

_Meaning = Literal["none", "steps"] | Ranked | tuple[Place, ...]
_SUMMARY_CHARS = 80
_LEAST_P = 0.05
"""Below this p a tool is so far from the request that it is no sensible choice on its own."""


def is_unclear(intent: ParsedIntent, threshold: float) -> bool:
    """Return True if the parser is not sure of the folder, or does not know all of it (spec §3)."""
    return not (intent.confidence >= threshold and intent.domain and intent.action)


def is_doubtful(found: SearchResult, *, tau: float) -> bool:
    """Return True if the tools found leave a choice that a person can make better than p.

    Either no tool reaches τ although one is near, or two tools reach it with about the same p.
    """
    if not found.candidates or found.candidates[0].caution:
        return False
    first = found.candidates[0]
    if found.choice.policy == "generate":
        return first.p >= _LEAST_P
    if found.choice.policy != "select" or len(found.candidates) < 2:
        return False
    second = found.candidates[1]
    return (
        not second.caution
        and not first.signals.get("named")
        and second.p >= tau
        and first.p - second.p <= CLEAR_MARGIN
    )


def clarifying_question(
    reading: ParseResult, found: SearchResult, *, max_options: int
) -> Clarification | None:
    """Return the question: the plan found, then the nearest tools. None if there is no choice.

    The default is what was found. If nothing was found, it is the nearest tool, but only if that is
    at least as likely as no tool at all.
    """
    choices = _plan_choice(found) + _tool_choices(found)
    if not choices:
        return _area_question(reading, max_options)
    options, labels = zip(*choices[:max_options], strict=True)
    missing = 1.0 - sum(r.p for r in found.candidates)
    likely = found.choice.policy != "generate" or by_p(found.candidates)[0].p >= missing
    return Clarification(WHICH_TOOL, options, labels=labels, default=options[0] if likely else None)


def describe_choice(tool: ToolSpec, most: int) -> str:
    """Return the summary of a tool in a list of choices, cut to `most` characters.

    A tool that may write has a mark before it, because a person has to know that before the choice.
    """
    summary = one_line(tool.summary, most)
    return f"{WRITES} {summary}" if tool.kind == "write" else summary


def apply_answer(
    reading: ParseResult, found: SearchResult, asked: Clarification, inside: SearchInside
) -> tuple[ParsedIntent, SearchResult]:
    """Return intent and search as the answer decides them.

    An answer is the number or name of an option, "none of these", the name of another candidate,
    any domain or action of the catalogue, or the beginning of exactly one option. An empty answer
    means the default. Anything else, or no answer, leaves the best guess and its confidence as
    they were.
    """
    intent = reading.intent
    match _find_meaning(reading, found, asked):
        case Ranked() as meant:
            return _in_folder_of(intent, [meant.tool], 1.0), _select_tool(found, meant)
        case "steps":
            return _in_folder_of(intent, [r.tool for r in found.choice.chosen], 1.0), found
        case "none" if asked.question == WHICH_TOOL:
            return intent, _select_none(found, asked)
        case tuple() as places:
            answered = _most_likely_place(reading, places)
            after = inside(answered, places)
            chosen = [r.tool for r in after.choice.chosen]
            told = _in_folder_of(answered, chosen, answered.confidence) if chosen else answered
            return told, after
        case _:
            return intent, found


def is_understood(reading: ParseResult, found: SearchResult, asked: Clarification) -> bool:
    """True if the answer is a choice, 'none', or missing."""
    return asked.answer is None or _find_meaning(reading, found, asked) is not None


def _find_meaning(
    reading: ParseResult, found: SearchResult, asked: Clarification
) -> _Meaning | None:
    if asked.answer is None:
        return None
    said = _normalised(asked.answer) or (asked.default or "0").lower()
    if said.isdecimal() and 1 <= int(said) <= len(asked.options):
        said = asked.options[int(said) - 1].lower()
    if said in _NONE:
        return "none"
    if asked.question == WHICH_TOOL:
        if found.choice.policy == "compose" and said in (_steps(found).lower(), "steps", "yes"):
            return "steps"
        meant = [r for r in found.candidates if said in (r.tool.id.lower(), r.tool.name.lower())]
        if len(meant) == 1:
            return meant[0]
    if places := _places_called(reading, said):
        return tuple(places)
    begun = [each for each in asked.options if said not in _CONSENT and _begins(each.lower(), said)]
    if len(begun) == 1 and begun[0].lower() != said:
        return _find_meaning(reading, found, replace(asked, answer=begun[0]))
    return None


def _begins(option: str, said: str) -> bool:
    """Return True if the option's id, or the name in it, begins with what was said."""
    return option.startswith(said) or option.rpartition("/")[2].startswith(said)


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


def _tool_choices(found: SearchResult) -> list[tuple[str, str]]:
    """Return id and description of the candidates that may be meant, nearest first."""
    nothing = found.choice.policy == "generate"
    return [
        (r.tool.id, describe_choice(r.tool, _SUMMARY_CHARS))
        for r in (by_p(found.candidates) if nothing else found.candidates)
        if not r.caution and r.p >= LEAST_OFFERED
    ]


def _plan_choice(found: SearchResult) -> list[tuple[str, str]]:
    if found.choice.policy != "compose":
        return []
    writes = any(r.tool.kind == "write" for r in found.choice.chosen)
    steps = f"these {len(found.choice.chosen)} steps, one after the other"
    return [(_steps(found), f"{WRITES} {steps}" if writes else steps)]


def _steps(found: SearchResult) -> str:
    return " then ".join(r.tool.name for r in found.choice.chosen)


def _area_question(reading: ParseResult, max_options: int) -> Clarification | None:
    """Return the question for the area, the likeliest first; None if there is only one."""
    guessed = dict.fromkeys(g.domain or SHARED for g in reading.alternatives)
    actions: dict[str, list[str]] = {}
    for domain, action in reading.known:
        actions.setdefault(domain or SHARED, []).append(action)
    areas = [*guessed, *(area for area in sorted(actions) if area not in guessed)][:max_options]
    if len(areas) < 2:
        return None
    return Clarification(
        WHICH_AREA, tuple(areas), labels=tuple(", ".join(actions[area]) for area in areas)
    )


def _normalised(answer: str) -> str:
    """Return the answer in lower case, without `name=` before it and without a final dot."""
    return clean(answer).lower().rpartition("=")[2].strip().rstrip(".!?")


def _places_called(reading: ParseResult, said: str) -> list[Place]:
    """Return the folders of the domain of this name, or else of the action of this name."""
    inside = [(d, a) for d, a in reading.known if (d or SHARED).lower() == said]
    return inside or [(d, a) for d, a in reading.known if a.lower() == said]


def _most_likely_place(reading: ParseResult, places: Sequence[Place]) -> ParsedIntent:
    """Return the intent in the likeliest of the folders that the answer leaves.

    Its confidence is the share of this folder among them.
    """
    known = {(g.domain, g.action): g.share for g in reading.alternatives}
    fits = [(d, a, known[d, a]) for d, a in known if (d, a) in places]
    fits = fits or [(d, a, 0.0) for d, a in places]
    total = sum(share for *_, share in fits)
    guesses = [FolderGuess(d, a, share / total if total else 1 / len(fits)) for d, a, share in fits]
    return best_intent(reading.intent.intent, guesses)


def _in_folder_of(
    intent: ParsedIntent, tools: Sequence[ToolSpec], confidence: float
) -> ParsedIntent:
    last = next((t for t in reversed(tools) if t.domain), tools[-1])
    return replace(intent, domain=last.domain, action=last.action, confidence=confidence)


def _select_tool(found: SearchResult, meant: Ranked) -> SearchResult:
    """Return the search with this tool selected. The answer makes its p 1 and all others 0."""
    best = replace(meant, p=1.0, p_before_answer=meant.p, why_not=None, tie_break=None)
    others = (
        replace(
            r,
            p=0.0,
            p_before_answer=r.p,
            why_not=f"the answer to the question was {best.tool.id}",
            tie_break=None,
        )
        for r in found.candidates
        if r.tool.id != best.tool.id
    )
    ordered = tuple(replace(r, rank=n) for n, r in enumerate((best, *others), start=1))
    choice = PolicyChoice("select", (ordered[0],), f"{best.tool.id}: the answer to the question")
    return replace(found, candidates=ordered, choice=choice)


def _select_none(found: SearchResult, asked: Clarification) -> SearchResult:
    """Return the search with nothing selected. The answer makes the p of every option 0."""
    candidates = tuple(
        replace(r, p=0.0, p_before_answer=r.p) if r.tool.id in asked.options else r
        for r in found.candidates
    )
    reason = "the answer to the question was: none of these tools"
    return replace(found, candidates=candidates, choice=PolicyChoice("generate", (), reason))
