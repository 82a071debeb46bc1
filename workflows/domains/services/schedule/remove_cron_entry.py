r"""Remove a cron job of a user: from the user's crontab or from a file in /etc/cron.d.

An entry is known by its user and command. Everything else in the crontab stays. With a previous
schedule the entry stays and gets that schedule back. If there is no such entry, nothing is done.
The crontab of a user is set with the program `crontab`, so that cron notices it.

Args:
    command (str): The command of the entry.
    user (str): The user it runs as; root when empty.
    file (str): A file with a column for the user, for example `/etc/cron.d/backup`; the crontab of
        the user when empty.
    previous_schedule (str): Give the entry this schedule instead of removing it.
    delete_empty (bool): Delete the file if nothing is left in it. The crontab of a user is always
        deleted then.
    dry_run (bool): True changes nothing and reports what would change.

Returns:
    schedule (str): The schedule of the entry after the run; empty if it was removed.
    removed_schedule (str): The schedule that was removed or replaced; empty if there was no entry.
    deleted (bool): True if the crontab was, or would be, deleted.
    changed (bool): False if there was nothing to do.

Side effects:
    Changes or deletes one crontab.

Kind: write

Target: user, file

Verify: services/schedule/cron_entry {command: "{{input.command}}", user: "{{input.user}}",
    file: "{{input.file}}"} expect {schedule: "{{output.schedule}}", ...: ...}

Approval: operator

Owner: platform

Effects:
    paths: /var/spool/cron, the given file
    hosts: none
    commands: crontab

Secrets: none

Examples:
    - title: one of two entries
      inputs: {command: /opt/bin/dump.sh, user: backup, file: /tmp/cron.d/dump, dry_run: false}
      files:
        /tmp/cron.d/dump: "@daily backup /opt/bin/dump.sh\n@hourly root /opt/bin/sync.sh\n"
      output: {schedule: "", removed_schedule: "@daily", deleted: false, changed: true}
    - title: a dry run
      inputs: {command: /opt/bin/dump.sh, file: /tmp/cron.d/dump, delete_empty: true, dry_run: true}
      files: {/tmp/cron.d/dump: "@daily root /opt/bin/dump.sh\n"}
      output: {schedule: "", removed_schedule: "@daily", deleted: true, changed: true}
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
from pathlib import Path
from typing import Any

_TIMEOUT_S = 20


def run(
    command: str,
    user: str = "",
    file: str = "",
    previous_schedule: str = "",
    delete_empty: bool = False,
    dry_run: bool = False,
) -> dict[str, Any]:
    user, command = user or "root", command.strip()
    if not command or any(mark in command + user + previous_schedule for mark in "\n\r\0"):
        raise ValueError(f"command {command!r} has to be one line of text: change it")
    if file:
        text = _read(Path(file)) if os.path.lexists(file) else ""
    else:
        text = _crontab(user)
    new, removed = _without(text, previous_schedule, user if file else "", command)
    deleted = bool(removed) and not new.strip() and (delete_empty or not file)
    if new != text and not dry_run:
        if not file:
            _crontab(user, new)
        elif deleted:
            Path(file).unlink()
        else:
            _replace(Path(file), new)
    return {"schedule": previous_schedule if removed else "", "removed_schedule": removed} | {
        "deleted": deleted,
        "changed": new != text,
    }


def _without(text: str, previous: str, user: str, command: str) -> tuple[str, str]:
    """Return the crontab without the entry, and the schedule that the entry had."""
    lines = text.splitlines(keepends=True)
    found = []
    for number, old in enumerate(lines):
        entry = _entry(old, with_user=bool(user))
        if entry and entry[1:] == (user, command):
            found.append((number, entry[0]))
    if len(found) > 1:
        raise ValueError(f"{len(found)} entries run {command!r}: remove them by hand")
    if not found:
        return text, ""
    number, removed = found[0]
    line = " ".join([previous, *([user] if user else []), command]) + "\n"
    lines[number] = line if previous else ""
    return ("".join(lines), removed) if previous != removed else (text, removed)


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


def _read(file: Path) -> str:
    if file.is_symlink():
        raise ValueError(f"{file} is a link: name the crontab itself")
    with file.open(encoding="utf-8", newline="") as stream:
        return stream.read()


def _crontab(user: str, text: str | None = None) -> str:
    """Return the crontab of the user, or set it to `text`. An empty one is deleted."""
    last = "-l" if text is None else "-" if text.strip() else "-r"
    argv = ["crontab", "-u", user, last]
    done = subprocess.run(
        argv, input=text or "", capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode and "no crontab" not in done.stderr:
        raise OSError(f"crontab of {user}: {done.stderr.strip() or 'it failed without a message'}")
    return done.stdout


def _replace(file: Path, text: str) -> None:
    """Write the file in one step; it keeps mode and owner."""
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="") as stream:
            info = file.stat()
            if (info.st_uid, info.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(stream.fileno(), info.st_uid, info.st_gid)
            os.fchmod(stream.fileno(), info.st_mode & 0o7777)
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
