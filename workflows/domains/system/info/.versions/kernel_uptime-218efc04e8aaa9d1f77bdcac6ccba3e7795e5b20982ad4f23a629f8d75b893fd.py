"""Show which kernel and distribution a machine runs, when it booted and how long it has been up.

Reads the kernel release, version and host name, the boot time and the uptime from `/proc`, and the
name of the distribution from os-release. On Debian and Ubuntu `reboot_required` says whether an
update waits for a reboot; `reboot_packages` names the packages that asked for it.

Args:
    proc (str): The kernel's information tree, or a copy of it from another machine.
    os_release (str): The file that names the distribution; empty tries the usual two places.
    reboot_flag (str): The file that exists when a reboot is needed.

Returns:
    hostname (str): Name of the machine.
    kernel (str): Kernel release, for example `6.1.0-18-amd64`.
    kernel_version (str): Build string of the kernel.
    distribution (str): Full name of the distribution; null where no os-release was found.
    distribution_id (str): Short name, for example `debian`; null where unknown.
    distribution_version (str): Version, for example `12`; null where it has none.
    booted_at (str): When the machine booted, in UTC.
    uptime_seconds (float): How long it has been up.
    uptime (str): The same in words, for example `3 days 4 h 5 min`.
    reboot_required (bool): Whether the reboot flag exists.
    reboot_packages (list[str]): Packages that asked for the reboot.

Side effects:
    none

Kind: read

Effects:
    paths: /proc, /etc/os-release, /usr/lib/os-release, /run/reboot-required
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a Debian machine that waits for a reboot
      inputs:
        proc: /tmp/kernel_uptime/proc
        os_release: /tmp/kernel_uptime/os-release
        reboot_flag: /tmp/kernel_uptime/reboot-required
      files:
        /tmp/kernel_uptime/proc/sys/kernel/hostname: "web1"
        /tmp/kernel_uptime/proc/sys/kernel/osrelease: "6.1.0-18-amd64"
        /tmp/kernel_uptime/proc/sys/kernel/version: "#1 SMP Debian 6.1.76-1"
        /tmp/kernel_uptime/proc/uptime: "273900.50 1000.00"
        /tmp/kernel_uptime/proc/stat: "btime 1700000000"
        /tmp/kernel_uptime/os-release: |
          PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
          VERSION_ID="12"
          ID=debian
        /tmp/kernel_uptime/reboot-required: ""
        /tmp/kernel_uptime/reboot-required.pkgs: "linux-image-amd64"
      output:
        hostname: web1
        kernel: 6.1.0-18-amd64
        kernel_version: "#1 SMP Debian 6.1.76-1"
        distribution: Debian GNU/Linux 12 (bookworm)
        distribution_id: debian
        distribution_version: "12"
        booted_at: "2023-11-14T22:13:20+00:00"
        uptime_seconds: 273900.5
        uptime: 3 days 4 h 5 min
        reboot_required: true
        reboot_packages: [linux-image-amd64]
    - title: this machine
      inputs: {}
"""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

USUAL = ("/etc/os-release", "/usr/lib/os-release")


def run(
    proc: str = "/proc", os_release: str = "", reboot_flag: str = "/run/reboot-required"
) -> dict[str, Any]:
    """Read the kernel's own description of the machine."""
    root = Path(proc)
    names = _names(os_release)
    seconds = float(_text(root / "uptime").split()[0])
    booted = re.search(r"^btime (\d+)", _text(root / "stat"), re.MULTILINE)
    if booted is None:
        raise ValueError(f"{root / 'stat'} has no btime line: give /proc or a copy of it")
    flag = Path(reboot_flag)
    packages = flag.with_name(flag.name + ".pkgs")
    return {
        "hostname": _text(root / "sys/kernel/hostname"),
        "kernel": _text(root / "sys/kernel/osrelease"),
        "kernel_version": _text(root / "sys/kernel/version"),
        "distribution": names.get("PRETTY_NAME") or names.get("NAME"),
        "distribution_id": names.get("ID"),
        "distribution_version": names.get("VERSION_ID"),
        "booted_at": datetime.fromtimestamp(int(booted[1]), UTC).isoformat(),
        "uptime_seconds": seconds,
        "uptime": _words(int(seconds)),
        "reboot_required": flag.exists(),
        "reboot_packages": sorted(set(_text(packages).split())) if packages.exists() else [],
    }


def _names(given: str) -> dict[str, str]:
    """The assignments of os-release; none where the usual places have no such file."""
    path = next((p for p in map(Path, USUAL) if p.exists()), None) if not given else Path(given)
    names = {}
    for line in _text(path).splitlines() if path else ():
        key, equals, value = line.strip().partition("=")
        if equals and not key.startswith("#"):
            try:
                names[key] = " ".join(shlex.split(value))
            except ValueError:  # a quote that is never closed
                names[key] = value
    return names


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="backslashreplace").strip()


def _words(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    hours, minutes = rest // 3600, rest % 3600 // 60
    head = f"{days} day{'' if days == 1 else 's'} " if days else ""
    return f"{head}{hours} h {minutes} min"
