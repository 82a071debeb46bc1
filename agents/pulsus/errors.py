"""Errors a caller can act on: a stable code, an exit status, what was wrong, what to do.

Exit statuses are those of docs/exit-codes.md.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import ClassVar


class PulsusError(Exception):
    """Root of every expected failure. Anything else is a bug and keeps its traceback.

    `message` states what was wrong, with the value; `hint` the next step; `details` are JSON
    values for `--output json`.
    """

    code: ClassVar[str] = "PULSUS"
    exit_status: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "", **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details


class UsageError(PulsusError):
    """The call itself is wrong: an argument, a flag, a value."""

    code = "USAGE"
    exit_status = 2


class ConfigError(PulsusError):
    """A settings file, variable or flag has a key or value that does not fit."""

    code = "CONFIG_INVALID"
    exit_status = 2


class RequestInvalid(PulsusError):
    """The request is empty, too long or not text."""

    code = "REQUEST_INVALID"
    exit_status = 2


class WorkflowsMissing(PulsusError):
    """There is no catalogue where the settings say."""

    code = "WORKFLOWS_MISSING"
    exit_status = 2


class StateCorrupt(PulsusError):
    """`.pulsus/` or metadata cannot be read, or was written by a newer Pulsus."""

    code = "STATE_CORRUPT"
    exit_status = 2


class MetadataCorrupt(StateCorrupt):
    """A promotion record is not a JSON object; history cannot be trusted until it is."""

    code = "METADATA_CORRUPT"


class StorageUnwritable(PulsusError):
    """A folder Pulsus must write to is read-only."""

    code = "STORAGE_UNWRITABLE"
    exit_status = 2


class DiskFull(PulsusError):
    """No space left; nothing was half-written. Worth trying again once there is room."""

    code = "DISK_FULL"
    exit_status = 75


class Busy(PulsusError):
    """Another Pulsus holds the lock. Worth trying again."""

    code = "BUSY"
    exit_status = 75


class PlanInvalid(PulsusError):
    """A plan does not parse, or refers to what is not there."""

    code = "PLAN_INVALID"
    exit_status = 2


class PlanUnwirable(PulsusError):
    """No plan can be made: an input has nowhere to come from."""

    code = "PLAN_UNWIRABLE"
    exit_status = 5


class ToolNotFound(PulsusError):
    """No tool has that id or name."""

    code = "TOOL_NOT_FOUND"
    exit_status = 2


class ToolAmbiguous(PulsusError):
    """A bare name fits several tools."""

    code = "TOOL_AMBIGUOUS"
    exit_status = 2


class NothingFits(PulsusError):
    """No candidate reaches τ and nothing else can be done about it."""

    code = "NOTHING_FITS"
    exit_status = 5


class LlmNotConfigured(NothingFits):
    """Nothing fits and there is no model to write a new tool."""

    code = "LLM_NOT_CONFIGURED"


class ModelError(PulsusError):
    """The language model, or the plugin that reaches it, failed in a way nothing else names."""

    code = "MODEL_FAILED"


class ModelUnreachable(ModelError):
    """The model's server cannot be reached, breaks off or takes too long. Worth trying again."""

    code = "MODEL_UNREACHABLE"
    exit_status = 75


class ModelBusy(ModelError):
    """The model's server is overloaded or limits the rate. Worth trying again."""

    code = "MODEL_BUSY"
    exit_status = 75


class ModelRefused(ModelError):
    """The model's server does not accept the key or the account, or there is no key to send."""

    code = "MODEL_REFUSED"
    exit_status = 2


class ModelUrlWrong(ModelError):
    """There is no model server of that kind at the address."""

    code = "MODEL_URL_WRONG"
    exit_status = 2


class ModelNotFound(ModelError):
    """The server has no model of that name."""

    code = "MODEL_NOT_FOUND"
    exit_status = 2


class ModelRequestRefused(ModelError):
    """The server refuses the form of the request; it may not support what it needs."""

    code = "MODEL_REQUEST_REFUSED"
    exit_status = 2


class ModelContextTooLong(ModelError):
    """Request and answer together are longer than the model's context."""

    code = "MODEL_CONTEXT_TOO_LONG"
    exit_status = 2


