"""Check whether this user approved the records of the tools that are about to run (ADR 31).

A tool whose record is unapproved (RECORD_UNKNOWN), or was tampered with (RECORD_CHANGED), does not
run as usual: `routing/runs/run_checks.py` decides how. One record is judged in
`core/storage/record_status.py`. A git signature of a key in `audit.trusted_signers` is verified
here, and counts as an approval.

Effect: reads the catalogue's records, the decision log and the user's state folder; may ask git.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pulsus.config.trust.signers import openpgp_key, ssh_key
from pulsus.core.storage.catalogue_lock import CatalogueStore
from pulsus.core.storage.decision_log import append_position, user_witness
from pulsus.core.storage.decision_log.user_witness import ACCEPT, Witness
from pulsus.core.storage.record_status import RecordStatus, record_status
from pulsus.core.storage.records import promotion_records, version_archive
from pulsus.core.storage.records.current_revision import read_records
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.storage.records.record_key import decision_key
from pulsus.core.types import ToolSpec
from pulsus.core.validators.git_objects import GitObjects
from pulsus.errors import RecordChanged, RecordUnknown, StorageUnwritable
from pulsus.late_pattern import late_pattern

_LOG = logging.getLogger("pulsus")


@dataclass(frozen=True, slots=True)
class RecordCheck:
    """Checks the records of one project. `signers` are the keys that `audit.trusted_signers` lists.

    Without a decision log every record counts, with a warning: nothing says who approved it.
    """

    store: CatalogueStore
    signers: tuple[str, ...] = ()

    @property
    def signatures(self) -> SignedRecords:
        """Return the check of the commits that brought records."""
        return SignedRecords(self.store.workflows_root, self.signers)

    @property
    def how_to_accept(self) -> str:
        """Return what to do so that unknown records count."""
        return user_witness.how_to_accept(self.store.log_folder)

    def unknown(self, tools: Sequence[ToolSpec]) -> tuple[str, ...]:
        """Return a clause for each tool whose record this user did not approve.

        A promotion that another process is just making is waited for.

        Raises RecordChanged for a record that the log contradicts, AuditTampered for a log that is
        not the one this user wrote to, UserStateInvalid, MetadataCorrupt, Busy, StorageUnwritable.
        """
        witness = Witness.of(self.store.log_folder)
        if not self._has_log(witness):
            return ()
        if not self._unapproved_records(tools, witness):
            return ()
        # Wait for a promotion on its way, and finish one that was interrupted.
        with suppress(StorageUnwritable), self.store.locked():
            pass
        return self._name_unapproved(self._unapproved_records(tools, witness), tools)

    def require_version(self, target: Target, version: str) -> None:
        """Raise RecordUnknown if this user approved no record of that version of a tool.

        Its bytes would come back under this user's name: a planted record must not choose them.
        Raises AuditTampered, UserStateInvalid, MetadataCorrupt.
        """
        witness = Witness.of(self.store.log_folder)
        if not self._has_log(witness):
            return
        records = read_records(self.store.workflows_root, target)
        approvals = witness.approvals()
        of_version = [record for record in records if record.version == version]
        if not all(approvals.knows(target.tool_id, decision_key(r)) for r in of_version):
            raise RecordUnknown(
                f"{target.tool_id} is not set back to {version}: its record is not in your "
                "decision log",
                hint=self.how_to_accept,
                tool=target.tool_id,
            )

    def _has_log(self, witness: Witness) -> bool:
        match = witness.match()
        if match in user_witness.MOVED:
            raise append_position.tampered_error(
                witness.folder, f"(LOG_{match.upper()}): {user_witness.REASONS[match]}"
            )
        if match == "none":
            _LOG.warning(
                "no decision log yet, as in a new clone: Pulsus cannot tell who approved these "
                "tools. Any decision of yours, also a run that you approve, begins a log that "
                f"takes over all records as they are. Look at them first and accept them: {ACCEPT}"
            )
        elif match == "unseen":
            _LOG.warning(
                "this user never wrote to the decision log in %s: it approves nothing here",
                witness.folder,
            )
        elif witness.has_changed_head():
            _LOG.warning(
                "the decision log in %s is damaged: head.json was changed or removed. Tools that "
                "only read still run; look at it: pulsus audit",
                witness.folder,
            )
        return match != "none"

    def _unapproved_records(
        self, tools: Iterable[ToolSpec], witness: Witness
    ) -> dict[str, tuple[PromotionRecord, RecordStatus]]:
        """Return every record that is not approved, with its status."""
        approvals = witness.approvals()
        log = append_position.name_of(witness.folder)
        found = {}
        for tool in tools:
            place = Target(tool.domain, tool.action, tool.name)
            records = read_records(self.store.workflows_root, place)
            if records:
                status = record_status(records, approvals, witness.folder, log)
                if status.status != "approved":
                    found[tool.id] = (records[-1], status)
        return found

    def _name_unapproved(
        self, found: dict[str, tuple[PromotionRecord, RecordStatus]], tools: Sequence[ToolSpec]
    ) -> tuple[str, ...]:
        for tool, (_, status) in found.items():
            if status.status == "contradicted":
                raise RecordChanged(
                    f"{tool} is not run: {status.reason}",
                    hint="restore metadata.jsonl and the module from version control, or look at "
                    f"what was changed and accept it: {ACCEPT}",
                    tool=tool,
                )
        signed = self.signatures
        paths = {tool.id: tool.path for tool in tools}
        return tuple(
            f"{tool}: {status.reason}"
            for tool, (record, status) in found.items()
            if not signed.signed(record, paths[tool])
        )


GOOD = frozenset({"G", "U"})
"""Git's letters for a good signature. U: the keyring does not rate the key, which is listed."""

