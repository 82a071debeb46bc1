"""List the local accounts of a machine, and which of them can log in or have root rights.

Reads the account and group files. An account can log in when its shell is a real one (not nologin
or false). Root rights mean user id 0 or membership in a group that may use sudo. Whether a password
is set, locked or empty is read from the shadow file where that is readable (usually only by root);
password hashes themselves are never returned. Rules in sudoers for single users are not looked at,
and a locked password does not stop a log-in with an SSH key.

Args:
    people_only (bool): Only accounts with a user id of 1000 or more, and root.
    passwd (str): The account file.
    group (str): The group file.
    shadow (str): The password file; empty leaves every password unknown.
    admin_groups (str): Groups whose members may use sudo, separated by commas.

Returns:
    rows (list[dict[str, Any]]): One an account, by user id: `user`, `uid`, `gid`, `comment`,
        `home`, `shell`, `can_log_in`, `root_rights`, `groups` (list), `password` (`set`, `locked`,
        `empty` or `unknown`).
    can_log_in (list[str]): Accounts with a real shell.
    root_rights (list[str]): Accounts with user id 0 or in an admin group.
    empty_password (list[str]): Accounts that need no password.
    extra_root (list[str]): Accounts other than root with user id 0.
    count (int): How many rows there are.
    ok (bool): Whether there is neither an empty password nor an extra root.

Side effects:
    none

Kind: read

Effects:
    paths: /etc/passwd, /etc/group, /etc/shadow
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: root, a daemon, an administrator
      inputs:
        passwd: /tmp/local_users/passwd
        group: /tmp/local_users/group
        shadow: /tmp/local_users/shadow
      files:
        /tmp/local_users/passwd: |
          root:x:0:0:root:/root:/bin/bash
          www-data:x:33:33::/var/www:/usr/sbin/nologin
          ada:x:1000:1000:Ada:/home/ada:/bin/zsh
        /tmp/local_users/group: |
          sudo:x:27:ada
          ada:x:1000:
        /tmp/local_users/shadow: |
          root:!:19000:0:99999:7:::
          www-data:*:19000:0:99999:7:::
          ada::19000:0:99999:7:::
      output:
        rows:
          - {user: root, uid: 0, gid: 0, comment: root, home: /root, shell: /bin/bash,
             can_log_in: true, root_rights: true, groups: [], password: locked}
          - {user: www-data, uid: 33, gid: 33, comment: "", home: /var/www,
             shell: /usr/sbin/nologin, can_log_in: false, root_rights: false, groups: [],
             password: locked}
          - {user: ada, uid: 1000, gid: 1000, comment: Ada, home: /home/ada, shell: /bin/zsh,
             can_log_in: true, root_rights: true, groups: [ada, sudo], password: empty}
        can_log_in: [root, ada]
        root_rights: [root, ada]
        empty_password: [ada]
        extra_root: []
        count: 3
        ok: false
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

NO_SHELL = frozenset({"nologin", "false", "sync", "shutdown", "halt"})


def run(
    people_only: bool = False,
    passwd: str = "/etc/passwd",
    group: str = "/etc/group",
    shadow: str = "/etc/shadow",
    admin_groups: str = "sudo,wheel,admin",
) -> dict[str, Any]:
    """Join accounts, groups and the state of passwords."""
    admins = {name.strip() for name in admin_groups.split(",")}
    groups = [fields for fields in _fields(passwd=False, path=group) if fields[2].isdigit()]
    passwords = _passwords(Path(shadow)) if shadow else {}
    rows = []
    for user, marker, uid, gid, comment, home, shell in _fields(passwd=True, path=passwd):
        if not (uid.isdigit() and gid.isdigit()):
            continue
        if people_only and not (uid == "0" or 1000 <= int(uid) < 65534):
            continue
        mine = sorted({g[0] for g in groups if g[2] == gid or user in g[3].split(",")})
        rows.append(
            {
                "user": user,
                "uid": int(uid),
                "gid": int(gid),
                "comment": comment,
                "home": home,
                "shell": shell or "/bin/sh",
                "can_log_in": Path(shell or "/bin/sh").name not in NO_SHELL,
                "root_rights": uid == "0" or not admins.isdisjoint(mine),
                "groups": mine,
                "password": passwords.get(user, "unknown") if marker == "x" else _state(marker),
            }
        )
    rows.sort(key=lambda row: (row["uid"], row["user"]))
    empty = [row["user"] for row in rows if row["password"] == "empty"]
    extra = [row["user"] for row in rows if row["uid"] == 0 and row["user"] != "root"]
    return {
        "rows": rows,
        "can_log_in": [row["user"] for row in rows if row["can_log_in"]],
        "root_rights": [row["user"] for row in rows if row["root_rights"]],
        "empty_password": empty,
        "extra_root": extra,
        "count": len(rows),
        "ok": not empty and not extra,
    }


def _fields(*, passwd: bool, path: str) -> list[list[str]]:
    """Complete lines of an account or group file; comments and NIS `+` lines are left out."""
    lines = Path(path).read_text(encoding="utf-8", errors="backslashreplace").splitlines()
    split = [line.split(":") for line in lines if line.strip() and line[0] not in "#+-"]
    return [fields for fields in split if len(fields) == (7 if passwd else 4)]


def _passwords(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8", errors="backslashreplace").splitlines()
    except PermissionError:
        return {}
    return {f[0]: _state(f[1]) for line in lines if len(f := line.split(":")) > 1}


def _state(field: str) -> str:
    if not field:
        return "empty"
    return "locked" if field[0] in "!*" else "set"
