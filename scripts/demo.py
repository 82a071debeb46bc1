"""The main job, end to end, on this machine: validate in the sandbox, route, explain, run."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

PULSUS = Path(sys.executable).with_name("pulsus")
REQUEST = "how much memory and swap is free"
PROVEN = ("workflows/domains/memory", "workflows/domains/system/load")
COMMANDS = (
    ["validate", *PROVEN],
    ["route", REQUEST, "--explain", "--run", "--non-interactive"],
)


def main() -> int:
    """Run each command as a person would; stop at the first that fails."""
    # A log of this run is for a reader too: COLUMNS asks for a layout of that width.
    columns = os.environ.get("COLUMNS") or ("" if sys.stdout.isatty() else "80")
    environ = os.environ | {"COLUMNS": columns}
    for arguments in COMMANDS:
        print(f"$ pulsus {shlex.join(arguments)}", flush=True)
        status = subprocess.run([PULSUS, *arguments], env=environ, check=False).returncode
        if status:
            print(f"\nthat ended with status {status} (docs/exit-codes.md)", file=sys.stderr)
            print("what works on this machine: .venv/bin/pulsus doctor", file=sys.stderr)
            return status
        print(flush=True)
    print('Now yours:  .venv/bin/pulsus "which processes use the most cpu" --run')
    return 0


if __name__ == "__main__":
    sys.exit(main())
