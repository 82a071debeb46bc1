r"""Show when cron runs one command of one user: its entry in a crontab, if there is one.

Looks in the crontab of the user, or in one file with a column for the user, such as those in
`/etc/cron.d`. The command has to be exactly the one in the entry. A crontab that does not exist has
no entry. The crontabs of other users can only be read by root.

Args:
    command (str): The command of the entry.
    user (str): The user it runs as; root when empty.
    file (str): A crontab with a column for the user, for example `/etc/cron.d/backup`; the crontab
        of the user when empty.

Returns:
    found (bool): True if there is such an entry.
    schedule (str): When it runs; empty if there is no entry.
    count (int): How many entries there are for this command and user.
    file (str): The crontab that was read.
    lines (list[int]): Their lines, from 1.

Side effects:
    none

Kind: read

Effects:
    paths: /var/spool/cron, the given file
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: an entry with a column for the user
      inputs: {command: /opt/bin/dump.sh --all, user: backup, file: /tmp/cron.d/dump}
      files: {/tmp/cron.d/dump: "SHELL=/bin/sh\n15 3 * * *  backup\t/opt/bin/dump.sh --all\n"}
      output: {found: true, schedule: 15 3 * * *, count: 1, file: /tmp/cron.d/dump, lines: [2]}
    - title: no entry
      inputs: {command: /opt/bin/other.sh, file: /tmp/cron.d/dump}
      files: {/tmp/cron.d/dump: "@daily root /opt/bin/dump.sh\n"}
      output: {found: false, schedule: "", count: 0, file: /tmp/cron.d/dump, lines: []}
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_SPOOLS = ("/var/spool/cron/crontabs", "/var/spool/cron/tabs", "/var/spool/cron")


def run(command: str, user: str = "", file: str = "") -> dict[str, Any]:
    user = user or "root"
    if "/" in user or "\n" in command or not command.strip():
        raise ValueError(f"user {user!r} or command {command!r} is none: give one line each")
    crontab = Path(file) if file else _crontab_of(user)
    found = []
    if crontab.exists():
        for number, line in enumerate(crontab.read_text(encoding="utf-8").splitlines(), 1):
            entry = _entry(line, with_user=bool(file))
            if entry and entry[1:] == (user if file else "", command.strip()):
                found.append((number, entry[0]))
    return {"found": bool(found), "schedule": found[0][1] if found else ""} | {
        "count": len(found),
        "file": str(crontab),
        "lines": [number for number, _ in found],
    }


def _crontab_of(user: str) -> Path:
    spool = next((Path(folder) for folder in _SPOOLS if Path(folder).is_dir()), None)
    if spool is None:
        raise FileNotFoundError("there is no folder of crontabs here: install cron")
    return spool / user


def _entry(line: str, *, with_user: bool) -> tuple[str, str, str] | None:
    """Return schedule, user and command of a line; None if it is no entry."""
    text = line.strip()
    if not text or text.startswith("#") or re.match(r"[A-Za-z_]\w*\s*=", text):
        return None
    fields = 1 if text.startswith("@") else 5
    words = text.split(None, fields + with_user)
    if len(words) < fields + with_user + 1:
        return None
    return " ".join(words[:fields]), words[fields] if with_user else "", words[-1]
