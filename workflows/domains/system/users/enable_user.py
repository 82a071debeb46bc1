"""Enable a local user account again: unlock its password, drop its expiry and give it a shell.

Takes back what `disable_user` did. An account without a password stays locked, because unlocking it
would let everybody in.

Args:
    user (str): The login name.
    shell (str): The login shell.
    expires (str): The day on which it expires, such as 2030-01-31; empty means never.
    keep_locked (bool): Leave the password locked.
    dry_run (bool): True changes nothing and shows the command.

Returns:
    user (str): The login name.
    shell (str): Its login shell.
    expires (str): The day on which it expires, or empty.
    unlocked (bool): Whether the command unlocks the password.
    argv (list[str]): The command.
    enabled (bool): False in a dry run.

Side effects:
    none

Target: user

Kind: write

Verify: system/users/user_account {user: "{{input.user}}", shell: "{{input.shell}}"}
    expect {expired: false, ok: true, ...: ...}

Undo: system/users/disable_user {user: "{{output.user}}"}

Approval: approver

Owner: security

Effects:
    paths: /etc/passwd, /etc/shadow
    hosts: none
    commands: usermod

Secrets: none

Examples:
    - inputs: {user: nobody, shell: /bin/sh, keep_locked: true, dry_run: true}
      output:
        user: nobody
        shell: /bin/sh
        expires: ""
        unlocked: false
        argv: [usermod, --expiredate, "", --shell, /bin/sh, nobody]
        enabled: false
"""

from __future__ import annotations

import pwd
import re
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

_TIMEOUT_S = 60


def run(
    user: str,
    shell: str = "/bin/bash",
    expires: str = "",
    keep_locked: bool = False,
    dry_run: bool = False,
) -> dict[str, Any]:
    try:
        pwd.getpwnam(user)
    except (KeyError, ValueError):
        raise ValueError(f"user {user!r} does not exist: `local_users` lists the names") from None
    if not re.fullmatch(r"/[\w./-]+", shell) or not Path(shell).exists():
        raise ValueError(f"shell {shell!r} is no program of this machine: try /bin/bash")
    if expires:
        _check_day(expires)
    unlock = not keep_locked and _has_locked_password(user)
    argv = ["usermod", *(["--unlock"] if unlock else [])]
    argv += ["--expiredate", expires, "--shell", shell, user]
    if not dry_run:
        done = subprocess.run(
            argv, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise RuntimeError(f"usermod failed with status {done.returncode}: {said}")
    return {
        "user": user,
        "shell": shell,
        "expires": expires,
        "unlocked": unlock,
        "argv": argv,
        "enabled": not dry_run,
    }


def _check_day(text: str) -> None:
    try:
        date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"expires {text!r} is no day: write 2030-01-31") from None


def _has_locked_password(user: str) -> bool:
    """True if a password is behind the lock: `!` alone, or with `*`, is no password."""
    text = Path("/etc/shadow").read_text(encoding="utf-8", errors="replace")
    fields = (line.split(":") for line in text.splitlines())
    password = next((each[1] for each in fields if each[0] == user and len(each) > 1), "")
    return password.startswith("!") and password.strip("!*") != ""
