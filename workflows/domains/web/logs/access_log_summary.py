r"""Summarise an nginx or Apache access log: requests, status codes, top paths, top clients.

Reads the common and the combined log format, plain or gzip-compressed, line by line, so large
logs are fine. Query strings are cut off, because they often hold tokens and split one path into
many. Lines that do not fit the format are counted, not guessed.

Args:
    path (str): The access log; names ending in `.gz` are decompressed.
    top (int): How many paths, clients and user agents to list, at least 1.
    status (int): Count only requests with this status code, such as 404; 0 means every status.

Returns:
    rows (list[dict[str, Any]]): The busiest paths: `path`, `requests`, `errors` (status 400 and
        above), `bytes`.
    requests (int): How many requests were counted.
    bytes (int): Bytes sent in answer to them.
    error_percent (float): Share of requests with status 500 and above.
    statuses (list[dict[str, Any]]): `status`, `requests`, in order of status.
    clients (list[dict[str, Any]]): `client`, `requests`, busiest first.
    agents (list[dict[str, Any]]): `agent`, `requests`, busiest first.
    methods (dict[str, int]): Requests of each HTTP method.
    first (str | None): Time of the first request, ISO 8601.
    last (str | None): Time of the last request, ISO 8601.
    malformed (int): Lines that are no access-log line.

Side effects:
    none

Kind: read

Effects:
    paths: the given log
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/access.log, top: 1}
      files:
        /tmp/access.log: |
          10.0.0.1 - - [01/Mar/2025:10:00:00 +0000] "GET /a?token=1 HTTP/1.1" 200 100 "-" "curl/8"
          10.0.0.1 - - [01/Mar/2025:10:00:05 +0000] "GET /a HTTP/1.1" 500 20 "-" "curl/8"
          10.0.0.2 - bob [01/Mar/2025:10:00:09 +0000] "POST /b HTTP/1.1" 201 - "-" "x \"y\""
          not a request
      output:
        rows: [{path: /a, requests: 2, errors: 1, bytes: 120}]
        requests: 3
        bytes: 120
        error_percent: 33.33
        statuses:
          - {status: 200, requests: 1}
          - {status: 201, requests: 1}
          - {status: 500, requests: 1}
        clients: [{client: 10.0.0.1, requests: 2}]
        agents: [{agent: curl/8, requests: 2}]
        methods: {GET: 2, POST: 1}
        first: "2025-03-01T10:00:00+00:00"
        last: "2025-03-01T10:00:09+00:00"
        malformed: 1
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

_LINE = re.compile(
    r"(?P<client>\S+) \S+ (?P<user>[^\[]{1,256}) \[(?P<time>[^\]]+)\] "
    r'"(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}) (?P<bytes>\d+|-)'
    r'(?: "(?:[^"\\]|\\.)*" "(?P<agent>(?:[^"\\]|\\.)*)")?'
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LONGEST = 65536


def run(path: str, top: int = 10, status: int = 0) -> dict[str, Any]:
    if top < 1:
        raise ValueError(f"top {top} lists nothing: give at least 1")
    if status and not 100 <= status <= 599:
        raise ValueError(f"status {status} is no HTTP status: give 100 to 599, or 0 for all")
    paths: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    sent: Counter[str] = Counter()
    clients: Counter[str] = Counter()
    agents: Counter[str] = Counter()
    methods: Counter[str] = Counter()
    statuses: Counter[int] = Counter()
    malformed = known = 0
    first = last = None
    with _open(path) as stream:
        for line in stream:
            if not line.strip():
                continue
            match = _LINE.match(line[:_LONGEST])
            when = _time(match["time"]) if match else None
            if match is None or when is None or when.tzinfo is None:
                malformed += 1
                continue
            known += 1
            code = int(match["status"])
            if status and code != status:
                continue
            method, target = _request(match["request"])
            paths[target] += 1
            errors[target] += code >= 400
            sent[target] += 0 if match["bytes"] == "-" else int(match["bytes"])
            clients[match["client"]] += 1
            agents[match["agent"] or "-"] += 1
            methods[method] += 1
            statuses[code] += 1
            first = when if first is None else min(first, when)
            last = when if last is None else max(last, when)
    if malformed and not known:
        raise ValueError(
            f"none of the {malformed} lines of {path} is in the common or combined log format: "
            "this tool reads no other log"
        )
    requests = sum(statuses.values())
    failed = sum(count for code, count in statuses.items() if code >= 500)
    return {
        "rows": [
            {"path": name, "requests": count, "errors": errors[name], "bytes": sent[name]}
            for name, count in paths.most_common(top)
        ],
        "requests": requests,
        "bytes": sum(sent.values()),
        "error_percent": round(100 * failed / requests, 2) if requests else 0.0,
        "statuses": [{"status": code, "requests": statuses[code]} for code in sorted(statuses)],
        "clients": [{"client": name, "requests": n} for name, n in clients.most_common(top)],
        "agents": [{"agent": name, "requests": n} for name, n in agents.most_common(top)],
        "methods": dict(sorted(methods.items())),
        "first": first.isoformat() if first else None,
        "last": last.isoformat() if last else None,
        "malformed": malformed,
    }


def _open(path: str) -> TextIO:
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", errors="replace")
    return Path(path).open(encoding="utf-8", errors="replace")


def _time(text: str) -> datetime | None:
    """The log's own time format, read without the locale's month names."""
    try:
        day, month, rest = text.split("/", 2)
        year, clock = rest.split(":", 1)
        number = _MONTHS.index(month) + 1
        return datetime.fromisoformat(f"{year}-{number:02}-{day}T{clock.replace(' ', '')}")
    except ValueError:
        return None


def _request(request: str) -> tuple[str, str]:
    parts = request.split(" ")
    if len(parts) < 2 or not parts[0].isalpha():
        return "(invalid)", "(invalid)"
    return parts[0].upper(), re.split("[?#;]", parts[1], maxsplit=1)[0] or "/"
