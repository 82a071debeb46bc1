"""Read the SMART health of a drive: its own verdict, wear, bad sectors, temperature and age.

Asks `smartctl --json --all`, or reads what it printed into a file. A tool that reads may not send
commands to a drive, so a real run needs `pulsus run --unconfined`, or a saved file.

Args:
    device (str): The drive, for example `/dev/sda`; give this or `path`.
    path (str): A file with the output of `smartctl --json --all`.

Returns:
    device (str): The drive.
    model (str): Its model.
    serial (str): Its serial number.
    passed (bool | None): The drive's own verdict; null if it gives none.
    temperature_c (int | None): Its temperature in degrees Celsius.
    power_on_hours (int | None): How long it has been on.
    reallocated (int | None): Sectors that were replaced.
    pending (int | None): Sectors that could not be read and wait to be replaced.
    uncorrectable (int | None): Sectors or reads that were lost.
    used_percent (int | None): Wear of a solid state drive.
    problems (list[str]): What speaks for a new drive.
    ok (bool): Whether the verdict is good and there are no problems.
    error (str): Why nothing could be read; empty if all went well.

Side effects:
    none

Kind: read

Owner: storage

Effects:
    paths: the given path, the given device
    hosts: none
    commands: smartctl

Secrets: none

Examples:
    - title: a disk with bad sectors, whose own verdict is still good
      inputs: {path: /tmp/sda.json}
      files:
        /tmp/sda.json: |
          {"smartctl": {"exit_status": 0}, "device": {"name": "/dev/sda"}, "model_name": "ST4000",
           "serial_number": "Z3", "smart_status": {"passed": true}, "temperature": {"current": 41},
           "power_on_time": {"hours": 30112}, "ata_smart_attributes": {"table": [
             {"id": 5, "name": "Reallocated_Sector_Ct", "raw": {"value": 24}},
             {"id": 197, "name": "Current_Pending_Sector", "raw": {"value": 8}},
             {"id": 198, "name": "Offline_Uncorrectable", "raw": {"value": 0}}]}}
      output:
        device: /dev/sda
        model: ST4000
        serial: Z3
        passed: true
        temperature_c: 41
        power_on_hours: 30112
        reallocated: 24
        pending: 8
        uncorrectable: 0
        used_percent: null
        problems: [24 sectors were replaced, 8 sectors wait to be replaced]
        ok: false
        error: ""
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

_TIMEOUT_S = 60
_ATTRIBUTES = {"reallocated": (5,), "pending": (197,), "uncorrectable": (198, 187)}
"""The numbers of attributes of ATA drives; the first one that a drive has counts."""


def run(device: str = "", path: str = "") -> dict[str, Any]:
    if bool(device) == bool(path):
        raise ValueError("give either device, for example /dev/sda, or path of a saved file")
    if device and not re.fullmatch(r"(/dev/)?[A-Za-z0-9][\w./:-]*", device):
        raise ValueError(f"device {device!r} is no drive: write for example /dev/sda")
    if device and not device.startswith("/"):
        device = f"/dev/{device}"
    try:
        text, error = _ask(device) if device else (Path(path).read_text(encoding="utf-8"), "")
        said = json.loads(text) if text else {}
        if not isinstance(said, dict):
            raise TypeError("it holds no object")
    except (ValueError, TypeError) as wrong:
        raise ValueError(
            f"{path or device}: no output of `smartctl --json --all` ({wrong})"
        ) from None
    found = _health(said)
    if not error and all(value is None for value in found.values()):
        told = said.get("smartctl", {}).get("messages", [])
        words = "; ".join(str(each.get("string", "")) for each in told)
        error = f"smartctl read nothing ({words or 'no message'}): try `--unconfined`, as root"
    problems = _problems(found)
    return {
        "device": str(said.get("device", {}).get("name", device)),
        "model": str(said.get("model_name", "")),
        "serial": str(said.get("serial_number", "")),
        **found,
        "problems": problems,
        "ok": not error and not problems and found["passed"] is not None,
        "error": error,
    }


def _ask(device: str) -> tuple[str, str]:
    try:
        done = subprocess.run(
            ["smartctl", "--json", "--all", device],
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        return "", "smartctl is not installed here: install smartmontools, or give a saved path"
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"smartctl could not be asked: {error}"
    return done.stdout.decode("utf-8", "replace"), ""


def _health(said: dict[str, Any]) -> dict[str, Any]:
    table = said.get("ata_smart_attributes", {}).get("table", [])
    raw = {row.get("id"): row.get("raw", {}).get("value") for row in table}
    nvme = said.get("nvme_smart_health_information_log", {})
    found: dict[str, Any] = {
        "passed": said.get("smart_status", {}).get("passed"),
        "temperature_c": said.get("temperature", {}).get("current"),
        "power_on_hours": said.get("power_on_time", {}).get("hours"),
    }
    for name, ids in _ATTRIBUTES.items():
        found[name] = next((raw[each] for each in ids if raw.get(each) is not None), None)
    if found["uncorrectable"] is None:
        found["uncorrectable"] = nvme.get("media_errors")
    return {**found, "used_percent": nvme.get("percentage_used")}


def _problems(found: dict[str, Any]) -> list[str]:
    problems = ["the drive itself expects to fail"] if found["passed"] is False else []
    texts = {
        "reallocated": "were replaced",
        "pending": "wait to be replaced",
        "uncorrectable": "were lost",
    }
    problems += [f"{found[key]} sectors {text}" for key, text in texts.items() if found[key]]
    if (found["used_percent"] or 0) >= 90:
        problems.append(f"{found['used_percent']} percent of its life are used")
    return problems
