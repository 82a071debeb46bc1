"""A Proxmox node for tests: programs that look like `qm` and `pvesh`, and a Pulsus with them.

    python tests/proxmox_node.py FOLDER serve --port 0

Pulsus takes programs from the folders of the system alone, so that PATH cannot lead it astray. This
file starts it with one folder more.
"""

from __future__ import annotations

import sys
from pathlib import Path

QM = """#!/bin/sh
printf '%s\\n' "qm $*" >> "{folder}/log"
[ "$1" = migrate ] || exit 1
if [ -e "{folder}/fails/$2" ]; then echo "can't lock file" >&2; exit 255; fi
[ -e "{folder}/lost/$2" ] || printf '%s' "$3" > "{folder}/where/$2"
"""
PVESH = """#!/bin/sh
printf '%s\\n' "pvesh $*" >> "{folder}/log"
node=$(echo "$2" | cut -d/ -f3); vmid=$(echo "$2" | cut -d/ -f5)
if [ "$1" = create ]; then printf '%s' "$node" > "{folder}/where/$vmid"; exit 0; fi
if [ "$(cat "{folder}/where/$vmid" 2>/dev/null)" = "$node" ]; then
  printf '{{"vmid": %s, "status": "running"}}' "$vmid"
else
  echo "Configuration file 'nodes/$node/qemu-server/$vmid.conf' does not exist" >&2; exit 2
fi
"""


class ProxmoxNode:
    """The programs in a folder, what they were called with, and where they think guests are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("where", "fails", "lost"):
            (folder / name).mkdir(parents=True)
        for name, text in (("qm", QM), ("pvesh", PVESH)):
            program = folder / name
            program.write_text(text.format(folder=folder), encoding="utf-8")
            program.chmod(0o755)

    @property
    def start(self) -> tuple[str, str]:
        """The arguments of Python that start a Pulsus which finds these programs."""
        return __file__, str(self.folder)

    @property
    def calls(self) -> list[str]:
        """The command lines so far."""
        log = self.folder / "log"
        return log.read_text("utf-8").splitlines() if log.exists() else []

    def where(self, vmid: int) -> str | None:
        """The node that a guest was moved to."""
        path = self.folder / "where" / str(vmid)
        return path.read_text("utf-8") if path.exists() else None

    def let(self, way: str, *vmids: int) -> None:
        """Forget everything, and let the migrations of these guests end that way from now on.

        `fails`: `qm` ends with an error. `lost`: it succeeds, and the guest is not on the target.
        """
        for name in ("where", "fails", "lost"):
            for path in (self.folder / name).iterdir():
                path.unlink()
        (self.folder / "log").unlink(missing_ok=True)
        for vmid in vmids:
            (self.folder / way / str(vmid)).touch()


def main() -> None:
    """Start Pulsus with the folder in front of the trusted ones."""
    from pulsus.__main__ import main as run
    from pulsus.commands import execution_plan

    vars(execution_plan)["PATH"] = (sys.argv[1], *execution_plan.PATH)
    sys.argv[1:2] = []
    run()


if __name__ == "__main__":
    main()
