"""Decide why a request that no tool fits is not given to the generator (spec §6, §7).

The error NOTHING_FITS has one of these reasons: no model is configured, a filter hides the tools,
or the command only inspects.

Other kinds of refusals are listed in `core/compose/plans/dsl/refusal.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pulsus.core.types import PendingCandidate
from pulsus.errors import NothingFits
from pulsus.routing.delivery.route_run import RouteRun
from pulsus.routing.search.search_result import SearchResult


def no_tool_failure(
    run: RouteRun, found: SearchResult, reason: str, pending: Sequence[PendingCandidate]
) -> NothingFits | None:
    """Return why the route ends without a tool; None if the generator is to write one.

    `pending` are the candidates that earlier runs of this request left. Raises UsageError for
    examples that no tool can satisfy: neither a model nor a skeleton would help.
    """
    wanted, model = run.options.wanted, run.project.settings.model
    if found.filtered and not wanted.forced:
        return NothingFits(
            reason, hint="ask without that filter, or change [access] in config/pulsus.toml"
        )
    if wanted.scaffold:
        return None
    if not model.base_url:
        from pulsus.llm.missing_model import not_configured

        if not run.inspects:
            _check_examples(run)
        missing = not_configured(model)
        # A new skeleton is refused while one is there, so that no work on it is lost.
        by_hand = (
            f"or go on with {run.relative(pending[0].module)}, which an earlier run kept"
            if pending
            else f"or write it by hand: {_scaffold_command(run)}"
        )
        if wanted.forced:
            missing.offer(missing.hint, by_hand)
            return missing
        missing.message = (
            "no tool fits the request; a language model could write a new one, but none is "
            "configured (model.base_url is empty)"
        )
        missing.is_code_last = True
        by_model = "set model.base_url and model.name (`pulsus doctor --model` says how)"
        missing.offer(_hint_at_nearest(found), f"for a new tool, {by_model}", by_hand)
        return missing
    if run.inspects:
        return NothingFits(
            f"{reason}; {model.name} would be asked to write a tool, but this command only "
            "inspects",
            hint=f"{_hint_at_nearest(found)}; for a new tool, leave out --plan and --explain, or "
            "`pulsus generate` it",
        )
    return None


def _check_examples(run: RouteRun) -> None:
    from pulsus.core.compose.writing import caller_examples, example_consistency

    given = run.options.wanted.examples or caller_examples.find_examples(run.text)
    example_consistency.check_examples(given)


def _scaffold_command(run: RouteRun) -> str:
    """Return the command for a skeleton, with the options that this call already gave."""
    given = run.options.wanted.given_place(run.redact)
    words = ("pulsus", "generate", run.text, "--scaffold", *given.options, *given.words)
    return shlex.join(words)


def _hint_at_nearest(found: SearchResult) -> str:
    if found.candidates and all(r.p_before_answer is None for r in found.candidates):
        return (
            "if one of the nearest tools is right, `pulsus run ID` runs it; else ask in other words"
        )
    return "ask in other words: `pulsus tools list` shows what the tools are called"
