"""List which installed packages have newer versions waiting, security ones first.

Asks `apt` on Debian and Ubuntu, or reads its saved output. Package lists are not refreshed, so
nothing is downloaded: `lists_age_hours` says how old they are, and an old list hides updates. A
package counts as a security update when one of its origins has `security` in its name. Where apt
is missing or fails, `error` says so and `ok` is false.

Args:
    saved (str): A file with output of `apt list --upgradable`; empty asks apt on this machine.
    security_only (bool): Return only security updates.
    timeout_seconds (float): How long apt may take.
    lists (str): The folder of package lists, for their age.

Returns:
    rows (list[dict[str, Any]]): One a package, security updates first: `package`, `installed`,
        `available`, `architecture`, `origins` (list), `security`.
    count (int): How many updates wait; null where it is not known.
    security_count (int): How many of them are security updates; null where it is not known.
    lists_age_hours (float): Age of the package lists; null for saved output or where unknown.
    ok (bool): Whether the answer is known and no security update waits.
    error (str): Why the answer is not known; null where it is.

Side effects:
    none

Kind: read

Effects:
    paths: /var/lib/apt/lists, the saved file
    hosts: none
    commands: apt list --upgradable

Secrets: none

Examples:
    - title: saved output with one security update
      inputs: {saved: /tmp/pending_updates/apt.txt}
      files:
        /tmp/pending_updates/apt.txt: |
          Listing... Done
          curl/stable 7.88.1-10+deb12u6 amd64 [upgradable from: 7.88.1-10+deb12u5]
          openssl/stable-security,now 3.0.13-1 amd64 [upgradable from: 3.0.11-1]
      output:
        rows:
          - {package: openssl, installed: 3.0.11-1, available: 3.0.13-1, architecture: amd64,
             origins: [stable-security], security: true}
          - {package: curl, installed: 7.88.1-10+deb12u5, available: 7.88.1-10+deb12u6,
             architecture: amd64, origins: [stable], security: false}
        count: 2
        security_count: 1
        lists_age_hours: null
        ok: false
        error: null
    - title: this machine
      inputs: {}
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

ROW = re.compile(r"^(\S+?)/(\S+) (\S+) (\S+) \[[^\]]+: (\S+)\]", re.MULTILINE)
COMMAND = ("apt", "list", "--upgradable")


def run(
    saved: str = "",
    security_only: bool = False,
    timeout_seconds: float = 60.0,
    lists: str = "/var/lib/apt/lists",
) -> dict[str, Any]:
    """Read saved output or ask apt, and sort security updates to the front."""
    if not timeout_seconds > 0:
        raise ValueError(f"timeout_seconds {timeout_seconds} is no time: give more than 0")
    if saved:
        text = Path(saved).read_text(encoding="utf-8", errors="backslashreplace")
        if "Listing..." not in text and not ROW.search(text):
            raise ValueError(
                f"{saved} is no apt output: save that of `LC_ALL=C apt list --upgradable`"
            )
        error = None
    else:
        text, error = _ask_apt(timeout_seconds)
    rows = [_row(match) for match in ROW.finditer(text)]
    rows.sort(key=lambda row: (not row["security"], row["package"]))
    security = [row for row in rows if row["security"]]
    return {
        "rows": security if security_only else rows,
        "count": len(rows) if error is None else None,
        "security_count": len(security) if error is None else None,
        "lists_age_hours": None if saved else _age_hours(Path(lists)),
        "ok": error is None and not security,
        "error": error,
    }


def _ask_apt(timeout_seconds: float) -> tuple[str, str | None]:
    try:
        done = subprocess.run(
            COMMAND,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_seconds,
            env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C"},
            check=False,
        )
    except FileNotFoundError:
        return "", "apt is not on this machine: save its output elsewhere and give it as `saved`"
    except PermissionError as error:
        return "", f"apt may not be started: {error.strerror}"
    except subprocess.TimeoutExpired:
        return "", f"apt took longer than {timeout_seconds} seconds: give a larger timeout_seconds"
    if done.returncode:
        last = done.stderr.decode("utf-8", "backslashreplace").strip().splitlines()[-1:]
        return "", f"apt ended with {done.returncode}: {''.join(last)}"
    return done.stdout.decode("utf-8", "backslashreplace"), None


def _row(match: re.Match[str]) -> dict[str, Any]:
    package, origins, available, architecture, installed = match.groups()
    names = [name for name in origins.split(",") if name != "now"]
    return {
        "package": package,
        "installed": installed,
        "available": available,
        "architecture": architecture,
        "origins": names,
        "security": any("security" in name for name in names),
    }


def _age_hours(lists: Path) -> float | None:
    try:
        newest = max(entry.stat().st_mtime for entry in lists.iterdir() if entry.is_file())
    except (OSError, ValueError):
        return None
    return round(max(time.time() - newest, 0) / 3600, 1)
