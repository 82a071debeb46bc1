"""Render the templates of prompts, skeletons and composed modules (jinja2). Effect: reads them.

A plan as DSL text (YAML, JSON) is written in `core/compose/plans/dsl/plan_file.py`, and the text of
a composed module in `core/compose/plans/module_source.py`. Results and plans are shown to a person
in `cli/results/` and `cli/render/plan_text.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from pulsus.late_pattern import late_pattern

if TYPE_CHECKING:
    import jinja2


_SECTION = late_pattern(r"[A-Za-z -]{1,20}:")


def render_contract(
    summary: str, label: str, body: str, sections: Iterable[tuple[str, Sequence[str]]]
) -> str:
    """Return the text of a docstring contract (docs/tool-contract.md).

    A summary that looks like a section header gets `label` before it, so that a request cannot
    write a section. `sections` are headers with their lines.
    """
    if _SECTION.match(summary):
        summary = f"{label}: {summary}"
    if not summary.endswith((".", "!", "?", "…")):
        summary += "."
    return render_template("contract.j2", summary=summary, body=body, sections=sections)


def render_template(template: str, **values: Any) -> str:
    """Return the rendered template. Raises UndefinedError for a missing value."""
    return _template_environment().get_template(template).render(**values)


@cache
def _template_environment() -> jinja2.Environment:
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
