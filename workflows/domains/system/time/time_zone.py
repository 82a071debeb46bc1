"""Show which time zone a machine is in, its offset from UTC, and what the local time is.

Reads the zone that the link `/etc/localtime` leads to, or the name in `/etc/timezone` if it is no
link. Without `/etc/localtime` a machine runs on UTC. `conflict` says that the two name different
zones: programs then show different local times. A variable `TZ` of a single program is not looked
at.

Args:
    localtime (str): The zone file of the machine, or the link to it.
    timezone (str): The file with the name of the zone, which Debian and Ubuntu keep.
    moment (str): The date and time to answer for, ISO 8601, UTC if it has no offset; now when
        empty.

Returns:
    zone (str): Name of the zone, for example `Europe/Berlin`; null if no file says it.
    abbreviation (str): What the zone is called at that moment, for example `CET`.
    utc_offset (str): Offset from UTC at that moment, for example `+01:00`.
    daylight_saving (bool): Whether daylight saving time applies at that moment.
    local_time (str): The time of the machine, ISO 8601.
    utc_time (str): The same moment in UTC, ISO 8601.
    conflict (str | None): How the two files disagree; null if they do not.
    ok (bool): Whether they do not disagree.

Side effects:
    none

Kind: read

Effects:
    paths: /etc/localtime, /etc/timezone, /usr/share/zoneinfo
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a copy of the zone file, three hours ahead of UTC
      inputs:
        localtime: /tmp/time_zone/localtime
        timezone: /tmp/time_zone/timezone
        moment: "2026-03-01T10:00:00Z"
      files:
        /tmp/time_zone/localtime: {base64: "VFppZjIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAQAACowAAArMDMAVFppZjIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAQAACowAAArMDMACjwrMDM+LTMK"}
        /tmp/time_zone/timezone: "Etc/GMT-3\\n"
      output:
        zone: Etc/GMT-3
        abbreviation: "+03"
        utc_offset: "+03:00"
        daylight_saving: false
        local_time: "2026-03-01T13:00:00+03:00"
        utc_time: "2026-03-01T10:00:00+00:00"
        conflict: null
        ok: true
    - title: this machine
      inputs: {}
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

MOST_BYTES = 1_000_000


def run(
    localtime: str = "/etc/localtime", timezone: str = "/etc/timezone", moment: str = ""
) -> dict[str, Any]:
    """Read the zone of the machine and apply it to one moment."""
    time = _moment(moment)
    zone, linked = _zone(Path(localtime))
    written = _written(Path(timezone))
    local = time.astimezone(zone)
    conflict = None
    if linked and written and not _same(linked, written, time):
        conflict = f"{localtime} leads to {linked}, and {timezone} says {written}"
    return {
        "zone": linked or written,
        "abbreviation": local.tzname() or "",
        "utc_offset": local.isoformat()[-6:],
        "daylight_saving": bool(local.dst()),
        "local_time": local.isoformat(timespec="seconds"),
        "utc_time": time.isoformat(timespec="seconds"),
        "conflict": conflict,
        "ok": conflict is None,
    }


def _moment(text: str) -> datetime:
    if not text:
        return datetime.now(UTC)
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (OverflowError, ValueError):
        raise ValueError(f"moment {text!r} is no time: write 2026-03-01T10:00:00Z") from None


def _zone(path: Path) -> tuple[tzinfo, str | None]:
    """Return the zone, and its name if the path is a link into the zone database."""
    if not path.exists():
        if path.is_symlink():
            raise ValueError(f"{path} leads to {os.readlink(path)}, which does not exist")
        return UTC, "UTC"
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path} is larger than {MOST_BYTES} bytes: it is no zone file")
    try:
        with path.open("rb") as stream:
            zone = ZoneInfo.from_file(stream)
    except ValueError as error:
        raise ValueError(f"{path} is no zone file: {error}") from None
    if not path.is_symlink():
        return zone, None
    name = str(path.resolve()).partition("/zoneinfo/")[2]
    return zone, name.removeprefix("posix/").removeprefix("right/") or None


def _written(path: Path) -> str | None:
    """Return the name in the file, its first line that is no comment."""
    try:
        text = path.read_text(encoding="utf-8", errors="backslashreplace")
    except FileNotFoundError:
        return None
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return next((line for line in lines if line), None)


def _same(linked: str, written: str, time: datetime) -> bool:
    """Return True for one zone, also by two names such as `UTC` and `Etc/UTC`."""
    if linked == written:
        return True
    try:
        zones = ZoneInfo(linked), ZoneInfo(written)
    except (OSError, ValueError):
        return False
    # Half a year apart, because zones may differ in daylight saving time alone.
    moments = (time, time - timedelta(days=182))
    return all(len({m.astimezone(z).utcoffset() for z in zones}) == 1 for m in moments)