_FINGERPRINT = late_pattern(r"SHA256:[A-Za-z0-9+/]{43}")
_NO_PROGRAM = "/bin/false"


@dataclass(frozen=True, slots=True)
class SignedRecords:
    """Looks for the commits that brought records, and whose signature they carry."""

    workflows_root: Path
    signers: tuple[str, ...]

    def signed(self, record: PromotionRecord, module: Path) -> bool:
        """True if the commit that brought the record is signed by a listed key.

        The module must have the record's bytes in that commit. False if any of it cannot be told.
        """
        repository = GitObjects.around(self.workflows_root) if self.signers else None
        if repository is None:
            return False
        line = _record_line(module.with_name(promotion_records.FILE_NAME), record)
        commit = line and repository.introduced(module.with_name(promotion_records.FILE_NAME), line)
        if not commit:
            return False
        source = repository.blob(commit, module)
        if source is None or version_archive.digest(source) != record.tool_hash:
            return False
        with _signature_settings(self.signers) as settings:
            letter, keys = repository.signature(commit, settings)
        return letter in GOOD and any(_is_listed(key, self.signers) for key in keys)


def _record_line(path: Path, record: PromotionRecord) -> bytes | None:
    """Return the record's line as it is in the file; None if it is not there once."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return None
    found = [line for line in lines if line.strip() and _is_line_of(line, record)]
    return found[0] if len(found) == 1 else None


def _is_line_of(line: bytes, record: PromotionRecord) -> bool:
    try:
        return promotion_records.parse_records(line.decode("utf-8") + "\n") == (record,)
    except ValueError:
        return False


def _is_listed(key: str, signers: Sequence[str]) -> bool:
    """True if a fingerprint that git printed is that of a listed key."""
    if _FINGERPRINT.fullmatch(key):
        return any(found and found[1] == key for found in map(ssh_key, signers))
    upper = key.upper()
    listed = [found for found in map(openpgp_key, signers) if found]
    return any(upper == one or (len(one) == 16 and upper.endswith(one)) for one in listed)


@contextmanager
def _signature_settings(signers: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Settings of git that name the programs to verify with, and the listed SSH keys."""
    gpg = shutil.which("gpg") or _NO_PROGRAM
    ssh = shutil.which("ssh-keygen") or _NO_PROGRAM
    with tempfile.TemporaryDirectory(prefix="pulsus-signers-") as folder:
        allowed = Path(folder, "allowed_signers")
        lines = [found[0] for found in map(ssh_key, signers) if found]
        allowed.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
        yield (
            f"gpg.program={gpg}",
            f"gpg.openpgp.program={gpg}",
            f"gpg.ssh.program={ssh}",
            f"gpg.ssh.allowedSignersFile={allowed}",
        )
