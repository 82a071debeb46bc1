"""The main job, end to end, on this machine: route, explain, validate in the sandbox, run."""

import shlex
import subprocess
import sys
from pathlib import Path

PULSUS = Path(sys.executable).with_name("pulsus")
REQUEST = "how full are the disks of this machine"
COMPOSED = "find the biggest files in /var/log, then put them in a markdown table"

COMMANDS = (
    ("What works on this machine", ["doctor"]),
    (
        "One request: ranked, explained, and proven in the sandbox",
        ["route", REQUEST, "--explain", "--dry-run"],
    ),
    ("The same request, run here", ["route", REQUEST, "--run", "--non-interactive"]),
    ("Two steps: a plan, with the output of one wired to the next", ["route", COMPOSED, "--plan"]),
)


def main() -> int:
    """Run each command as a person would; stop at the first that fails."""
    for title, arguments in COMMANDS:
        print(f"\n# {title}\n$ pulsus {shlex.join(arguments)}\n", flush=True)
        status = subprocess.run([PULSUS, *arguments], check=False).returncode
        if status:
            print(f"\nthat ended with status {status} (docs/exit-codes.md)", file=sys.stderr)
            return status
    print('\nNow yours:  .venv/bin/pulsus "which processes use the most cpu"')
    return 0


if __name__ == "__main__":
    sys.exit(main())
