"""Errors a caller can act on: a stable code, an exit status, a message and a hint.

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
    """A settings file, variable or flag has an unknown key or an invalid value."""

    code = "CONFIG_INVALID"
    exit_status = 2


class ExamplesImpossible(UsageError):
    """The examples contradict each other: no tool can satisfy all of them."""

    code = "EXAMPLES_IMPOSSIBLE"


class RequestInvalid(PulsusError):
    """The request is empty, too long or not text."""

    code = "REQUEST_INVALID"
    exit_status = 2


class WorkflowsMissing(PulsusError):
    """The workflows folder that the settings name does not exist."""

    code = "WORKFLOWS_MISSING"
    exit_status = 2


class PlanInvalid(PulsusError):
    """A plan does not parse, or refers to a tool, step or value that does not exist."""

    code = "PLAN_INVALID"
    exit_status = 2


class ToolNotFound(PulsusError):
    """No tool has that id or name."""

    code = "TOOL_NOT_FOUND"
    exit_status = 2


class ToolAmbiguous(PulsusError):
    """Several tools share the bare name."""

    code = "TOOL_AMBIGUOUS"
    exit_status = 2


class BumpRefused(PulsusError):
    """The requested version bump is smaller than the change for the tool's callers."""

    code = "BUMP_REFUSED"
    exit_status = 2


class VersionNotFound(PulsusError):
    """The tool has no record of that version, or its bytes are not archived."""

    code = "VERSION_NOT_FOUND"
    exit_status = 2


class ReplacementRefused(PulsusError):
    """A deprecation names a replacement that cannot replace the tool."""

    code = "REPLACEMENT_REFUSED"
    exit_status = 2


class StarterMissing(PulsusError):
    """This installation contains no starter catalogue."""

    code = "STARTER_MISSING"
    exit_status = 2


class RunNotFound(PulsusError):
    """No run has that id, or its trace does not contain the request."""

    code = "RUN_NOT_FOUND"
    exit_status = 2


class ExtraMissing(PulsusError):
    """A setting or flag needs packages of an extra that is not installed."""

    code = "EXTRA_MISSING"
    exit_status = 2


class CalibrationRefused(PulsusError):
    """The requests allow no calibration: too few, of one kind, or worse than the one in use."""

    code = "CALIBRATION_REFUSED"
    exit_status = 2


class StateCorrupt(PulsusError):
    """`.pulsus/` or metadata cannot be read, or was written by a newer Pulsus."""

    code = "STATE_CORRUPT"
    exit_status = 2


class MetadataCorrupt(StateCorrupt):
    """A promotion record is not a JSON object, so the tool's history is not trusted."""

    code = "METADATA_CORRUPT"


class StorageUnwritable(PulsusError):
    """A folder Pulsus must write to is read-only."""

    code = "STORAGE_UNWRITABLE"
    exit_status = 2


class UserStateInvalid(PulsusError):
    """The user's state folder has no path, is damaged, or is writable by other users."""

    code = "USER_STATE_INVALID"
    exit_status = 2


class DiskFull(PulsusError):
    """The disk is full. No file was left half-written. Worth trying again."""

    code = "DISK_FULL"
    exit_status = 75


class Busy(PulsusError):
    """Another Pulsus holds the lock, or verifying a module timed out. Worth trying again."""

    code = "BUSY"
    exit_status = 75


class AuditTampered(PulsusError):
    """The decision log or a promoted file differs from its record."""

    code = "AUDIT_TAMPERED"


def storage_error(failure: OSError, path: Path) -> PulsusError:
    """Return the error to raise for a failed write to `path`: DiskFull or StorageUnwritable."""
    why = failure.strerror or str(failure)
    if failure.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(
            f"cannot write {path}: {why}",
            hint="make room on that disk (`pulsus gc` removes old logs and candidates), then retry",
            path=str(path),
        )
    blocking = _blocking_file(path) if failure.errno in (errno.ENOTDIR, errno.EEXIST) else None
    hint = "give this user write access to it, or name another folder in the settings"
    if blocking:
        hint = f"{blocking} is not a folder, and Pulsus needs a folder there: move it away"
    return StorageUnwritable(f"cannot write {path}: {why}", hint=hint, path=str(path))


def _blocking_file(path: Path) -> Path | None:
    """Return the first part of `path` that exists and is not a folder."""
    way = (*reversed(path.parents), path)
    return next((p for p in way if p.is_symlink() or p.exists() if not p.is_dir()), None)


class ModelError(PulsusError):
    """The language model or its plugin failed, and no more exact error applies."""

    code = "MODEL_FAILED"


