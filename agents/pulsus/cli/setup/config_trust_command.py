"""`pulsus config trust`: this user approves values of a project's files (ADR 27).

`config/trust/settings_to_approve.py` decides which values need approval; approvals are kept in
`config/trust/approved_settings.py`. A private address is refused before the question, in
`routing/delivery/network_allowlist.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.completed_words import complete_settings
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.cli.prompts.questions import confirm
from pulsus.core.telemetry import ids
from pulsus.errors import ApprovalNeeded, UsageError, UserStateInvalid

if TYPE_CHECKING:
    from pulsus.bootstrap.project_trust import SettingApproval

EPILOG = page_end(
    "pulsus config trust tools.python",
    "pulsus config trust --list",
    "pulsus config trust --revoke tools.python",
    exits={
        0: "approved, revoked or listed, or nothing to approve",
        2: "no such key, a refused value, or approvals cannot be read or kept",
        4: "not approved, or no terminal to ask at",
    },
)


_NETWORK = frozenset({"sandbox.network", "sandbox.tool_network"})
"""Settings that a file of the project may not give every value, approved or not."""


@click.command(epilog=EPILOG)
@click.argument("keys", nargs=-1, metavar="[KEY]...", shell_complete=complete_settings)
@click.option("--all", "every", is_flag=True, help="Ask about every value that is not approved.")
@click.option("--list", "listing", is_flag=True, help="List approvals, and values that need one.")
@click.option("--revoke", metavar="KEY", multiple=True, help="Take an approval back.")
@common(inspects=True)
def trust(
    session: CommandSession,
    keys: tuple[str, ...],
    every: bool,
    listing: bool,
    revoke: tuple[str, ...],
) -> None:
    """Approve the value of KEY in a file of this project.

    The approval is yours and holds on this machine, for this folder, this key and this value. A
    changed value needs a new approval. Without one, a value that widens what may run or leave this
    machine does not count. Approvals are in $XDG_STATE_HOME/pulsus/trust.json, outside every
    project. Variables and flags need none.
    """
    if [bool(keys or every), listing, bool(revoke)].count(True) != 1:
        raise UsageError(
            "one of KEY, --all, --list and --revoke KEY is needed",
            hint="`pulsus config trust --list` shows what needs approval",
        )
    if listing:
        _list_approvals(session)
    elif revoke:
        _revoke_approvals(session, revoke)
    else:
        _ask_approvals(session, keys, every=every)


def _ask_approvals(session: CommandSession, keys: Sequence[str], *, every: bool) -> None:
    from pulsus.bootstrap import project_trust

    app = session.app
    if app.trust_failure:
        raise UserStateInvalid(app.trust_failure)
    open_ones = [each for each in app.standings if each.state != "approved"]
    asked = open_ones if every else _select_settings(session, keys, open_ones)
    _require_allowed_values(asked)
    given: list[SettingApproval] = []
    for each in asked:
        if not session.interactive:
            raise _no_terminal(each)
        if _ask_approval(session, each):
            given.append(each)
    if given:
        at = ids.utc_now().isoformat(timespec="seconds")
        project_trust.approve(session.project, given, app.redactor.redact_value, at)
    refusal = _declined_error([each.key for each in asked if each not in given])
    if session.json:
        rows = [project_trust.approval_row(each, app.redactor.redact_value) for each in given]
        body: dict[str, Any] = {"ok": True, "approved": rows}
        console.end_document(body, refusal)
    for each in given:
        console.echo(f"approved {each.key} for {session.project}")
    if refusal:
        raise refusal
    if not asked:
        console.echo("nothing to approve")


def _require_allowed_values(asked: Sequence[SettingApproval]) -> None:
    """Raise ConfigError for a value that stays refused after its approval, before the question."""
    for each in asked:
        if each.key in _NETWORK:
            from pulsus.routing.delivery import network_allowlist

            network_allowlist.require_public_setting(each.key, each.value, each.found.file)


def _declined_error(keys: Sequence[str]) -> ApprovalNeeded | None:
    if not keys:
        return None
    return ApprovalNeeded(
        f"not approved: {', '.join(keys)}",
        hint="take the value out of the project's file, or approve it",
        keys=list(keys),
    )


def _select_settings(
    session: CommandSession, keys: Sequence[str], open_ones: Sequence[SettingApproval]
) -> list[SettingApproval]:
    """Return the values of these keys that are not approved yet. Raises UsageError."""
    known = {each.key for each in session.app.standings}
    unknown = [key for key in keys if key not in known]
    if unknown:
        _require_setting(session, unknown[0], f"there is no setting {unknown[0]!r}")
    return [each for each in open_ones if each.key in keys]


def _require_setting(session: CommandSession, key: str, problem: str) -> None:
    """Raise UsageError with `problem` if `key` is nothing that could be approved."""
    from pulsus.config.layers import setting_keys
    from pulsus.core.text.similar_names import did_you_mean

    settings = [*setting_keys(type(session.app.settings))]
    if key not in {*settings, "config/commands", "logs/", ".pulsus/"}:
        hint = did_you_mean(key, settings, "`pulsus config show` lists every setting")
        raise UsageError(problem, hint=hint)


def _no_terminal(each: SettingApproval) -> ApprovalNeeded:
    from pulsus.bootstrap.project_trust import environment_variable

    other = "" if "/" in each.key else f", or set the variable {environment_variable(each.key)}"
    return ApprovalNeeded(
        f"{each.key} ({each.found.place}) needs approval at a terminal, and this run has none",
        hint=f"run `pulsus config trust {each.key}` in a terminal{other}",
        key=each.key,
    )


def _ask_approval(session: CommandSession, each: SettingApproval) -> bool:
    """Show old and new value, and ask. The value is ASCII: no look-alike can stand in it."""
    console.note(f"{each.key} in {each.found.place} of {session.project}")
    old = f"{json.dumps(each.approved.value)} (approved)" if each.approved else ""
    console.note(f"  old: {old or json.dumps(each.default) + ' (default)'}")
    console.note(f"  new: {json.dumps(each.value)}")
    for line in _change_lines(each.default, each.value):
        console.note(f"    {line}")
    if each.found.program:
        for line in _program_lines(session.project, each):
            console.note(f"  {line}")
        console.note("  that program runs with your rights, with every package installed for it")
    return confirm("approve it?")


def _program_lines(project: Path, each: SettingApproval) -> Iterator[str]:
    """Yield why the same text needs another approval, and if no file has this name yet."""
    import os

    from pulsus.config.trust.approval_hash import program_path

    if each.approved and each.approved.value == each.value:
        yield (
            "changed: the program, or the pyvenv.cfg of its environment, was made or replaced "
            f"since {each.approved.approved_at}"
        )
    # pathlib's raises for a name that is too long.
    if not os.path.exists(program_path(project, str(each.value))):  # noqa: PTH110
        yield "this file does not exist yet"


def _change_lines(default: Any, value: Any) -> list[str]:
    """Return entries of a list that the default does not have, and those it has alone."""
    if not isinstance(default, list) or not isinstance(value, list):
        return []
    more = [f"added: {json.dumps(each)}" for each in value if each not in default]
    if "@default" in value:
        return more
    return more + [f"missing: {json.dumps(each)}" for each in default if each not in value]


def _revoke_approvals(session: CommandSession, keys: Sequence[str]) -> None:
    from pulsus.bootstrap import project_trust
    from pulsus.config.trust.approved_settings import SettingApprovals
    from pulsus.config.user_state import UserState

    approvals = SettingApprovals.load(UserState.of(session.project))
    for key in keys:
        if not approvals.of(session.project, key):
            problem = f"there is no setting {key!r}, and nothing is approved under that name"
            _require_setting(session, key, problem)
    had = project_trust.revoke(session.project, keys)
    if session.json:
        console.document({"ok": True, "revoked": had})
        return
    for key in keys:
        console.echo(f"revoked {key}" if key in had else f"{key} had no approval here")


def _list_approvals(session: CommandSession) -> None:
    """Every approval of this user, and the values of this project that need one."""
    import os

    from pulsus.bootstrap import project_trust
    from pulsus.config.trust.approved_settings import SettingApprovals
    from pulsus.config.user_state import UserState

    app = session.app
    approvals = SettingApprovals.load(UserState.of(session.project)).known
    real = os.path.realpath(session.project)
    if session.json:
        kept = [asdict(each) for each in approvals]
        here = [
            project_trust.approval_row(each, app.redactor.redact_value) for each in app.standings
        ]
        console.document({"ok": True, "settings": here, "approvals": kept})
        return
    waiting = [each for each in app.standings if each.state != "approved"]
    redact, short = app.redactor.redact_value, project_trust.shorten_json
    rows = [("NOT APPROVED", each.key, short(redact(each.value)), real) for each in waiting]
    rows += [(each.approved_at, each.key, short(each.value), each.project) for each in approvals]
    if rows:
        console.table(("approved", "setting", "value", "project"), rows)
    else:
        console.echo("nothing is approved, and nothing here needs approval")
