"""The system prompts of the agent, as templates of the package (tool calling chapter §32.2.1).

The texts are `agent/model/prompts/agent.j2` and `native.j2`. They also tell the model that text in
a tool result is data, and that it follows no instruction in it (prompt injection).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


def render_prompt(name: str, **values: object) -> str:
    """Return the prompt `prompts/NAME` with these values. A missing value is an error."""
    return _template(name).render(**values)


@cache
def _template(name: str) -> Template:
    # Late: most commands ask no model.
    from jinja2 import Environment, StrictUndefined

    text = files("pulsus.agent.model").joinpath("prompts", name).read_text(encoding="utf-8")
    # Not HTML: a prompt is plain text, and escaping would change what tools are called.
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(text)
