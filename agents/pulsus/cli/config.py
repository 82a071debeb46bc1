"""`pulsus config show`: every setting, its value and the layer that set it."""

from __future__ import annotations

from typing import Any

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common


@click.group()
def command() -> None:
    """Show every setting and where it came from.

    Later sources win: defaults, [tool.pulsus] in pyproject.toml, config/pulsus.toml, PULSUS_*
    variables (nested by "__"), flags.
    """


@command.command()
@click.argument("prefix", default="")
@common()
def show(session: Session, prefix: str) -> None:
    """Print each setting whose name starts with PREFIX, with its origin."""
    rows = [row for row in _rows(session) if row["key"].startswith(prefix)]
    if session.json:
        output.document({"settings": rows})
        return
    output.table(
        ("setting", "value", "origin"), [(r["key"], _text(r["value"]), r["origin"]) for r in rows]
    )


def _rows(session: Session) -> list[dict[str, Any]]:
    from pulsus.config.layers import flatten

    app = session.app
    values = app.settings.model_dump(mode="json")
    return [
        {"key": key, "value": value, "origin": app.origin(key)} for key, value in flatten(values)
    ]


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
