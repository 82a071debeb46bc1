"""Build the messages to a model from the prompts `core/compose/prompts/*.j2` (spec §7). Pure.

`routing/generation/prompt_context.py` chooses the similar tools and hints in a prompt. The prompt
of the agent is in `agent/model/prompt_template.py`. The system prompt depends only on settings and
comes first, so that a server can reuse its cache.
"""

from __future__ import annotations

from pulsus.core.compose.guardrails.all_rules import GuardrailRules
from pulsus.core.compose.model_protocol import Message
from pulsus.core.compose.rendering import render_template
from pulsus.core.compose.writing import caller_examples
from pulsus.core.compose.writing.call_signature import infer_signature
from pulsus.core.types import Example
from pulsus.fast_dataclass import dataclass

# More text would push the rules out of the context of a small model.
_SHOWN_REASONS = 12
_SHOWN_DETAIL = 1500


@dataclass(frozen=True, slots=True)
class PromptContext:
    """Everything that a prompt is built from.

    `neighbours` are sources or descriptions of existing tools, and `hints` are passages of the
    docs. `imports` is the allowlist in the order of the settings. `skeleton` is a module without a
    body to start from. `shown_examples` are the examples without secrets, as the model sees them;
    None shows them unchanged. The answer must also pass `hidden_example`, which the model does not
    see.
    """

    request: str
    rules: GuardrailRules
    imports: tuple[str, ...]
    examples: tuple[Example, ...] = ()
    shown_examples: tuple[Example, ...] | None = None
    neighbours: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    skeleton: str = ""
    hidden_example: Example | None = None


@dataclass(frozen=True, slots=True)
class AnswerRefusal:
    """The reasons why an answer was refused, as the model sees them.

    `failing` is the example that fails.
    """

    step: str
    reasons: tuple[str, ...]
    detail: str = ""
    failing: str = ""


def build_prompt(brief: PromptContext, *, short: bool = False) -> list[Message]:
    """Return the first messages. If `short`, they leave out neighbours and hints."""
    system = render_template("system.j2", imports=brief.imports, writes=brief.rules.writes)
    call = infer_signature(brief.examples)
    examples = brief.examples if brief.shown_examples is None else brief.shown_examples
    request = render_template(
        "request.j2",
        request=brief.request.strip(),
        skeleton=brief.skeleton.strip(),
        sure=call is not None,
        result=call.result if call else "",
        examples=caller_examples.dump_examples(examples) if examples else "",
        hidden=brief.hidden_example is not None,
        neighbours=() if short else brief.neighbours,
        hints=() if short else brief.hints,
    )
    return [Message("system", system), Message("user", request)]


def build_repair_prompt(
    brief: PromptContext, answer: str, refusal: AnswerRefusal, *, short: bool = False
) -> list[Message]:
    """Return the messages after a refused answer.

    If `short`, they leave out the answer too, because the model has repeated it.
    """
    begun = build_prompt(brief, short=short)
    reasons = render_template(
        "repair.j2",
        step=refusal.step,
        reasons=refusal.reasons[:_SHOWN_REASONS],
        detail=refusal.detail[:_SHOWN_DETAIL],
        failing=refusal.failing,
        short=short,
    )
    if short:
        # One user message: without the answer between them, two would follow each other.
        return [begun[0], Message("user", f"{begun[1].content}\n{reasons}")]
    return [*begun, Message("assistant", answer), Message("user", reasons)]


def format_module(name: str, text: str) -> str:
    """Return an existing module as the model sees it."""
    return f"{name}:\n```python\n{text.strip()}\n```"
