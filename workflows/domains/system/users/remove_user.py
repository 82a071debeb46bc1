"""Remove a local user account; its home folder and files stay unless asked for.

Refuses root, accounts that still have processes, and system accounts without `system`. Files that
the account has elsewhere keep its number.

Args:
    user (str): The login name.
    remove_home (bool): Delete the home folder and the mail of the account too.
    system (bool): Allow an account with a user id below 1000.
    dry_run (bool): True changes nothing and shows the command.

Returns:
    user (str): The login name.
    uid (int): The user id that becomes free.
    home (str): Its home folder.
    processes (list[int]): Processes of the account; in a real run there are none.
    argv (list[str]): The command.
    removed (bool): False in a dry run.

Side effects:
    The group of the same name goes too, if it has no other members.

Target: user

Kind: write

Verify: system/users/user_account {user: "{{input.user}}"} expect {exists: false, ...: ...}

Approval: approver

Owner: security

Effects:
    paths: /etc/passwd, /etc/group, /etc/shadow, /etc/gshadow, /etc/subuid, /etc/subgid, /home,
        /var/mail, /proc
    hosts: none
    commands: userdel

Secrets: none

Examples:
    - title: the files of the account stay
      inputs: {user: nobody, dry_run: true}
      output:
        user: nobody
        uid: 65534
        argv: [userdel, nobody]
        removed: false
        ...: ...
"""

from __future__ import annotations

import pwd
import subprocess
from pathlib import Path
from typing import Any

_FIRST_PERSON = 1000
_TIMEOUT_S = 120


def run(
    user: str, remove_home: bool = False, system: bool = False, dry_run: bool = False
) -> dict[str, Any]:
    try:
        entry = pwd.getpwnam(user)
    except (KeyError, ValueError):
        raise ValueError(f"user {user!r} does not exist: `local_users` lists the names") from None
    if entry.pw_uid == 0:
        raise ValueError(f"user {user!r} is root: this account is never removed")
    if entry.pw_uid < _FIRST_PERSON and not system:
        raise ValueError(
            f"user {user!r} has user id {entry.pw_uid}: set system to remove a system account"
        )
    processes = _processes(entry.pw_uid)
    argv = ["userdel", *(["--remove"] if remove_home else []), user]
    if not dry_run:
        if processes:
            raise ValueError(f"user {user!r} still has processes {processes[:5]}: stop them first")
        done = subprocess.run(
            argv, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise RuntimeError(f"{' '.join(argv)} failed with status {done.returncode}: {said}")
    return {
        "user": user,
        "uid": entry.pw_uid,
        "home": entry.pw_dir,
        "processes": processes,
        "argv": argv,
        "removed": not dry_run,
    }


def _processes(uid: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            owner = folder.stat().st_uid
        except FileNotFoundError:
            continue
        if owner == uid:
            found.append(int(folder.name))
    return sorted(found)
