"""Promotion records: JSONL metadata, one `metadata.jsonl` an action (§10). Effect: reads files.

`change_set.py` adds the line to the file, and `file_transaction.py` writes it, under the lock of
`core/storage/catalogue_lock.py`. A record that is corrupt (invalid JSON, a wrong type, a duplicate
key) is refused here; a torn last line (half-written, cut short) is skipped. Revisions
(`rev-YYYYMMDD-NNN`) get their number here. If the user approved a record is decided in
`core/storage/record_status.py`, and `pulsus audit` compares records with files in
`routing/maintenance/audit_catalogue.py`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from pulsus.core.storage.records import semver
from pulsus.core.system import jsonl
from pulsus.core.types import JsonValue
from pulsus.errors import MetadataCorrupt, StorageUnwritable
from pulsus.fast_dataclass import dataclass

FILE_NAME = "metadata.jsonl"
DEPRECATED = "deprecated"
REMOVED = "removed"
MAX_LINE_BYTES = 64 * 1024
_MOST_DIGITS = 4000  # of a revision's number; Python takes 4300

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PromotionRecord:
    """One decision on a tool. Fields are in the order of the file; `domain` of a shared tool is
    `shared`.

    `name` ends in `.py`, `tool_hash` starts with `sha256:`, `created_at` is ISO 8601 with an
    offset. `changes` are why the version went up by `bump`; `restores` is the version whose bytes
    came back, `replaces` the id the tool had elsewhere. `event` None is a promotion; any other
    changes the tool's status, not its bytes, and keeps its version. `log` is the decision log's
    head before it, `network` the hosts that its proof was allowed to reach. Keys this Pulsus does
    not know are kept in `extra`.
    """

    id: str
    run_id: str | None
    route_id: str | None
    name: str
    domain: str
    action: str
    description: str
    status: str
    created_by: str
    created_at: str
    version: str
    tool_hash: str
    tokens_estimate: int | None = None
    model: Mapping[str, JsonValue] | None = None
    rag: Mapping[str, JsonValue] | None = None
    approved_by: str | None = None
    proof: str | None = None
    kind: str | None = None
    owner: str | None = None
    bump: str | None = None
    changes: tuple[str, ...] = ()
    replaces: str | None = None
    restores: str | None = None
    event: str | None = None
    replacement: str | None = None
    sunset: str | None = None
    log: Mapping[str, JsonValue] | None = None
    network: tuple[str, ...] = ()
    extra: Mapping[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        semver.parse_version(self.version)
        if self.created.tzinfo is None:
            raise ValueError(f"created_at {self.created_at!r} has no offset")
        self.created.astimezone(UTC)  # there may be no such day in UTC
        if not self.name.endswith(".py"):
            raise ValueError(f"name {self.name!r} does not end in .py")
        if self.sunset is not None:
            date.fromisoformat(self.sunset)

    @property
    def deprecated(self) -> bool:
        """True if another tool replaces this one."""
        return self.status == DEPRECATED

    @property
    def removed(self) -> bool:
        """True if the tool left the catalogue with this record."""
        return self.status == REMOVED

    @property
    def tool_id(self) -> str:
        """`domain/action/name` or `shared/action/name`."""
        return f"{self.domain}/{self.action}/{self.name.removesuffix('.py')}"

    @property
    def created(self) -> datetime:
        """`created_at` as an aware time."""
        return datetime.fromisoformat(self.created_at)


_FIELDS = tuple(f for f in PromotionRecord.__dataclass_fields__ if f != "extra")
_WHERE_SAID = frozenset(_FIELDS[_FIELDS.index("owner") :])
"""Fields that stand in a line only where they say something."""
_SHAPES: tuple[tuple[tuple[str, ...], tuple[type, ...], str], ...] = (
    (
        ("id", "name", "domain", "action", "status", "created_at", "version", "tool_hash"),
        (str,),
        "text",
    ),
    (
        (
            *("run_id", "route_id", "description", "created_by", "approved_by", "proof", "kind"),
            *("owner", "bump", "replaces", "restores", "event", "replacement", "sunset"),
        ),
        (str, type(None)),
        "text or null",
    ),
    (("model", "rag", "log"), (dict, type(None)), "an object or null"),
    (("changes", "network"), (list, type(None)), "a list or null"),
    (("tokens_estimate",), (int, type(None)), "a whole number or null"),
)


def parse_records(text: str, source: str = "a promotion record") -> tuple[PromotionRecord, ...]:
    """Return every record in `text`, oldest first; blank lines do not count.

    `source` names the file.

    A last line that was cut short (no newline at its end, not JSON) is left out with a warning.
    Raises ValueError whose message starts with the line number for any other bad line.
    """
    body, torn = split_torn(text)
    if torn:
        _LOG.warning("%s: ignored a last line that was cut short: %.80r", source, torn)
    records = []
    for number, line in enumerate(body.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append(_parse_record(line))
        except (ValueError, OverflowError, RecursionError) as failure:
            raise ValueError(f"{number}: {failure}") from failure
    return tuple(records)


def split_torn(text: str) -> tuple[str, str]:
    """Return the whole lines of `text`, and a last line that was cut short ("" where there is
    none).
    """
    start = text.rfind("\n") + 1
    last = text[start:]
    try:
        if last.strip():
            json.loads(last)
    except (ValueError, RecursionError):
        return text[:start], last
    return text, ""


def read_records(path: Path) -> tuple[PromotionRecord, ...]:
    """Return every record in the file, oldest first; none where there is no file.

    Raises MetadataCorrupt naming file and line, StorageUnwritable where it cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as failure:
        raise StorageUnwritable(
            f"cannot read {path}: {failure.strerror}",
            hint="make it a regular file this user can read",
        ) from failure
    return decode(data, path)


