"""The main job, end to end, on this machine: route, explain, validate in the sandbox, run."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

PULSUS = Path(sys.executable).with_name("pulsus")
REQUEST = "how much memory and swap is free"
COMMAND = ["route", REQUEST, "--explain", "--run", "--non-interactive"]
NEXT = (
    '"which processes use the most cpu" --run',
    '"biggest files in /var/log, then a markdown table" --plan',
    "doctor",
)


def main() -> int:
    """Run the command as a person would, and say how to go on."""
    print("One request: the choice explained, the tool proven in the sandbox, then run here.")
    print(f"$ pulsus {shlex.join(COMMAND)}\n", flush=True)
    # A log of this run is for a reader too: COLUMNS asks for a layout of that width.
    columns = os.environ.get("COLUMNS") or ("" if sys.stdout.isatty() else "80")
    environ = os.environ | {"COLUMNS": columns}
    status = subprocess.run([PULSUS, *COMMAND], env=environ, check=False).returncode
    if status:
        print(f"\nthat ended with status {status} (docs/exit-codes.md)", file=sys.stderr)
        print("what works on this machine: .venv/bin/pulsus doctor", file=sys.stderr)
        return status
    print("\nNow yours:")
    for command in NEXT:
        print(f"  .venv/bin/pulsus {command}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
