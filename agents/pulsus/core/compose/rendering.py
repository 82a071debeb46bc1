"""Render the templates of prompts, skeletons and composed modules (jinja2). Effect: reads them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2


def render_template(template: str, **values: Any) -> str:
    """Return the rendered template. Raises UndefinedError for a missing value."""
    return _templates().get_template(template).render(**values)


@cache
def _templates() -> jinja2.Environment:
    import jinja2  # not for a route that selects one tool

    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(__package__, folder) for folder in ("prompts", "templates")]
        ),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Python and plain words, no markup
    )