def decode(data: bytes, path: Path) -> tuple[PromotionRecord, ...]:
    """Return every record in `data`, read from `path`. Raises MetadataCorrupt."""
    try:
        return parse_records(data.decode("utf-8", "surrogateescape"), str(path))
    except ValueError as failure:
        raise MetadataCorrupt(
            f"{path}:{failure}",
            hint="repair that line (one JSON object), or restore the file from version control: "
            "until then requests and promotions of every domain end with this error",
            path=str(path),
        ) from failure


def read_all(workflows_root: Path) -> tuple[PromotionRecord, ...]:
    """Return every record of the catalogue, in path order. Raises as `read_records`."""
    return tuple(
        record for path in list_record_files(workflows_root) for record in read_records(path)
    )


def list_record_files(workflows_root: Path) -> tuple[Path, ...]:
    """Return the `metadata.jsonl` of every action, sorted; links are not followed."""
    actions = [*workflows_root.glob("domains/*/*"), *workflows_root.glob("shared_tools/*")]
    found = (a / FILE_NAME for a in actions if not a.is_symlink() and not a.parent.is_symlink())
    return tuple(sorted(p for p in found if p.is_file() and not p.is_symlink()))


def latest_record(records: Iterable[PromotionRecord], name: str) -> PromotionRecord | None:
    """Return the last record of the tool `name` (with or without `.py`) among one action's
    records.
    """
    wanted = name.removesuffix(".py") + ".py"
    return next((r for r in reversed(tuple(records)) if r.name == wanted), None)


def format_record(record: PromotionRecord) -> str:
    """Return the record as its JSON line, without the newline. Raises ValueError beyond 64 KiB."""
    known: dict[str, JsonValue] = {
        name: _to_json(value)
        for name in _FIELDS
        if (value := getattr(record, name)) or name not in _WHERE_SAID
    }
    text = json.dumps(known | dict(record.extra), ensure_ascii=False, allow_nan=False)
    data = text.encode("utf-8", "backslashreplace")  # half a character stays JSON's escape for it
    if len(data) >= MAX_LINE_BYTES:
        raise ValueError(f"record {record.id} is longer than {MAX_LINE_BYTES} bytes")
    return data.decode("utf-8")


def append_line(text: str, record: PromotionRecord) -> str:
    """Return `text` with the record as its last line; a line that was cut short is cut off."""
    body, _ = split_torn(text)
    if body and not body.endswith("\n"):
        body += "\n"
    return f"{body}{format_record(record)}\n"


def revision_prefix(day: datetime) -> str:
    """Return the beginning of every revision of that day."""
    return f"rev-{day:%Y%m%d}-"


def next_revision(taken: Iterable[str], day: datetime) -> str:
    """`rev-YYYYMMDD-NNN`, one above the highest of that day among the revisions `taken`."""
    prefix = revision_prefix(day)
    rests = (revision.removeprefix(prefix) for revision in taken if revision.startswith(prefix))
    numbers = (int(n) for n in rests if n.isdecimal() and len(n) < _MOST_DIGITS)
    return f"{prefix}{max(numbers, default=0) + 1:03d}"


def _to_json(value: JsonValue | Mapping[str, JsonValue] | tuple[str, ...]) -> JsonValue:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _parse_record(text: str) -> PromotionRecord:
    if any("\udc80" <= c <= "\udcff" for c in text):
        raise ValueError("the line is not UTF-8")
    if len(text.encode("utf-8")) >= MAX_LINE_BYTES:
        raise ValueError(f"the line is longer than {MAX_LINE_BYTES} bytes")
    obj = jsonl.STRICT.decode(text)
    if not isinstance(obj, dict):
        raise ValueError(f"expected a JSON object, found {type(obj).__name__}")
    for names, types, expected in _SHAPES:
        for name in names:
            if not isinstance(obj.get(name), types):
                raise ValueError(f"{name!r} must be {expected}, found {obj.get(name)!r:.80}")
    known: dict[str, Any] = {name: obj.get(name) for name in _FIELDS}
    known["description"] = known["description"] or ""
    known["created_by"] = known["created_by"] or ""
    for name in ("changes", "network"):
        known[name] = tuple(map(str, known[name] or ()))
    return PromotionRecord(**known, extra={k: v for k, v in obj.items() if k not in known})
