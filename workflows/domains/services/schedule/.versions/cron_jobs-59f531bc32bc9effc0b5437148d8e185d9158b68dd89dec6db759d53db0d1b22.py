r"""List every cron job that is set up on a machine: for whom, when, and which command.

Reads `/etc/crontab`, the files in `/etc/cron.d`, the crontabs of the users in
`/var/spool/cron`, and the scripts in `/etc/cron.hourly`, `daily`, `weekly` and `monthly`.
Crontabs that may not be read (those of other users need root rights) are listed as errors.
Passwords and tokens on a command line are masked.

Args:
    root (str): Folder that stands for `/`: a backup or an image mounted elsewhere.
    user (str): Only jobs that run as this user; every user when empty.

Returns:
    rows (list[dict[str, Any]]): One a job: `user`, `schedule`, `command`, `source` (the file,
        below `root`), `line` (0 for a script in a periodic folder).
    total (int): How many jobs there are.
    users (dict[str, int]): Jobs of each user.
    errors (list[dict[str, Any]]): What could not be read or understood: `source`, `line`,
        `error`.

Side effects:
    none

Kind: read

Effects:
    paths: /etc/crontab, /etc/cron.*, /var/spool/cron
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {root: /tmp/machine}
      files:
        /tmp/machine/etc/crontab: |
          SHELL=/bin/sh
          # nightly
          17 3 * * * root /usr/local/bin/backup --password=hunter2
          bad line
        /tmp/machine/var/spool/cron/crontabs/ada: "@daily /home/ada/sync.sh\n"
        /tmp/machine/etc/cron.weekly/fstrim: "#!/bin/sh\n"
      output:
        rows:
          - {user: root, schedule: "@weekly", command: /etc/cron.weekly/fstrim,
             source: /etc/cron.weekly/fstrim, line: 0}
          - user: root
            schedule: 17 3 * * *
            command: /usr/local/bin/backup --password=***
            source: /etc/crontab
            line: 3
          - {user: ada, schedule: "@daily", command: /home/ada/sync.sh,
             source: /var/spool/cron/crontabs/ada, line: 1}
        total: 3
        users: {ada: 1, root: 2}
        errors:
          - {source: /etc/crontab, line: 4, error: "not a schedule and a command: bad line"}
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PERIODS = ("hourly", "daily", "weekly", "monthly")
_SPOOLS = ("var/spool/cron/crontabs", "var/spool/cron", "var/spool/cron/tabs")
_VARIABLE = re.compile(r"[A-Za-z_]\w*\s*=")
_LEFTOVER = re.compile(r"^\.|~$|\.(?:dpkg-\w+|rpm\w+|swp|bak|orig)$")
_FIELD = re.compile(r"[\d*?/,~A-Za-z#-]+")
_SECRET = re.compile(
    r"(?i)((?:[\w-]*(?:password|passwd|pwd|token|secret|api[_-]?key))(?:\s*=\s*|\s+))(\S+)"
    r"|(://[^\s/:@]*:)[^\s@]+(?=@)"
)


def run(root: str = "/", user: str = "") -> dict[str, Any]:
    base = Path(root)
    if not base.is_dir():
        raise FileNotFoundError(f"root {root!r} is no folder: name the folder that stands for /")
    rows: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for file, owner in _tables(base, errors):
        _read(file, owner, "/" + str(file.relative_to(base)), rows, errors)
    for period in _PERIODS:
        for script in _files(base / f"etc/cron.{period}", base, errors):
            source = "/" + str(script.relative_to(base))
            rows.append(
                {"user": "root", "schedule": f"@{period}", "command": source}
                | {"source": source, "line": 0}
            )
    rows = [row for row in rows if user in ("", row["user"])]
    rows.sort(key=lambda row: (row["source"], row["line"]))
    users = Counter(row["user"] for row in rows)
    return {
        "rows": rows,
        "total": len(rows),
        "users": dict(sorted(users.items())),
        "errors": errors,
    }


def _tables(base: Path, errors: list[dict[str, Any]]) -> Iterator[tuple[Path, str | None]]:
    """Every crontab with its owner; None where a column of the table names the user."""
    if (base / "etc/crontab").is_file():
        yield base / "etc/crontab", None
    for file in _files(base / "etc/cron.d", base, errors):
        yield file, None
    for spool in _SPOOLS:
        for file in _files(base / spool, base, errors):
            yield file, file.name


def _files(folder: Path, base: Path, errors: list[dict[str, Any]]) -> list[Path]:
    try:
        found = sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        errors.append(_error("/" + str(folder.relative_to(base)), 0, error.strerror or str(error)))
        return []
    return [file for file in found if file.is_file() and not _LEFTOVER.search(file.name)]


def _error(source: str, line: int, error: str) -> dict[str, Any]:
    return {"source": source, "line": line, "error": error}


def _read(
    file: Path,
    owner: str | None,
    source: str,
    rows: list[dict[str, Any]],
    errors: list[dict[str, Any]],
) -> None:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        errors.append(_error(source, 0, error.strerror or str(error)))
        return
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if not line or line.startswith("#") or _VARIABLE.match(line):
            continue
        fields = 1 if line.startswith("@") else 5
        words = line.split(None, fields + (owner is None))
        wanted = fields + (owner is None) + 1
        if len(words) < wanted or not all(
            _FIELD.fullmatch(word.removeprefix("@")) for word in words[:fields]
        ):
            errors.append(_error(source, number, f"not a schedule and a command: {_mask(line)}"))
            continue
        rows.append(
            {
                "user": words[fields] if owner is None else owner,
                "schedule": " ".join(words[:fields]),
                "command": _mask(words[-1]),
                "source": source,
                "line": number,
            }
        )


def _mask(command: str) -> str:
    return _SECRET.sub(lambda match: (match[1] or match[3]) + "***", command)