class ModelUnreachable(ModelError):
    """The model server is unreachable, closes the connection or times out. Worth trying again."""

    code = "MODEL_UNREACHABLE"
    exit_status = 75


class ModelBusy(ModelError):
    """The model server is overloaded or limits the rate. Worth trying again."""

    code = "MODEL_BUSY"
    exit_status = 75


class ModelRefused(ModelError):
    """The model server rejects the key or the account, or no key is configured."""

    code = "MODEL_REFUSED"
    exit_status = 2


class ModelKeyWithheld(ModelError):
    """The user's key would go to a host that only a project file names."""

    code = "MODEL_KEY_WITHHELD"
    exit_status = 2


class ModelUrlWrong(ModelError):
    """The address does not answer as a model server of the configured kind."""

    code = "MODEL_URL_WRONG"
    exit_status = 2


class ModelNotFound(ModelError):
    """The server has no model of that name."""

    code = "MODEL_NOT_FOUND"
    exit_status = 2


class ModelRequestRefused(ModelError):
    """The server rejects the form of the request, perhaps an option that it does not support."""

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
    """The answer has the wrong form, or is longer than the limit."""

    code = "MODEL_ANSWER_INVALID"


class PlanUnwirable(PulsusError):
    """No plan can be made: no step or argument supplies an input."""

    code = "PLAN_UNWIRABLE"
    exit_status = 5


class NothingFits(PulsusError):
    """No candidate reaches τ, and no other way to a tool is left."""

    code = "NOTHING_FITS"
    exit_status = 5


class LlmNotConfigured(NothingFits):
    """No candidate reaches τ, and no model is configured to write a new tool."""

    code = "LLM_NOT_CONFIGURED"


class ValidationFailed(PulsusError):
    """A module was refused or could not be verified."""

    code = "VALIDATION_FAILED"
    exit_status = 3


class ApprovalNeeded(PulsusError):
    """The run needs an approval, and it is non-interactive."""

    code = "APPROVAL_REQUIRED"
    exit_status = 4


class LowConfidence(ApprovalNeeded):
    """The match is too uncertain to act on it unattended."""

    code = "LOW_CONFIDENCE"


class InputNeeded(ApprovalNeeded):
    """A required argument has no value, and the run is non-interactive."""

    code = "INPUT_NEEDED"


class ConfigUntrusted(PulsusError):
    """A project file sets a value that the user did not approve on this machine."""

    code = "CONFIG_UNTRUSTED"
    exit_status = 4


class RecordUnknown(ApprovalNeeded):
    """A promotion record came from another machine, and the user did not accept it here."""

    code = "RECORD_UNKNOWN"


class Denied(PulsusError):
    """The policy blocks the action. No approval can allow it."""

    code = "POLICY_BLOCKED"
    exit_status = 6


class CommandRefused(PulsusError):
    """A command is not proven to read only and to end by itself."""

    code = "COMMAND_REFUSED"
    exit_status = 6


class SensitivePath(CommandRefused):
    """A command names a path that holds secrets."""

    code = "SENSITIVE_PATH"


class TargetRefused(Denied):
    """A promotion target lies outside the workflows folder or crosses a link."""

    code = "TARGET_REFUSED"


class HashMoved(Denied):
    """A tool's bytes differ from the promoted or pinned ones."""

    code = "HASH_MOVED"


class NotPromoted(Denied):
    """The settings allow promoted tools only, and these bytes are not promoted."""

    code = "NOT_PROMOTED"


class ConfinementUnavailable(ApprovalNeeded):
    """The tool may only run confined, and this machine cannot confine it."""

    code = "CONFINEMENT_UNAVAILABLE"


class RecordChanged(Denied):
    """The decision log contradicts a promotion record. Pulsus never runs such bytes."""

    code = "RECORD_CHANGED"


class ToolFailed(PulsusError):
    """A tool ran and failed."""

    code = "EXECUTION_FAILED"


class NotReady(PulsusError):
    """This machine or project lacks what promotion needs."""

    code = "NOT_READY"
    exit_status = 3


class EvalBelowFloor(PulsusError):
    """A measured figure is below the required floor."""

    code = "EVAL_BELOW_FLOOR"
    exit_status = 3


class Aborted(PulsusError):
    """The user stopped the command. A promotion happened completely or not at all."""

    code = "ABORTED"
    exit_status = 130


class Terminated(PulsusError):
    """SIGTERM ended Pulsus while a tool ran. Pulsus ended the tool too."""

    code = "TERMINATED"
    exit_status = 143


class HungUp(PulsusError):
    """SIGHUP (the terminal closed) ended Pulsus while a tool ran. Pulsus ended the tool too."""

    code = "HUNG_UP"
    exit_status = 129