class ModelBudget(ModelError):
    """The answer might use more tokens or money than this run may."""

    code = "MODEL_BUDGET"
    exit_status = 6


class ModelAnswerInvalid(ModelError):
    """The answer is not of the form that was asked for, or longer than is taken."""

    code = "MODEL_ANSWER_INVALID"


class ValidationFailed(PulsusError):
    """A module was refused or could not be verified."""

    code = "VALIDATION_FAILED"
    exit_status = 3


class ApprovalNeeded(PulsusError):
    """Somebody would have been asked."""

    code = "APPROVAL_REQUIRED"
    exit_status = 4


class LowConfidence(ApprovalNeeded):
    """The request was not understood well enough to act on it unattended."""

    code = "LOW_CONFIDENCE"


class InputNeeded(ApprovalNeeded):
    """A required argument has no value; somebody would have been asked for it."""

    code = "INPUT_NEEDED"


class Denied(PulsusError):
    """Policy refuses it, whoever asks."""

    code = "POLICY_BLOCKED"
    exit_status = 6


class TargetRefused(Denied):
    """A promotion target lies outside the workflows folder or crosses a link."""

    code = "TARGET_REFUSED"


class HashMoved(Denied):
    """A tool's bytes are not those that were promoted or pinned."""

    code = "HASH_MOVED"


class NotPromoted(Denied):
    """Only promoted tools are run, and this one is not promoted in its present form."""

    code = "NOT_PROMOTED"


class BumpRefused(PulsusError):
    """The version was to go up by less than what changed for the tool's callers."""

    code = "BUMP_REFUSED"
    exit_status = 2


class VersionNotFound(PulsusError):
    """The tool has no such version on record, or its bytes are not kept."""

    code = "VERSION_NOT_FOUND"
    exit_status = 2


class ReplacementRefused(PulsusError):
    """A deprecation names a replacement that cannot stand in for the tool."""

    code = "REPLACEMENT_REFUSED"
    exit_status = 2


class StarterMissing(PulsusError):
    """This installation carries no starter catalogue."""

    code = "STARTER_MISSING"
    exit_status = 2


class RunNotFound(PulsusError):
    """No run of that id is known, or its trace does not say what was asked."""

    code = "RUN_NOT_FOUND"
    exit_status = 2


class ToolFailed(PulsusError):
    """A tool ran and failed."""

    code = "EXECUTION_FAILED"


class ExtraMissing(PulsusError):
    """A setting or flag needs packages of an extra that is not installed."""

    code = "EXTRA_MISSING"
    exit_status = 2


class NotReady(PulsusError):
    """This machine or project lacks what promotion needs."""

    code = "NOT_READY"
    exit_status = 3


class EvalBelowFloor(PulsusError):
    """A measured figure is below the floor that was asked for."""

    code = "EVAL_BELOW_FLOOR"
    exit_status = 3


class CalibrationRefused(PulsusError):
    """The requests cannot be calibrated on: too few, of one kind, or worse than what is in use."""

    code = "CALIBRATION_REFUSED"
    exit_status = 2


class AuditTampered(PulsusError):
    """The decision log or a promoted file is not what was recorded."""

    code = "AUDIT_TAMPERED"


class Aborted(PulsusError):
    """Somebody stopped it; a promotion had happened whole or not at all."""

    code = "ABORTED"
    exit_status = 130


def storage_error(failure: OSError, path: Path) -> PulsusError:
    """The error to raise for a failed write to `path`: DiskFull or StorageUnwritable."""
    why = failure.strerror or str(failure)
    if failure.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(
            f"cannot write {path}: {why}",
            hint="make room on that disk (`pulsus gc` removes old logs and candidates), then retry",
            path=str(path),
        )
    blocking = _in_the_way(path) if failure.errno in (errno.ENOTDIR, errno.EEXIST) else None
    hint = "give this user write access to it, or name another folder in the settings"
    if blocking:
        hint = f"{blocking} is no folder, and one is needed there: move it away"
    return StorageUnwritable(f"cannot write {path}: {why}", hint=hint, path=str(path))


def _in_the_way(path: Path) -> Path | None:
    """What lies where a folder on the way to `path` should be."""
    way = (*reversed(path.parents), path)
    return next((p for p in way if p.is_symlink() or p.exists() if not p.is_dir()), None)
