r"""Count failed log-in attempts by user and source address, and flag likely brute force.

Reads an `auth.log` or `secure` file (sshd, su, sudo, PAM; plain or gzip-compressed) or the text
that `lastb` printed. Repeated messages of syslog are multiplied. Addresses with many attempts,
and any accepted log-in from such an address, are listed apart, because that is what one needs to
look at first.

Args:
    path (str): The log or saved `lastb` output; names ending in `.gz` are decompressed.
    top (int): How many combinations of user and address to list, at least 1.
    threshold (int): From how many attempts on an address counts as suspicious, at least 1.

Returns:
    rows (list[dict[str, Any]]): Most attempts first: `user`, `source` (address, host or
        terminal), `attempts`, `invalid_user` (the account does not exist), `last` (time stamp).
    total (int): How many failed attempts there were.
    users (dict[str, int]): Attempts on each user.
    sources (dict[str, int]): Attempts from each source, most first.
    suspicious (list[str]): Sources at or above the threshold.
    accepted_after (list[dict[str, Any]]): Log-ins accepted from suspicious sources: `user`,
        `source`, `time`.

Side effects:
    none

Kind: read

Effects:
    paths: the given log
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/auth.log, threshold: 2}
      files:
        /tmp/auth.log: |
          Mar  1 10:00:00 h sshd[1]: Failed password for invalid user admin from 192.0.2.7 port 9
          Mar  1 10:00:01 h sshd[1]: Failed password for root from 192.0.2.7 port 9 ssh2
          Mar  1 10:00:02 h sshd[1]: Accepted publickey for ada from 192.0.2.9 port 9 ssh2
      output:
        rows:
          - {user: admin, source: 192.0.2.7, attempts: 1, invalid_user: true,
             last: "Mar  1 10:00:00"}
          - {user: root, source: 192.0.2.7, attempts: 1, invalid_user: false,
             last: "Mar  1 10:00:01"}
        total: 2
        users: {admin: 1, root: 1}
        sources: {192.0.2.7: 2}
        suspicious: [192.0.2.7]
        accepted_after: []
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path
from typing import Any, TextIO

_STAMP = re.compile(r"([A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+)\s")
_REPEATED = re.compile(r"message repeated (\d+) times: \[ ")
_FAILED = (
    # The name is what the client sent and may hold blanks, so it is cut at the last " from ".
    re.compile(
        r"sshd\S*: (?:message repeated \d+ times: \[ )?Failed (?:password|publickey|none|"
        r"keyboard-interactive/pam) for (?P<invalid>invalid user )?(?P<user>.*) "
        r"from (?P<source>\S+) port \d+"
    ),
    re.compile(
        r"\b(?:su|sudo|login|gdm\S*|cockpit\S*)\S*: .*authentication failure;.*"
        r"tty=(?P<source>\S*).* user=(?P<user>\S+)"
    ),
    re.compile(r"FAILED LOGIN.* (?:on|from) '?(?P<source>[^' ]+)'? FOR '?(?P<user>[^', ]+)"),
    re.compile(r"FAILED SU \(to (?P<to>\S+)\) (?P<user>\S+) on (?P<source>\S+)"),
)
_ACCEPTED = re.compile(r"sshd\S*: Accepted \S+ for (?P<user>.*) from (?P<source>\S+) port \d+")
_LASTB = re.compile(
    r"(?P<user>\S+)? +(?P<line>(?:ssh|tty|pts)\S*) +(?:(?P<source>\S+) +)?"
    r"(?P<time>[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d)"
)
_LONGEST = 1024


def run(path: str, top: int = 20, threshold: int = 10) -> dict[str, Any]:
    if top < 1 or threshold < 1:
        raise ValueError(f"top {top} and threshold {threshold}: give at least 1 for both")
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    accepted: list[dict[str, Any]] = []
    with _open(path) as stream:
        for raw in stream:
            line = raw[:_LONGEST].rstrip()
            if welcome := _ACCEPTED.search(line):
                accepted.append(
                    {"user": welcome["user"], "source": welcome["source"], "time": _time(line)}
                )
                continue
            attempt = _attempt(line)
            if attempt is None:
                continue
            user, source, invalid, count, time = attempt
            row = rows.setdefault(
                (user, source),
                {"user": user, "source": source, "attempts": 0, "invalid_user": invalid}
                | {"last": time},
            )
            row["attempts"] += count
            row["last"] = time or row["last"]
            row["invalid_user"] = row["invalid_user"] or invalid
    users: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    for row in rows.values():
        users[row["user"]] += row["attempts"]
        sources[row["source"]] += row["attempts"]
    suspicious = [source for source, count in sources.most_common() if count >= threshold]
    ordered = sorted(rows.values(), key=lambda row: (-row["attempts"], row["user"], row["source"]))
    return {
        "rows": ordered[:top],
        "total": sum(users.values()),
        "users": dict(users.most_common()),
        "sources": dict(sources.most_common()),
        "suspicious": suspicious,
        "accepted_after": [entry for entry in accepted if entry["source"] in suspicious],
    }


def _open(path: str) -> TextIO:
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", errors="replace")
    return Path(path).open(encoding="utf-8", errors="replace")


def _time(line: str) -> str:
    found = _STAMP.match(line)
    return found[1] if found else ""


def _attempt(line: str) -> tuple[str, str, bool, int, str] | None:
    """User, source, whether the account is unknown, how often, and when."""
    for pattern in _FAILED:
        if found := pattern.search(line):
            groups = found.groupdict()
            repeated = _REPEATED.search(line)
            source = groups["source"] or "(local)"
            invalid = bool(groups.get("invalid"))
            return groups["user"], source, invalid, int(repeated[1]) if repeated else 1, _time(line)
    if found := _LASTB.match(line):
        return found["user"] or "(none)", found["source"] or found["line"], False, 1, found["time"]
    return None
