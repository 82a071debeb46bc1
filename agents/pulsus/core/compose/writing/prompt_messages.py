"""What a model is told, from the templates in `prompts/` (routing spec §7). Pure.

The system prompt depends on settings alone and comes first, so that a server computes it once.
"""

from __future__ import annotations

from typing import Any

from pulsus.core.compose.guardrails.all_rules import Rules
from pulsus.core.compose.proposer import Message
from pulsus.core.compose.rendering import render_template
from pulsus.core.compose.writing import caller_examples
from pulsus.core.compose.writing.call_signature import infer_signature
from pulsus.core.types import Example
from pulsus.fast_dataclass import dataclass

_SHOWN_REASONS = 12
_SHOWN_DETAIL = 1500


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What is to be written. `neighbours` are sources or descriptions of existing tools.

    `imports` are the allowlist in the order of the settings; `hints` are passages of the docs,
    `skeleton` is a module without a body to go on with. `held` is an example that decides and is
    not shown. `shown` are the examples without secrets, as the model sees them; None: as they are.
    """

    request: str
    rules: Rules
    imports: tuple[str, ...]
    examples: tuple[Example, ...] = ()
    shown: tuple[Example, ...] | None = None
    neighbours: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    skeleton: str = ""
    held: Example | None = None


@dataclass(frozen=True, slots=True)
class AnswerRefusal:
    """Why a module was refused, in words for the model. `failing` is the case that fails."""

    step: str
    reasons: tuple[str, ...]
    detail: str = ""
    failing: str = ""


def build_prompt(brief: PromptContext, *, short: bool = False) -> list[Message]:
    """The conversation's beginning; `short` leaves out tools and hints."""
    told: dict[str, Any] = {"imports": brief.imports, "writes": brief.rules.writes}
    call = infer_signature(brief.examples)
    examples = brief.examples if brief.shown is None else brief.shown
    asked = render_template(
        "request.j2",
        request=brief.request.strip(),
        skeleton=brief.skeleton.strip(),
        sure=call is not None,
        result=call.result if call else "",
        examples=caller_examples.dump_examples(examples) if examples else "",
        held=brief.held is not None,
        neighbours=() if short else brief.neighbours,
        hints=() if short else brief.hints,
    )
    return [Message("system", render_template("system.j2", **told)), Message("user", asked)]


def build_repair_prompt(
    brief: PromptContext, answer: str, refusal: AnswerRefusal, *, short: bool = False
) -> list[Message]:
    """What to send after a refused answer; `short` without that answer, which it repeated."""
    begun = build_prompt(brief, short=short)
    told = render_template(
        "repair.j2",
        step=refusal.step,
        reasons=refusal.reasons[:_SHOWN_REASONS],
        detail=refusal.detail[:_SHOWN_DETAIL],
        failing=refusal.failing,
        short=short,
    )
    if short:
        return [begun[0], Message("user", f"{begun[1].content}\n{told}")]
    return [*begun, Message("assistant", answer), Message("user", told)]


def format_module(name: str, text: str) -> str:
    """An existing module as the model sees it."""
    return f"{name}:\n```python\n{text.strip()}\n```"
