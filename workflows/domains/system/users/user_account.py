"""Look up one user account: its id, home, shell and groups, and if it is locked or expired.

Args:
    user (str): The login name.
    shell (str): The login shell that it should have; empty accepts every shell.
    passwd (str): The account file.
    group (str): The group file.
    shadow (str): The password file. If it may not be read, `locked` and `expired` are unknown.

Returns:
    user (str): The login name.
    exists (bool): Whether there is such a local account.
    uid (int | None): The user id.
    home (str): The home folder.
    shell (str): The login shell.
    groups (list[str]): Its groups, the first one is its own.
    locked (bool | None): Whether its password is locked; null if unknown.
    expires (str): The day on which the account expires, or empty.
    expired (bool | None): Whether that day is past; null if unknown.
    can_log_in (bool): Whether it has a login shell and is not known to be expired.
    ok (bool): Whether it has the shell asked for; without one always true, also if it is missing.

Side effects:
    none

Kind: read

Owner: security

Effects:
    paths: /etc/passwd, /etc/group, /etc/shadow, the given passwd, the given group, the given shadow
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a disabled account
      inputs: {user: ada, passwd: /tmp/passwd, group: /tmp/group, shadow: /tmp/shadow}
      files:
        /tmp/passwd: "ada:x:1001:1001:Ada:/home/ada:/usr/sbin/nologin"
        /tmp/group: "ada:x:1001:\\nwheel:x:10:ada,bob"
        /tmp/shadow: "ada:!$y$x:19000:0:99999:7::1:"
      output:
        user: ada
        exists: true
        uid: 1001
        home: /home/ada
        shell: /usr/sbin/nologin
        groups: [ada, wheel]
        locked: true
        expires: "1970-01-02"
        expired: true
        can_log_in: false
        ok: true
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

_NO_LOGIN = ("nologin", "false", "sync", "shutdown", "halt")


def run(
    user: str,
    shell: str = "",
    passwd: str = "/etc/passwd",
    group: str = "/etc/group",
    shadow: str = "/etc/shadow",
) -> dict[str, Any]:
    if not user or any(char in user for char in ":\n/ "):
        raise ValueError(f"user {user!r} is no login name")
    fields = next((each for each in _lines(passwd, 7) if each[0] == user), None)
    if fields is None:
        empty: dict[str, Any] = {"uid": None, "home": "", "shell": "", "groups": [], "locked": None}
        rest = {"expires": "", "expired": None, "can_log_in": False, "ok": not shell}
        return {"user": user, "exists": False, **empty, **rest}
    try:
        secret = next((each for each in _lines(shadow, 8) if each[0] == user), None)
    except (PermissionError, FileNotFoundError):
        secret = None
    locked, expires, expired = None, "", None
    if secret is not None:
        day = date(1970, 1, 1) + timedelta(days=int(secret[7])) if secret[7] else None
        locked = secret[1].startswith(("!", "*"))
        expires = day.isoformat() if day else ""
        expired = day is not None and day <= datetime.now(UTC).date()
    own, others = [], []
    for each in _lines(group, 4):
        if each[2] == fields[3]:
            own.append(each[0])
        elif user in each[3].split(","):
            others.append(each[0])
    can_log_in = fields[6].rpartition("/")[2] not in _NO_LOGIN and not expired
    return {
        "user": user,
        "exists": True,
        "uid": int(fields[2]),
        "home": fields[5],
        "shell": fields[6],
        "groups": own + sorted(others),
        "locked": locked,
        "expires": expires,
        "expired": expired,
        "can_log_in": can_log_in,
        "ok": shell in ("", fields[6]),
    }


def _lines(path: str, least: int) -> list[list[str]]:
    """The fields of each line that has at least so many."""
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    lines = [line.split(":") for line in text.splitlines()]
    return [fields for fields in lines if len(fields) >= least]
