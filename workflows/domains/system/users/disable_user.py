"""Disable a local user account: lock the password, let it expire, and take the login shell away.

The account, its files and its processes stay. So it cannot log in with a password, with a key, or
with a shell. The result holds what `enable_user` needs to give everything back.

Args:
    user (str): The login name of a person; system accounts and root are refused.
    dry_run (bool): True changes nothing and shows the command.

Returns:
    user (str): The login name.
    previous_shell (str): Its login shell before.
    previous_expiry (str): The day on which it expired before, or empty.
    was_locked (bool): Whether its password was locked before; False if that cannot be read.
    argv (list[str]): The command.
    disabled (bool): False in a dry run.

Side effects:
    Sessions that are open go on.

Target: user

Kind: write

Verify: system/users/user_account {user: "{{input.user}}"}
    expect {locked: true, expired: true, can_log_in: false, ...: ...}

Undo: system/users/enable_user {user: "{{output.user}}", shell: "{{output.previous_shell}}",
    expires: "{{output.previous_expiry}}", keep_locked: "{{output.was_locked}}"}

Approval: approver

Owner: security

Effects:
    paths: /etc/passwd, /etc/shadow
    hosts: none
    commands: usermod

Secrets: none

Examples:
    - inputs: {user: nobody, dry_run: true}
      output:
        user: nobody
        previous_shell: ...
        previous_expiry: ""
        was_locked: ...
        argv: [usermod, --lock, --expiredate, "1", --shell, /usr/sbin/nologin, nobody]
        disabled: false
"""

from __future__ import annotations

import pwd
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_FIRST_PERSON = 1000
_TIMEOUT_S = 60


def run(user: str, dry_run: bool = False) -> dict[str, Any]:
    try:
        entry = pwd.getpwnam(user)
    except (KeyError, ValueError):
        raise ValueError(f"user {user!r} does not exist: `local_users` lists the names") from None
    if entry.pw_uid < _FIRST_PERSON:
        raise ValueError(
            f"user {user!r} has user id {entry.pw_uid}: root and system accounts stay enabled"
        )
    locked, expiry = _shadow(user, needed=not dry_run)
    # Day 1 after 1970: an account that expired long ago. Day 0 is not understood everywhere.
    argv = ["usermod", "--lock", "--expiredate", "1", "--shell", "/usr/sbin/nologin", user]
    if not dry_run:
        done = subprocess.run(
            argv, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise RuntimeError(f"usermod failed with status {done.returncode}: {said}")
    return {
        "user": user,
        "previous_shell": entry.pw_shell,
        "previous_expiry": expiry,
        "was_locked": locked,
        "argv": argv,
        "disabled": not dry_run,
    }


def _shadow(user: str, *, needed: bool) -> tuple[bool, str]:
    """Whether the password is locked, and the day on which the account expires."""
    try:
        text = Path("/etc/shadow").read_text(encoding="utf-8", errors="replace")
    except (PermissionError, FileNotFoundError):
        if needed:
            raise
        return False, ""
    for line in text.splitlines():
        fields = line.split(":")
        if fields[0] == user and len(fields) > 7:
            days = fields[7]
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=int(days or 0))
            return fields[1].startswith("!"), moment.date().isoformat() if days else ""
    return False, ""
