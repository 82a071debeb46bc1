"""`pulsus plugins list`: the installed plugins and their hooks.

Plugins are found and loaded in `plugins/find_plugins.py` and `plugins/load_plugins.py`; a failed
one is described in `plugins/plugin_failures.py`.
"""

from __future__ import annotations

from dataclasses import asdict

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.plugins.load_plugins import PluginInfo

GROUP = page_end("pulsus plugins list")
LIST = page_end(
    "pulsus plugins list",
    "pulsus plugins list --output json",
    exits={0: "listed", 2: "usage or settings"},
)


@click.group(epilog=GROUP)
def command() -> None:
    """List plugins and what they add (docs/plugins.md of Pulsus)."""


@command.command("list", epilog=LIST)
@common()
def list_(session: CommandSession) -> None:
    """Print every plugin found, also failed and disabled ones."""
    infos = session.app.checked_plugins().infos
    if session.json:
        console.document({"plugins": [{**asdict(i), "state": _state(i)} for i in infos]})
        return
    rows = [(i.name, i.distribution, i.version or "-", _state(i), " ".join(i.hooks)) for i in infos]
    console.table(("plugin", "package", "version", "state", "hooks"), rows)


def _state(info: PluginInfo) -> str:
    if info.disabled:
        return "disabled"
    return f"failed: {info.error}" if info.error else "ok"
