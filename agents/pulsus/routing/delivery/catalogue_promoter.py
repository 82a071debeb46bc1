"""Promotion wired to one project: who approved, which run, where (spec §10). Effect: writes.

`core/storage/promotion/promote.py` writes the files, and `routing/delivery/deliver.py` decides if a
module may be promoted. If its bytes are the promoted ones (hash), `current` tells here. It replays
the examples of earlier versions (`core/validators/example_replay.py`), and looks up if a tool is
new, generated or approved. A promotion that another one overtook is tried again, at most eight
times. A damaged decision log stops it (`require_log`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulsus.approvals.known_modules import Novelty, assess_novelty
from pulsus.core.storage.catalogue_lock import CatalogueStore
from pulsus.core.storage.decision_log import decision_log
from pulsus.core.storage.decision_log.append_position import name_of
from pulsus.core.storage.decision_log.log_reader import logged_generation, logged_tools
from pulsus.core.storage.decision_log.user_witness import Witness
from pulsus.core.storage.promotion import choose_version
from pulsus.core.storage.promotion.needed_bump import ApiChange
from pulsus.core.storage.promotion.promote import PromotionContext, os_user, promote
from pulsus.core.storage.record_status import record_status
from pulsus.core.storage.records.current_revision import (
    CurrentRevision,
    Find,
    read_records,
    tool_hash,
)
from pulsus.core.storage.records.promotion_target import Target, checked_root
from pulsus.core.storage.records.semver import Bump, greatest
from pulsus.core.types import JsonValue, Promotion, ValidatedModule
from pulsus.errors import AuditTampered

Replay = Callable[[bytes, bytes, tuple[str, ...], Sequence[bytes]], tuple[ApiChange, ...]]
"""Bytes before and now, hosts, bytes between → what calls like the earlier examples notice.

