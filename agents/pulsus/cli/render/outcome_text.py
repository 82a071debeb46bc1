"""The lines of a route: its decision, plan and notes (spec §11, §12, §19). Pure: golden tests.

What is printed is what the decision was made from; nothing is computed here. The result of a tool
is printed by `cli/results/print_result.py`.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pulsus.cli.render import explain_table
from pulsus.cli.render.inputs_text import describe_use, input_lines
from pulsus.cli.render.validation_text import TAG, VERDICTS, printable, relative
from pulsus.core.compose.selection.choose_policy import by_p
from pulsus.core.rankers.calibration import Calibration
from pulsus.core.types import (
    OutputRef,
    PendingCandidate,
    Ranked,
    RouteOutcome,
    ToolSpec,
    ValidationReport,
)
from pulsus.routing.clarify import SHARED, describe_choice

_NEAREST = 3
_LEAST_SHOWN = 0.05
"""A candidate below this p tells a reader nothing."""
_SUMMARY_CHARS = 68
_LONGEST_SUMMARY = 200
"""More characters than are shown, because a summary is shortened at a blank."""


@printable
def summary(outcome: RouteOutcome, project: Path) -> Iterator[str]:
    """Yield the summary lines of spec §11 and §19."""
    yield from decision_lines(outcome, project)
    yield from delivery_lines(outcome, project, outcome.notes)


@printable
def decision_lines(outcome: RouteOutcome, project: Path, *, missing: bool = True) -> Iterator[str]:
    """Yield what was decided: intent, tools and inputs.

    `missing` False leaves out the missing inputs, because they are asked for next.
    """
    domain, action = _shown_place(outcome)
    yield f"{TAG} domain={domain} action={action} ({_place_origin(outcome)})"
    yield from _decision(outcome, project)
    yield from input_lines(outcome, missing=missing)


def _place_origin(outcome: RouteOutcome) -> str:
    """Return `given` with its one option if the caller gave only that, else the confidence."""
    match bool(outcome.given.domain), bool(outcome.given.action):
        case True, True:
            return "given"
        case True, False:
            return "domain given"
        case False, True:
            return "action given"
        case _:
            return f"confidence={outcome.intent.confidence:.2f}"


def _shown_place(outcome: RouteOutcome) -> tuple[str, str]:
    """Return domain and action of the request, or else of the tools found; `?` if none was.

    An intent without a domain may mean the shared tools, which lie in no domain. Where the caller
    gave a place for a new tool, the request is not asked for it.
    """
    given = outcome.given
    if given.domain or given.action:
        same = outcome.intent.domain == given.domain
        parsed = outcome.intent.action if same else None
        return given.domain or SHARED, given.action or parsed or "?"
    intent, chosen = outcome.intent, outcome.decision.selected
    if (intent.domain and intent.action) or not chosen:
        return intent.domain or "?", intent.action or "?"
    tool = next((t for t in reversed(chosen) if t.domain), chosen[-1])
    tool = next((t for t in reversed(chosen) if t.action == intent.action), tool)
    return tool.domain or SHARED, tool.action


@printable
def delivery_lines(outcome: RouteOutcome, project: Path, notes: Sequence[str]) -> Iterator[str]:
    """Yield what came after the decision: validation, promotion, notes, earlier candidates."""
    if outcome.validation:
        yield _validation(outcome.validation, project)
        if outcome.validation.network:
            yield f"{TAG} network its dry run may reach: {', '.join(outcome.validation.network)}"
    if outcome.promotion and outcome.promotion.created:
        yield f"{TAG} promote → {relative(outcome.promotion.path, project)}"
        yield (
            f"{TAG} revision={outcome.promotion.revision} version={outcome.promotion.version} "
            f"route_id={outcome.decision.route_id}"
        )
    else:
        yield _closing(outcome)
    yield from note_lines(notes)
    for pending in outcome.pending:
        yield from _left(pending, outcome, project)


@printable
def note_lines(notes: Sequence[str]) -> Iterator[str]:
    """Yield a line for each note."""
    yield from (f"{TAG} note: {note}" for note in notes)


@printable
def explain(
    outcome: RouteOutcome,
    calibration: Calibration | None = None,
    width: int | None = None,
    *,
    detailed: bool = False,
) -> Iterator[str]:
    """The reason, then features, weights, scores, τ and tie-breakers (spec §5, §12).

    `detailed` adds what the features add to each score, which words matched, and with `calibration`
    what p is made of. `width` is the terminal's, None if nothing is folded.
    """
    yield from _tagged(f"reason: {_reason(outcome)}", width)
    weights = outcome.candidates[0].weights if outcome.candidates else outcome.weights
    shown = " ".join(f"{name}={weight:.2f}" for name, weight in weights.items())
    of = "the score" if calibration and calibration.is_score else "p"
    yield from _tagged(
        f"weights: {shown}  τ={outcome.tau:.2f} (applies to {of})  searched: {_scope(outcome)}",
        width,
    )
    yield from explain_table.candidate_lines(
        outcome.candidates, weights, outcome.intent.intent, calibration, width, detailed=detailed
    )
    order = "domain before shared, higher history, shallower path, file name"
    within = f"{outcome.tie_tolerance:g}"
    near = f" (for first place, scores within {within} are equal)" if outcome.tie_tolerance else ""
    yield from _tagged(f"tie-breakers: {order}{near}", width)
    if calibration and detailed:
        yield from _tagged(f"calibration: {explain_table.calibrated_by(calibration)}", width)
    nowhere = explain_table.unmatched_words(outcome.candidates)
    if nowhere:
        yield from _tagged(f"words that no listed tool has: {', '.join(nowhere)}", width)
    parts = outcome.subintents if len(outcome.subintents) > 1 else ()
    for sub in parts:
        best = sub.candidates[0] if sub.candidates else None
        found = f"{best.tool.id} p={best.p:.2f}" if best else "nothing"
        loose = best and any(tool == best.tool.id for _, tool in outcome.unconnected)
        apart = " (not connected with the first step)" if loose else ""
        yield from _tagged(f"part {sub.text!r}: {found}{apart}", width)
    for text in outcome.uncovered:
        yield from _tagged(f"part {text!r}: not covered", width)
    if outcome.input_model:
        yield from _tagged(f"input model: {describe_use(outcome.input_model)}", width)
    for passage in outcome.passages:
        under = f" — {passage.heading}" if passage.heading else ""
        yield from _tagged(f"hint from {passage.source}{under} ({passage.score:.2f})", width)
    if outcome.candidates and not detailed:
        more = "-v adds matched words, sums of scores and signals of p"
        yield from _tagged(f"details: {more}", width)


def _reason(outcome: RouteOutcome) -> str:
    """Return the decision and its reason as one sentence."""
    decision = outcome.decision
    selected = ", then ".join(tool.id for tool in decision.selected)
    reason = decision.reason.removeprefix(f"{selected}: ")
    match decision.policy:
        case "select":
            return f"{selected} is selected: {reason}"
        case "compose":
            return f"a plan of {len(decision.selected)} steps is composed: {reason}"
        case _:
            return f"no tool is selected: {reason}"


def _tagged(text: str, width: int | None) -> Iterator[str]:
    return explain_table.wrapped(f"{TAG} {text}", width, indent="")


def candidate_commands(
    left: PendingCandidate, outcome: RouteOutcome, project: Path
) -> dict[str, str]:
    """Return the commands for a pending candidate: validate, promote or regenerate it."""
    path = shlex.quote(relative(left.module, project))
    intent = outcome.intent
    request = shlex.quote(intent.intent)
    generate = outcome.decision.policy == "generate"
    given = outcome.given
    place = given
    if not given.action:
        # The folder of a tool that does not exist yet is a guess: the user chooses it.
        domain, action = (None, None) if generate else (intent.domain, intent.action)
        domain = given.domain or domain
        place = replace(given, domain=domain or "DOMAIN", action=action or "ACTION")
    again = ("pulsus", "generate", intent.intent, "--regenerate", *given.options, *given.words)
    return {
        "validate": f"pulsus validate {path}",
        "promote": f"pulsus promote {path} {shlex.join(place.options)}",
        "regenerate": shlex.join(again) if generate else f"rm {path} && pulsus route {request}",
    }


def _left(left: PendingCandidate, outcome: RouteOutcome, project: Path) -> Iterator[str]:
    edited = ", edited since" if left.edited else ""
    why = f": {'; '.join(left.reasons)}" if left.reasons else ""
    yield (
        f"{TAG} kept: {relative(left.module, project)}, {left.status} on "
        f"{left.created_at:%Y-%m-%d}{edited}{why}"
    )
    for what, command in candidate_commands(left, outcome, project).items():
        yield f"{TAG}   {what}: {command}"


def _decision(outcome: RouteOutcome, project: Path) -> Iterator[str]:
    decision = outcome.decision
    if decision.policy == "select":
        best = next(r for r in outcome.candidates if r.tool.id == decision.selected[0].id)
        yield (
            f"{TAG} select {_entry(best.tool)} score={best.score:.2f} p={best.p:.2f}  "
            f"τ={outcome.tau:.2f}"
        )
        return
    if decision.policy == "generate" and outcome.generation is None:
        yield f"{TAG} {_miss(outcome)}"
        yield from nearest_tools(outcome)
        return
    leading = [r for r in _leading(outcome) if r.p >= _LEAST_SHOWN or r.tool in decision.selected]
    listed = ", ".join(f"{r.tool.name}({r.p:.2f})" for r in leading)
    if listed:
        yield f"{TAG} candidates: {listed}"
    if decision.policy == "compose":
        steps = len(decision.plan.steps) if decision.plan else 0
        yield f"{TAG} compose plan={steps} steps: {_chain(outcome)}"
    else:
        yield from _generation(outcome, project)


def nearest_tools(outcome: RouteOutcome) -> Iterator[str]:
    """Yield the nearest tools of a request that no tool fits, one line each with p and summary.

    The tool with the highest p is first, as the reason of the decision names it.
    None is near if the answer to a question was "none of these": the person has seen the nearest.
    """
    refused = any(r.p_before_answer is not None for r in outcome.candidates)
    near = () if refused else by_p(outcome.candidates)[:_NEAREST]
    if near:
        yield f"{TAG} nearest tools:"
    wide = max((len(r.tool.id) for r in near), default=0)
    for r in near:
        told = textwrap.shorten(
            describe_choice(r.tool, _LONGEST_SUMMARY), _SUMMARY_CHARS, placeholder="…"
        )
        yield f"{TAG}   {r.tool.id:<{wide}}  p={r.p:.2f}  {told}"


def _miss(outcome: RouteOutcome) -> str:
    """Return why no tool was taken: none fits, or a new one was asked for although one fits."""
    reached = [r for r in outcome.candidates[:1] if r.p >= outcome.tau]
    reason = outcome.decision.reason
    if not reached or len(outcome.subintents) > 1:
        return f"no tool selected: {reason}"
    return f"{reason}, though {reached[0].tool.id} fits (p={reached[0].p:.2f})"


def _generation(outcome: RouteOutcome, project: Path) -> Iterator[str]:
    """Yield how a module was generated, and why answers were refused (spec §19.3)."""
    made = outcome.generation
    if made is None:
        return
    if made.generator == "template":
        files = [relative(path, project) for path in (outcome.module, made.test) if path]
        yield f"{TAG} skeleton: {' and '.join(files)}"
        return
    allowed = ", ".join(("stdlib", *made.extra_imports))
    reached = [r for r in outcome.candidates[:1] if r.p >= outcome.tau]
    why = outcome.decision.reason if reached else f"no candidate reached τ={outcome.tau:.2f}"
    if reached and len(outcome.subintents) < 2:
        why = f"{why}, though {reached[0].tool.id} fits (p={reached[0].p:.2f})"
    yield f"{TAG} {why}; falling back to generator (allowlist: {allowed})"
    tokens = made.prompt_tokens + made.completion_tokens
    yield (
        f"{TAG} generator: {made.model} ({made.provider}), answers: {len(made.rounds)}, "
        f"repair rounds: {made.repairs}, tokens: {tokens}"
    )
    for each in made.rounds:
        if each.step:
            yield f"{TAG} answer {each.number + 1} refused at {each.step}:"
            yield from (f"{TAG}   {reason}" for reason in each.reasons)


def _leading(outcome: RouteOutcome) -> Sequence[Ranked]:
    if outcome.decision.policy != "compose":
        return outcome.candidates[:3]
    best = {s.candidates[0].tool.id: s.candidates[0] for s in outcome.subintents if s.candidates}
    return [best[tool.id] for tool in outcome.decision.selected if tool.id in best]


def _chain(outcome: RouteOutcome) -> str:
    """Return the names of the steps: an arrow before a step that gets an earlier result, or a plus.

    Without a plan nothing is known of the inputs.
    """
    steps = outcome.decision.plan.steps if outcome.decision.plan else ()
    fed = [any(isinstance(v, OutputRef) for v in step.inputs.values()) for step in steps]
    names = [tool.name for tool in outcome.decision.selected]
    signs = [" -> " if is_fed else " + " for is_fed in fed] or [" -> "] * len(names)
    return names[0] + "".join(sign + name for sign, name in zip(signs[1:], names[1:], strict=True))


def _entry(tool: ToolSpec) -> str:
    return f"{tool.path.name}::{tool.entry}"


def _validation(found: ValidationReport, project: Path) -> str:
    if found.ok:
        passed = ",".join(step.step for step in found.steps)
        return f"{TAG} validation OK ({passed}={found.duration_ms / 1000:.1f}s)"
    logs = ", ".join(relative(a, project) for a in found.artifacts[-1:])
    where = f"; see {logs}" if logs else ""
    return f"{TAG} validation {VERDICTS[found.verdict]}: {found.summary}{where}"


def _closing(outcome: RouteOutcome) -> str:
    state = VERDICTS[outcome.validation.verdict] if outcome.validation else "not run"
    done = "  already promoted, unchanged" if outcome.promotion and not outcome.ran else ""
    return (
        f"{TAG} policy={outcome.decision.policy}  validation={state}  "
        f"route_id={outcome.decision.route_id}{done}"
    )


def _scope(outcome: RouteOutcome) -> str:
    """Return where the tool was looked for: in the folder that the request names, or everywhere."""
    intent = outcome.intent
    if not (intent.domain or intent.action):
        return "the whole catalogue"
    folder = f"{intent.domain or '*'}/{intent.action or '*'}"
    return (
        f"{folder}, then the whole catalogue" if outcome.widened else f"{folder}, which was enough"
    )
