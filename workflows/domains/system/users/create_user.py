"""Create a local user account with a home folder, a shell and groups.

The account has no password, so nobody can log in with one before it is set. An account that exists
is refused and stays as it is.

Args:
    user (str): The login name.
    comment (str): The full name, or what the account is for.
    groups (str): Further groups, separated by commas; each must exist.
    shell (str): The login shell; empty is /bin/bash for people, and no login for a system account.
    system (bool): A system account: a low user id, no home folder.
    dry_run (bool): True changes nothing and shows the command.

Returns:
    user (str): The login name.
    uid (int | None): The new user id; null in a dry run.
    home (str): Its home folder; empty if it has none.
    shell (str): Its login shell.
    groups (list[str]): Its further groups.
    argv (list[str]): The command.
    created (bool): False in a dry run.

Side effects:
    Creates a group of the same name, and the home folder with the files of /etc/skel. `Undo:` keeps
    the home folder, because somebody may have saved work in it.

Target: user

Kind: write

Verify: system/users/user_account {user: "{{input.user}}"} expect {exists: true, ...: ...}

Undo: system/users/remove_user {user: "{{output.user}}", system: "{{input.system}}"}

Approval: approver

Owner: security

Effects:
    paths: /etc/passwd, /etc/group, /etc/shadow, /etc/gshadow, /etc/subuid, /etc/subgid, /home
    hosts: none
    commands: useradd

Secrets: none

Examples:
    - title: an account for a person
      inputs: {user: deploy, comment: Deployments, dry_run: true}
      output:
        user: deploy
        uid: null
        home: /home/deploy
        shell: /bin/bash
        groups: []
        argv: [useradd, --comment, Deployments, --shell, /bin/bash, --create-home, deploy]
        created: false
    - title: an account for a daemon
      inputs: {user: exporter, system: true, dry_run: true}
      output:
        argv: [useradd, --comment, "", --shell, /usr/sbin/nologin, --system, exporter]
        ...: ...
"""

from __future__ import annotations

import grp
import pwd
import re
import subprocess
from typing import Any

_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_TIMEOUT_S = 60


def run(
    user: str,
    comment: str = "",
    groups: str = "",
    shell: str = "",
    system: bool = False,
    dry_run: bool = False,
) -> dict[str, Any]:
    if not _NAME.fullmatch(user):
        raise ValueError(
            f"user {user!r} is no login name: use up to 32 small letters, digits, _ and -"
        )
    if any(char in comment for char in ":\n,"):
        raise ValueError(f"comment {comment!r} holds a colon, a comma or a new line: leave it out")
    if shell and not re.fullmatch(r"/[\w./-]+", shell):
        raise ValueError(f"shell {shell!r} is no absolute path: write for example /bin/bash")
    if _known(user) is not None:
        raise ValueError(f"user {user!r} exists already: choose another name")
    names = [name.strip() for name in groups.split(",") if name.strip()]
    for name in names:
        _check_group(name)
    shell = shell or ("/usr/sbin/nologin" if system else "/bin/bash")
    argv = ["useradd", "--comment", comment, "--shell", shell]
    argv += ["--system"] if system else ["--create-home"]
    argv += ["--groups", ",".join(names)] if names else []
    argv.append(user)
    if not dry_run:
        done = subprocess.run(
            argv, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise RuntimeError(f"useradd failed with status {done.returncode}: {said}")
    made = None if dry_run else _known(user)
    return {
        "user": user,
        "uid": made.pw_uid if made else None,
        "home": "" if system else made.pw_dir if made else f"/home/{user}",
        "shell": shell,
        "groups": names,
        "argv": argv,
        "created": made is not None,
    }


def _known(user: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(user)
    except KeyError:
        return None


def _check_group(name: str) -> None:
    try:
        grp.getgrnam(name)
    except KeyError:
        raise ValueError(f"groups: there is no group {name!r}: create it first") from None