Both may reach the hosts; examples that those between have too are left out.
"""

_COMPARISONS = 8
"""Most times to replay the examples again because the same tool was promoted meanwhile."""


@dataclass(frozen=True, slots=True)
class CataloguePromoter:
    """Promotes into the catalogue of `store` on behalf of one run.

    `replay` runs the examples of earlier versions; None leaves them out (tests). `find` knows where
    those bytes may lie where the file was edited in place. `approver` is the account that approved
    the request `card`; without it the user of this process approves.
    """

    store: CatalogueStore
    run_id: str | None = None
    route_id: str | None = None
    owner: str | None = None
    bump: Bump | None = None
    replaces: Target | None = None
    restores: str | None = None
    made: Mapping[str, JsonValue] | None = None
    replay: Replay | None = None
    find: Find | None = None
    approver: str = ""
    card: str = ""

    def promote(
        self,
        validated: ValidatedModule,
        target: Target,
        *,
        remove: Path | None = None,
        edited_from: bytes | None = None,
    ) -> Promotion:
        """Promote the module and return its revision. Raises as `promote`.

        `edited_from` are the bytes before an edit. They may be overwritten at the target although
        they were never promoted.
        """
        for _ in range(_COMPARISONS - 1):
            with suppress(choose_version.Outdated):
                return self._promote_once(validated, target, remove, edited_from)
        return self._promote_once(validated, target, remove, edited_from)

    def _promote_once(
        self,
        validated: ValidatedModule,
        target: Target,
        remove: Path | None,
        edited_from: bytes | None,
    ) -> Promotion:
        replaced = edited_from is not None and _has_bytes(
            target.path(self.store.workflows_root), edited_from
        )
        return promote(
            validated,
            target=target,
            store=self.store,
            context=PromotionContext(
                run_id=self.run_id,
                route_id=self.route_id,
                approved_by=self.approver or os_user(),
                description=validated.tool.summary,
                owner=self.owner,
                bump=self.bump,
                replaces=self.replaces,
                restores=self.restores,
                find=self.find,
                behaviour=self._replay_examples(validated, target),
                **self._generation_fields(validated.source),
            ),
            remove=remove,
            replace_unrecorded=replaced,
        )

    def current(self, target: Target, sha256: str) -> Promotion | None:
        """Return the latest revision at `target`, if record and file are of exactly these bytes.

        None as well where the tool is to get another owner. Raises BumpRefused if a higher
        version is asked for it.
        """
        records = read_records(self.store.workflows_root, target)
        record = records[-1] if records else None
        if record is None or record.removed or record.tool_hash != f"sha256:{sha256}":
            return None
        if self.owner not in (None, record.owner):
            return None
        if _file_hash(target.path(self.store.workflows_root)) != sha256:
            return None
        choose_version.refuse_unchanged(record, self.bump)
        return Promotion(
            record.id,
            record.version,
            target.path(self.store.workflows_root),
            target.tool_id,
            created=False,
            kind=record.kind,
        )

    def restored_version(self, validated: ValidatedModule, target: Target) -> str | None:
        """Return the version that a rollback would give its module now; None if it is no rollback.

        Runs the examples of earlier versions, as the promotion does again under its lock.
        """
        if self.restores is None:
            return None
        here = CurrentRevision.read(checked_root(self.store.workflows_root), target, self.find)
        behaviour = self._replay_examples(validated, target)
        return choose_version.choose_version(
            validated.source, here, None, self.bump, self.owner, behaviour
        ).version

    def is_new(self, target: Target) -> bool:
        """Return True if no version of the tool was ever promoted, here or at the place before."""
        root = checked_root(self.store.workflows_root)
        places = (target, self.replaces) if self.replaces else (target,)
        return not any(read_records(root, place) for place in places)

    def novelty(self, target: Target, source: bytes, summary: str) -> Novelty:
        """Return why it is not new. Raises AuditTampered, MetadataCorrupt, StorageUnwritable."""
        self.require_log()
        logged = logged_tools(self.store.log_folder)
        return assess_novelty(
            checked_root(self.store.workflows_root), target, source, summary, logged
        )

    def approved(self, target: Target) -> bool:
        """True if this user approved the tool's latest record, or there is no decision log.

        Raises AuditTampered, UserStateInvalid, MetadataCorrupt, StorageUnwritable.
        """
        folder = self.store.log_folder
        witness = Witness.of(folder)
        decision_log.require_seen(folder)
        if witness.match() == "none":
            return True
        records = read_records(self.store.workflows_root, target)
        status = record_status(records, witness.approvals(), folder, name_of(folder))
        return status.status == "approved"

    def generated(self, source: bytes) -> bool:
        """True if the decision log holds that these bytes were generated here."""
        self.require_log()
        return logged_generation(self.store.log_folder, hashlib.sha256(source).hexdigest())

    def _replay_examples(
        self, validated: ValidatedModule, target: Target
    ) -> choose_version.ReplayResult | None:
        """Replay the examples of the earlier revisions. Sandboxes run, so no lock is held."""
        if self.replay is None:
            return None
        root, place = checked_root(self.store.workflows_root), self.replaces or target
        before = CurrentRevision.read(root, place, self.find)
        latest = before.latest
        if latest is None:
            return choose_version.ReplayResult(None, ())
        source, network = validated.source, validated.report.network
        if latest.tool_hash == tool_hash(source):
            return choose_version.ReplayResult(latest.tool_hash, ())
        changes: list[ApiChange] = []
        newer: list[bytes] = []
        for version in choose_version.versions_to_replay(before, tool_hash(source)):
            old = before.bytes_of(version.tool_hash)
            seen = () if old is None else self.replay(old, source, network, newer)
            changes += choose_version.relevant_changes(version, latest, seen, kept=old is not None)
            if greatest(*(change.bump for change in changes)) == "major":
                break  # nothing that is older could say more
            newer += [] if old is None else [old]
        return choose_version.ReplayResult(latest.tool_hash, tuple(changes))

    def _generation_fields(self, source: bytes) -> dict[str, Any]:
        """Return the fields on how the module was made, and whether it was edited since."""
        said = self.made.get("model") if self.made else None
        if self.made is None or not isinstance(said, dict):
            return {}
        model = dict(said)
        if self.made.get("sha256") != hashlib.sha256(source).hexdigest():
            model["edited"] = True
        return {"model": model, "tokens_estimate": model.get("tokens"), "rag": self.made.get("rag")}

    def require_log(self) -> None:
        """Raise AuditTampered if the decision log was changed, or does not fit the records.

        The records are checked before anything is appended to a log that was cut. A promotion
        writes its record before its log entry. So a missing entry is looked for again once no
        promotion runs and interrupted ones are finished.
        """
        try:
            self.store.require_whole_log()
        except AuditTampered:
            with self.store.locked():
                self.store.require_whole_log()

    def decided(self, kind: str, data: Mapping[str, JsonValue]) -> None:
        """Record a decision about a module in the decision log.

        Raises as `decision_log.append`, and AuditTampered for any damage of the log.
        """
        who: dict[str, JsonValue] = {
            "by": self.approver or os_user(),
            **({"card": self.card} if self.card else {}),
            "run_id": self.run_id,
            "route_id": self.route_id,
        }
        self.require_log()
        self.store.log_decision(kind, who | dict(data))


def _has_bytes(path: Path, source: bytes) -> bool:
    return _file_hash(path) == hashlib.sha256(source).hexdigest()


def _file_hash(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
