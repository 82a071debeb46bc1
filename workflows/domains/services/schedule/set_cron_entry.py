r"""Add a cron job for a user, or change its schedule: in the user's crontab or in /etc/cron.d.

An entry is known by its user and command. If there is one with another schedule, the schedule is
replaced, and otherwise a line is added. Everything else in the crontab stays. All five fields of
the schedule are checked first. A file in `/etc/cron.d` is replaced in one step. The crontab of a
user is set with the program `crontab`, so that cron notices it.

Args:
    schedule (str): When to run: minute, hour, day of month, month, day of week (`15 3 * * *`), or
        one of @hourly, @daily, @weekly, @monthly, @yearly, @reboot.
    command (str): What to run, in one line.
    user (str): The user it runs as; root when empty.
    file (str): A file with a column for the user, for example `/etc/cron.d/backup`, which is created
        if it does not exist; the crontab of the user when empty.
    dry_run (bool): True changes nothing and reports what would change.

Returns:
    line (str): The entry as it stands in the crontab.
    schedule (str): Its schedule, with single spaces.
    previous_schedule (str): The schedule that was replaced; empty if there was no entry.
    created (bool): True if the file is new.
    changed (bool): False if there was exactly this entry already.
    file (str): The file that was given; empty for the crontab of the user.

Side effects:
    Changes one crontab.

Kind: write

Target: user, file

Verify: services/schedule/cron_entry {command: "{{input.command}}", user: "{{input.user}}",
    file: "{{input.file}}"} expect {count: 1, schedule: "{{output.schedule}}", ...: ...}

Undo: services/schedule/remove_cron_entry {command: "{{input.command}}", user: "{{input.user}}",
    file: "{{input.file}}", previous_schedule: "{{output.previous_schedule}}",
    delete_empty: "{{output.created}}"}

Approval: operator

Owner: platform

Effects:
    paths: /var/spool/cron, the given file
    hosts: none
    commands: crontab

Secrets: none

Examples:
    - title: a new schedule for an entry that exists
      inputs: {schedule: "15 3 * * mon-fri", command: /opt/bin/dump.sh, user: nobody,
               file: /tmp/cron.d/dump, dry_run: false}
      files: {/tmp/cron.d/dump: "# nightly\n@daily nobody /opt/bin/dump.sh\n"}
      output:
        line: 15 3 * * mon-fri nobody /opt/bin/dump.sh
        schedule: 15 3 * * mon-fri
        previous_schedule: "@daily"
        created: false
        changed: true
        file: /tmp/cron.d/dump
    - title: a dry run
      inputs: {schedule: "@daily", command: /opt/bin/new.sh, user: nobody,
               file: /tmp/cron.d/new, dry_run: true}
      files: {/tmp/cron.d/other: ""}
      output: {line: "@daily nobody /opt/bin/new.sh", schedule: "@daily", previous_schedule: "",
               created: true, changed: true, file: /tmp/cron.d/new}
"""

from __future__ import annotations

import os
import pwd
import re
import secrets
import subprocess
from pathlib import Path
from typing import Any

_SHORT = (
    "@hourly",
    "@daily",
    "@midnight",
    "@weekly",
    "@monthly",
    "@yearly",
    "@annually",
    "@reboot",
)
_FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of month", 1, 31, ()),
    ("month", 1, 12, tuple("jan feb mar apr may jun jul aug sep oct nov dec".split())),
    ("day of week", 0, 7, tuple("sun mon tue wed thu fri sat".split())),
)
_TIMEOUT_S = 20


