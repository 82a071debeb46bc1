"""`pulsus config show`: every setting, its value and the layer that set it."""

from __future__ import annotations

from typing import Any

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.errors import UsageError


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
    known = list(_rows(session))
    rows = [row for row in known if row["key"].startswith(prefix)]
    if not rows:
        raise _unknown(prefix, [row["key"] for row in known])
    if session.json:
        output.document({"settings": rows})
        return
    output.table(
        ("setting", "value", "origin"), [(r["key"], _text(r["value"]), r["origin"]) for r in rows]
    )


def _rows(session: Session) -> list[dict[str, Any]]:
    from pulsus.config.layers import flatten
    from pulsus.config.section import plain

    app = session.app
    values = plain(app.settings)
    return [
        {"key": key, "value": value, "origin": app.origin(key)} for key, value in flatten(values)
    ]


def _unknown(prefix: str, known: list[str]) -> UsageError:
    from rapidfuzz import process  # only on this error path

    near = process.extractOne(prefix, known, score_cutoff=60)
    hint = f"did you mean {near[0]}?" if near else "`pulsus config show` lists every setting"
    return UsageError(f"no setting's name starts with {prefix!r}", hint=hint)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
