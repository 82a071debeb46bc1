"""`pulsus config show`: every setting, its value, the layer that set it, and its approval.

Values and their origin are merged in `config/layers.py`. A misspelt key is refused with the nearest
one.
"""

from __future__ import annotations

import json
from typing import Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.completed_words import complete_settings
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.cli.setup.config_trust_command import trust
from pulsus.config.trust.approved_settings import SOURCES
from pulsus.errors import UsageError

_SAID = {
    None: "",
    "approved": "approved",
    "changed": "NOT APPROVED: changed since it was",
    "unapproved": "NOT APPROVED",
}


GROUP = page_end("pulsus config show sandbox", "pulsus config trust --list")
SHOW = page_end(
    "pulsus config show",
    "pulsus config show sandbox",
    exits={0: "shown", 2: "usage, invalid configuration, or no such name"},
)


@click.group(epilog=GROUP)
def command() -> None:
    """Show every setting and its origin, and approve those of a project.

    Later sources win: defaults, [tool.pulsus] in pyproject.toml, config/pulsus.toml, PULSUS_*
    variables (nested by "__"), flags. Some values widen what may run or leave this machine. In a
    file of the project they count only after `pulsus config trust KEY`.
    """


command.add_command(trust)


@command.command(epilog=SHOW)
@click.argument("prefix", default="", shell_complete=complete_settings)
@common(inspects=True)
def show(session: CommandSession, prefix: str) -> None:
    """Print the settings whose names start with PREFIX.

    Each is shown with its value, its origin and, if it needs one, its approval.
    """
    known = list(_setting_rows(session))
    rows = [row for row in known if row["key"].startswith(prefix)]
    if not rows:
        raise _unknown_key_error(prefix, [row["key"] for row in known])
    if session.json:
        console.document({"settings": rows})
        return
    asks = any(row["trust"] for row in rows)
    # The value comes last: a long one would widen every line of a pipe.
    console.table(
        ("setting", "origin", *(("approval",) if asks else ()), "value"),
        [
            (
                r["key"],
                r["origin"],
                *((_SAID[r["trust"]],) if asks else ()),
                _value_text(r["value"]),
            )
            for r in rows
        ],
    )


def _setting_rows(session: CommandSession) -> list[dict[str, Any]]:
    """Return each setting with the value that its origin gives it, approved or not."""
    from pulsus.config.layers import flatten
    from pulsus.config.setting_types import plain_values

    app = session.app
    values = plain_values(app.settings)
    for each in app.standings:
        _set_value(values, each.key, each.value)
    rows = []
    for key, value in flatten(values):
        stands = next((e for e in app.standings if f"{key}.".startswith(f"{e.key}.")), None)
        own = stands is not None and app.origin(key) in SOURCES
        trust = stands.state if stands and own else None
        rows.append({"key": key, "value": value, "origin": app.origin(key), "trust": trust})
    return rows


def _set_value(values: dict[str, Any], key: str, value: Any) -> None:
    """Set one key of the sections; a table gets the entries beside its others."""
    section, _, name = key.rpartition(".")
    inside = values[section] if section else values
    if name not in inside:
        return
    inside[name] = {**inside[name], **value} if isinstance(value, dict) else value


def _unknown_key_error(prefix: str, known: list[str]) -> UsageError:
    from pulsus.core.text.similar_names import did_you_mean  # only on this error path

    sections = [key.split(".")[0] for key in known]
    names = dict.fromkeys([*sections, *known])
    hint = did_you_mean(prefix, names, "`pulsus config show` lists every setting")
    return UsageError(f"no setting's name starts with {prefix!r}", hint=hint)


def _value_text(value: object) -> str:
    """Return the value as TOML, so that it can be copied into the file."""
    if value is None:
        return "not set"
    text = value if isinstance(value, str | bool | int | float | list | dict) else str(value)
    return json.dumps(text, ensure_ascii=False)