def run(
    schedule: str, command: str, user: str = "", file: str = "", dry_run: bool = False
) -> dict[str, Any]:
    when, user, command = _checked_schedule(schedule), user or "root", command.strip()
    if not command or any(mark in command + user for mark in "\n\r\0"):
        raise ValueError(f"command {command!r} has to be one line of text: change it")
    _check_user(user)
    created = False
    if file:
        _check_name(file)
        created = not Path(file).exists()
        text = "" if created else _read(Path(file))
    else:
        text = _crontab(user)
    line = " ".join([when, *([user] if file else []), command])
    new, previous = _with_entry(text, line, when, user if file else "", command)
    if new != text and not dry_run:
        if file:
            _replace(Path(file), new)
        else:
            _crontab(user, new)
    return {"line": line, "schedule": when, "previous_schedule": previous, "created": created} | {
        "changed": new != text,
        "file": file,
    }


def _with_entry(text: str, line: str, when: str, user: str, command: str) -> tuple[str, str]:
    """Return the crontab with the entry, and the schedule that the entry had before."""
    lines = text.splitlines(keepends=True)
    found = []
    for number, old in enumerate(lines):
        entry = _entry(old, with_user=bool(user))
        if entry and entry[1:] == (user, command):
            found.append((number, entry[0]))
    if len(found) > 1:
        raise ValueError(f"{len(found)} entries run {command!r}: leave one of them first")
    if not found:
        separator = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{separator}{line}\n", ""
    number, previous = found[0]
    if previous == when:
        return text, previous
    lines[number] = f"{line}\n"
    return "".join(lines), previous


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


def _checked_schedule(schedule: str) -> str:
    fields = schedule.split()
    if len(fields) == 1 and fields[0] in _SHORT:
        return fields[0]
    if len(fields) != len(_FIELDS):
        raise ValueError(
            f"schedule {schedule!r} has {len(fields)} fields: write minute, hour, day of month, "
            f"month and day of week, or one of {', '.join(_SHORT)}"
        )
    for text, (name, low, high, words) in zip(fields, _FIELDS, strict=True):
        for part in text.split(","):
            _check_part(part, name, low, high, words)
    return " ".join(fields)


def _check_part(part: str, name: str, low: int, high: int, words: tuple[str, ...]) -> None:
    match = re.fullmatch(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d+))?", part)
    ends = [each for each in (match[1], match[2]) if each] if match else []
    numbers = [words.index(e.lower()) + low if e.lower() in words else e for e in ends]
    if match is None or not all(str(number).isdecimal() for number in numbers):
        raise ValueError(f"{name} {part!r} is not understood: use numbers, a-b, */n or lists")
    values = [low, *map(int, numbers), high]
    if values != sorted(values) or (match[3] and not 1 <= int(match[3]) <= high):
        raise ValueError(f"{name} {part!r} is out of range: give {low} to {high}, low-high")


def _check_user(user: str) -> None:
    try:
        pwd.getpwnam(user)
    except KeyError:
        raise ValueError(f"user {user!r} does not exist here: create the user first") from None


def _check_name(file: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", Path(file).name) or not Path(file).is_absolute():
        raise ValueError(
            f"file {file!r} would be ignored by cron: give a full path whose name has only "
            "letters, digits, - and _"
        )


def _read(file: Path) -> str:
    if file.is_symlink():
        raise ValueError(f"{file} is a link: name the crontab itself")
    with file.open(encoding="utf-8", newline="") as stream:
        return stream.read()


def _crontab(user: str, text: str | None = None) -> str:
    """Return the crontab of the user, or set it to `text`."""
    argv = ["crontab", "-u", user, "-l" if text is None else "-"]
    done = subprocess.run(
        argv, input=text or "", capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode and "no crontab" not in done.stderr:
        raise OSError(f"crontab of {user}: {done.stderr.strip() or 'it failed without a message'}")
    return done.stdout


def _replace(file: Path, text: str) -> None:
    """Write the file in one step. A new one gets the mode that cron asks for."""
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="") as stream:
            if file.exists():
                info = file.stat()
                if (info.st_uid, info.st_gid) != (os.geteuid(), os.getegid()):
                    os.fchown(stream.fileno(), info.st_uid, info.st_gid)
                os.fchmod(stream.fileno(), info.st_mode & 0o7777)
            else:
                os.fchmod(stream.fileno(), 0o644)
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
