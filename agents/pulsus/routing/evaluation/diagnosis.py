"""Explain why a request with a known answer went wrong, and what helps (`pulsus eval`). Pure.

Two tools are near-duplicates here if their descriptions share most words. A single request is
explained in `routing/search/why_not.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.rankers import score_differences as why
from pulsus.core.rankers.calibration import Calibration
from pulsus.core.text.tokens import stems
from pulsus.core.types import Ranked, ToolSpec
from pulsus.routing.evaluation.dataset import GoldenRow, nearest
from pulsus.routing.evaluation.input_score import InputDifference
from pulsus.routing.search import manifest_advice
from pulsus.routing.search.low_probability import low_probability_reason
from pulsus.routing.search.why_not import compare_with_winner

_TWINS = 0.6
"""Share of the words of two tools' names and summaries, of both, from which they are near-twins."""


@dataclass(frozen=True, slots=True)
class DiagnosisContext:
    """The ranking under test. `look` ranks a request and includes these ids; `known` are all ids.

    `refused` maps each id that the settings filter out to the reason.
    """

    look: Callable[[str, Collection[str]], Sequence[Ranked]]
    known: Collection[str]
    calibration: Calibration
    tau: float
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FailureCause:
    """The cause why a request went wrong, and the remedy (may be empty), in one line each.

    `matched` and `lacks` are the words of the request that the expected tool has and lacks.
    `expected_rank` and `expected_p` are None if it was not ranked.
    """

    why: str
    fix: str = ""
    matched: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    expected_rank: int | None = None
    expected_p: float | None = None


def wrong_tool(row: GoldenRow, context: DiagnosisContext) -> FailureCause:
    """Return why the first tool is not one of the row's tools."""
    missing = [t for t in row.tools if t not in context.known]
    if len(missing) == len(row.tools):
        return _none_such(missing, context.known)
    denied = denied_tool(row, context)
    if denied:
        return denied
    found = context.look(row.query, row.tools)
    own = next((r for r in found if r.tool.id in row.tools), None)
    if own is None or not (why.matched_words(own) or own.features.get("name")):
        return FailureCause(
            "no word of the request is known to "
            + " or ".join(t for t in row.tools if t in context.known),
            "add this request to `requests` in its manifest, or an intent",
            lacks=own.unmatched if own else (),
        )
    winner = found[0]
    answer = compare_with_winner(winner, own, row.query, feedback=False)
    reason, fix = answer.reason, answer.fix
    if twins(winner.tool, own.tool):
        reason = f"near-twin: {winner.tool.id} and {own.tool.id} say almost the same; {reason}"
        fix = "tell them apart in their summaries, merge them, or allow both with `any`"
    return FailureCause(reason, fix, why.matched_words(own), answer.lacks, own.rank, own.p)


def denied_tool(row: GoldenRow, context: DiagnosisContext) -> FailureCause | None:
    """Return the settings that take out what the row needs: any tool of a plan, or all that answer
    it.
    """
    refused = [t for t in row.tools if t in context.refused]
    standing = [t for t in row.tools if t in context.known and t not in context.refused]
    if not refused or (standing and row.policy != "compose"):
        return None
    told = "; ".join(f"{tool}: {context.refused[tool]}" for tool in refused)
    return FailureCause(
        f"taken out before ranking: {told}",
        "change that in the settings or flags, or drop the request",
    )


def _none_such(missing: Sequence[str], known: Collection[str]) -> FailureCause:
    """Name the unknown ids, each with the id that was probably meant."""
    near = {tool: nearest(tool, known) for tool in missing}
    meant = ", ".join(f"{found} for {tool}" for tool, found in near.items() if found)
    fix = f"did you mean {meant}?" if meant else "correct the id, or drop the request"
    return FailureCause(f"no such tool: {', '.join(missing)}", fix)


def wrong_policy(
    row: GoldenRow, choice: PolicyChoice, found: Sequence[Ranked], context: DiagnosisContext
) -> FailureCause:
    """Return why the policy is not the one of the row."""
    first = found[0] if found else None
    if row.policy == "generate":
        return _too_sure(choice, first, context)
    if row.policy == "select" and choice.policy == "compose":
        names = " + ".join(r.tool.id for r in choice.chosen)
        return FailureCause(
            f"taken apart into {len(choice.chosen)} steps: {names}",
            "add this request to `requests` in the manifest of the tool that answers it alone",
        )
    if row.policy == "compose":
        return FailureCause(
            f"no plan was made: {choice.reason}", "give each part words of the tool that does it"
        )
    if first is None:
        return FailureCause("no tool shares a word with the request", "add an intent to a manifest")
    rival = found[1] if len(found) > 1 else None
    because = low_probability_reason(first, rival, context.calibration)
    return FailureCause(
        f"p below τ: {first.p:.2f} < {context.tau:.2f} because {because}",
        _suggest_words(first, row.query),
        why.matched_words(first),
        first.unmatched,
        first.rank,
        first.p,
    )


def wrong_steps(row: GoldenRow, chosen: Sequence[str]) -> FailureCause:
    """Return the first step in which a plan differs from the row's tools."""
    pairs = zip(range(1, len(row.tools) + 1), chosen, row.tools, strict=False)
    differ = next(((n, got, wanted) for n, got, wanted in pairs if got != wanted), None)
    if differ is None:
        return FailureCause(
            f"{len(chosen)} step{'s' * (len(chosen) != 1)}, {len(row.tools)} expected",
            "say each thing wanted in a clause of its own",
        )
    step, got, wanted = differ
    return FailureCause(
        f"step {step} is {got}, expected {wanted}",
        f'`pulsus explain "REQUEST" --why-not {wanted}` tells why',
    )


def wrong_inputs(differences: Sequence[InputDifference]) -> FailureCause:
    """Return each input that differs: what was filled, from which words, and what was wanted."""
    kinds = {each.what for each in differences}
    fix = "say the value in the request as the input's description does"
    if kinds == {"missing"}:
        fix = "describe the input with the words that requests use, or give it a default"
    return FailureCause("; ".join(each.sentence for each in differences), fix)


def twins(one: ToolSpec, other: ToolSpec) -> bool:
    """Return True if two tools describe themselves with almost the same words."""
    first, second = (frozenset(stems(f"{t.name} {t.summary}")) for t in (one, other))
    return bool(first and second) and len(first & second) / len(first | second) >= _TWINS


def _too_sure(
    choice: PolicyChoice, first: Ranked | None, context: DiagnosisContext
) -> FailureCause:
    """Something was chosen where nothing fits."""
    taken = choice.chosen or ((first,) if first else ())
    if not taken:
        return FailureCause(f"policy {choice.policy}: {choice.reason}")
    told = "; ".join(
        f"{r.tool.id} on {', '.join(why.matched_words(r)) or 'its name'}" for r in taken
    )
    return FailureCause(
        f"p {taken[0].p:.2f} reaches τ {context.tau:.2f} though nothing fits: {told}",
        f"add an anti-intent to the manifest of {taken[0].tool.id}, or calibrate on requests like"
        " this (`pulsus eval --calibrate`)",
        why.matched_words(taken[0]),
        taken[0].unmatched,
    )


def _suggest_words(own: Ranked, request: str) -> str:
    if own.caution:
        return "if it does do this, say so in its name, summary and Kind"
    return manifest_advice.suggest_intent(
        own.unmatched, request, own.tool.id
    ) or manifest_advice.suggest_request(own.tool.id)
