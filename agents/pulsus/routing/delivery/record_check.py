"""Whether the records of what is about to run were approved by this user (ADR 31).

Effect: reads the catalogue's records, the decision log and the user's state folder; may ask git.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.storage import catalogue_lock
from pulsus.core.storage.decision_log import decision_log, user_witness
from pulsus.core.storage.decision_log.user_witness import Witness
from pulsus.core.storage.record_status import RecordStatus, record_status
from pulsus.core.storage.records import metadata
from pulsus.core.storage.records.metadata import Record
from pulsus.core.storage.records.record_key import decision_key
from pulsus.core.storage.records.target import Target
from pulsus.core.telemetry.ids import Clock
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import ToolSpec
from pulsus.errors import RecordChanged, RecordUnknown, StorageUnwritable
from pulsus.routing.delivery.trusted_signers import SignedRecords

_LOG = logging.getLogger("pulsus")

ACCEPT = "pulsus audit --accept-records"
"""The command that accepts records."""


@dataclass(frozen=True, slots=True)
class RecordCheck:
    """Checks the records of one project. `signers` are the keys that `audit.trusted_signers` lists.

    Without a decision log every record counts, with a warning: nothing says who approved it.
    """

    workflows_root: Path
    state_dir: Path
    clock: Clock
    redactor: Redactor
    lock_seconds: float
    signers: tuple[str, ...] = ()

    def unknown(self, tools: Sequence[ToolSpec]) -> tuple[str, ...]:
        """Return a clause for each tool whose record this user did not approve.

        A promotion that another process is just making is waited for.

        Raises RecordChanged for a record that the log contradicts, AuditTampered for a log that is
        not the one this user wrote to, UserStateInvalid, MetadataCorrupt, Busy, StorageUnwritable.
        """
        witness = Witness.of(self.state_dir / "audit")
        if not self._has_log(witness):
            return ()
        if not self._judged(tools, witness):
            return ()
        self._wait()
        return self._named(self._judged(tools, witness), tools)

    def require_version(self, target: Target, version: str) -> None:
        """Raise RecordUnknown if this user approved no record of that version of a tool.

        Its bytes would come back under this user's name: a planted record must not choose them.
        Raises AuditTampered, UserStateInvalid, MetadataCorrupt.
        """
        witness = Witness.of(self.state_dir / "audit")
        if not self._has_log(witness):
            return
        found = metadata.read(self.workflows_root.joinpath(*target.folders, metadata.FILE_NAME))
        of_name = [record for record in found if record.name == f"{target.name}.py"]
        approvals = witness.approvals()
        of_version = [record for record in of_name if record.version == version]
        if not all(approvals.knows(target.tool_id, decision_key(r)) for r in of_version):
            raise RecordUnknown(
                f"{target.tool_id} is not set back to {version}: its record is not in your "
                "decision log",
                hint=f"look at the records and accept them: {ACCEPT}",
                tool=target.tool_id,
            )

    def _has_log(self, witness: Witness) -> bool:
        match = witness.match()
        if match in user_witness.MOVED:
            raise decision_log.tampered(
                witness.folder, f"(LOG_{match.upper()}): {user_witness.REASONS[match]}"
            )
        if match == "none":
            _LOG.warning(
                "no decision log here: nothing says who approved the tools that run; the next "
                "promotion begins one"
            )
        elif match == "unseen":
            _LOG.warning(
                "this user never wrote to the decision log in %s: it approves nothing here",
                witness.folder,
            )
        return match != "none"

    def _judged(
        self, tools: Iterable[ToolSpec], witness: Witness
    ) -> dict[str, tuple[Record, RecordStatus]]:
        """Every record that is not approved, with its status."""
        approvals = witness.approvals()
        log = decision_log.name_of(witness.folder)
        found = {}
        for tool in tools:
            records = records_of(self.workflows_root, tool)
            if records:
                status = record_status(records, approvals, witness.folder, log)
                if status.status != "approved":
                    found[tool.id] = (records[-1], status)
        return found

    def _named(
        self, found: dict[str, tuple[Record, RecordStatus]], tools: Sequence[ToolSpec]
    ) -> tuple[str, ...]:
        for tool, (_, status) in found.items():
            if status.status == "contradicted":
                raise RecordChanged(
                    f"{tool} is not run: {status.reason}",
                    hint="restore metadata.jsonl and the module from version control, or look at "
                    f"what was changed and accept it: {ACCEPT}",
                    tool=tool,
                )
        signed = SignedRecords(self.workflows_root, self.signers)
        paths = {tool.id: tool.path for tool in tools}
        return tuple(
            f"{tool}: {status.reason}"
            for tool, (record, status) in found.items()
            if not signed.signed(record, paths[tool])
        )

    def _wait(self) -> None:
        """Wait for a promotion on its way, and finish one that was interrupted."""
        with (
            suppress(StorageUnwritable),
            catalogue_lock.exclusive(
                self.workflows_root,
                self.state_dir,
                clock=self.clock,
                redactor=self.redactor,
                lock_seconds=self.lock_seconds,
            ),
        ):
            return


def records_of(root: Path, tool: ToolSpec) -> tuple[Record, ...]:
    """Every record of the tool, oldest first. Raises MetadataCorrupt, StorageUnwritable."""
    place = Target(tool.domain, tool.action, tool.name)
    found = metadata.read(root.joinpath(*place.folders, metadata.FILE_NAME))
    return tuple(record for record in found if record.name == f"{tool.name}.py")
