"""Collect what the prompt says of the project: similar tools, and docs as hints (spec §7, §14).

The words of the prompt are put together in `core/compose/writing/prompt_messages.py`. Secrets in
tools and docs are redacted before the model sees them.

Effect: reads tools and documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pulsus.core.compose.guardrails import all_rules
from pulsus.core.compose.guardrails.all_rules import GuardrailRules
from pulsus.core.compose.writing.prompt_messages import format_module
from pulsus.core.retrieval import document_passages as sections
from pulsus.core.retrieval.document_passages import ToolIdNames
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.types import Passage, Ranked, ToolSpec
from pulsus.errors import UsageError
from pulsus.routing.delivery.candidate_module import read_module
from pulsus.routing.delivery.project_protocol import Project

_HINT_CHARS = 600

Redact = Callable[[str], str]


def similar_tools(
    ranked: Sequence[Ranked], rules: GuardrailRules, redact: Redact, *, most: int, chars: int
) -> tuple[str, ...]:
    """Return the nearest tools, best first: whole where the guardrails would let them pass, else
    told.

    A tool that does what a generated one may not would be a bad example.
    """
    return tuple(_tool_or_description(each.tool, rules, redact, chars) for each in ranked[:most])


def passage_hints(project: Project, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the text of passages found for the request, each bounded."""
    return tuple(text for passage in passages for text in _passage_texts(project, passage))


def _tool_or_description(tool: ToolSpec, rules: GuardrailRules, redact: Redact, chars: int) -> str:
    try:
        source = read_module(tool.path)
    except UsageError:
        return _describe_tool(tool, redact)
    if len(source) > chars or all_rules.list_reasons(source, tool, rules):
        return _describe_tool(tool, redact)
    return format_module(tool.id, redact(source.decode("utf-8", "replace")))


def _describe_tool(tool: ToolSpec, redact: Redact) -> str:
    called = ", ".join(f"{arg.name}: {arg.type_hint or 'Any'}" for arg in tool.args)
    given = ", ".join(f"{out.name} ({out.type_hint or 'Any'})" for out in tool.returns)
    said = one_line(redact(tool.summary))
    return f"{tool.id}: {said} {tool.entry}({called}) gives {given or 'a result'}"


def _passage_texts(project: Project, passage: Passage) -> Iterator[str]:
    redact = project.redactor.redact  # before lines are joined and cut
    tool = project.catalogue.get(passage.source)
    if tool is not None:
        yield f"{tool.id}: {one_line(redact(f'{tool.summary} {tool.body}'), _HINT_CHARS)}"
        return
    path = project.project / passage.source
    try:
        text = read_module(path).decode("utf-8", "replace")
    except UsageError:
        return
    for section in sections.of_document(passage.source, text, ToolIdNames.of(()), ()):
        if section.heading == passage.heading:
            yield f"{passage.source}: {one_line(redact(section.text), _HINT_CHARS)}"
            return
