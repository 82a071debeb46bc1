"""Errors a caller can act on: a stable code, an exit status, a message and a hint.

The exit code of every class stands here, and those of docs/exit-codes.md. A full disk, a read-only
folder and a missing permission become an error in `storage_error`. `cli/main.py` turns an error
into a message and the exit status of the process, `cli/console.py` prints it with its hint, and
`web/refusals.py` makes a status of HTTP.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Final

CHANGES_FOUND: Final = 7
"""Exit status of `--detailed-exitcode`: a write is still to be done, or two plans differ."""


class PulsusError(Exception):
    """Root of every expected failure. Anything else is a bug and keeps its traceback.

    `message` states what was wrong, with the value; `hint` the next step; `details` are JSON
    values for `--output json`. With several next steps, `ways` has each and `hint` all of them.
    If `is_code_last`, a text shows the code behind the message, because the code names only a part
    of it.
    """

    code: ClassVar[str] = "PULSUS"
    exit_status: ClassVar[int] = 1

    def __init_subclass__(cls, code: str | None = None, exit_status: int | None = None) -> None:
        """Set the code and the exit status of an error. By default those of its base class."""
        super().__init_subclass__()
        cls.code = code or cls.code
        cls.exit_status = exit_status or cls.exit_status

    def __init__(self, message: str, *, hint: str = "", **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.ways: tuple[str, ...] = (hint,) if hint else ()
        self.details = details
        self.is_code_last = False

    def offer(self, *ways: str) -> None:
        """Set several next steps as the hint; a person gets a line for each."""
        self.ways = ways
        self.hint = "; ".join(ways)


class UsageError(PulsusError, code="USAGE", exit_status=2):
    """The call itself is wrong: an argument, a flag, a value."""


class InputPathUnusable(UsageError):
    """A tool cannot open the path in an input: it does not exist, or is of the wrong sort."""


class InputPathWrongSort(InputPathUnusable):
    """The path in an input is a folder where the tool needs a file, or the other way round."""


class ConfigError(PulsusError, code="CONFIG_INVALID", exit_status=2):
    """A settings file, variable or flag has an unknown key or an invalid value."""


class ExamplesImpossible(UsageError, code="EXAMPLES_IMPOSSIBLE"):
    """The examples contradict each other: no tool can satisfy all of them."""


class RequestInvalid(PulsusError, code="REQUEST_INVALID", exit_status=2):
    """The request is empty, too long or not text."""


class WorkflowsMissing(PulsusError, code="WORKFLOWS_MISSING", exit_status=2):
    """The workflows folder that the settings name does not exist."""


class PlanInvalid(PulsusError, code="PLAN_INVALID", exit_status=2):
    """A plan does not parse, or refers to a tool, step or value that does not exist."""


class PlanValueFailed(PulsusError, code="PLAN_VALUE_FAILED", exit_status=1):
    """An expression in a plan has no value for the results of the earlier steps."""


class ToolNotFound(PulsusError, code="TOOL_NOT_FOUND", exit_status=2):
    """No tool has that id or name."""


class ToolAmbiguous(PulsusError, code="TOOL_AMBIGUOUS", exit_status=2):
    """Several tools share the bare name."""


class BumpRefused(PulsusError, code="BUMP_REFUSED", exit_status=2):
    """The requested version bump is smaller than the change for the tool's callers."""


class VersionNotFound(PulsusError, code="VERSION_NOT_FOUND", exit_status=2):
    """The tool has no record of that version, or its bytes are not archived."""


class ReplacementRefused(PulsusError, code="REPLACEMENT_REFUSED", exit_status=2):
    """A deprecation names a replacement that cannot replace the tool."""


class StarterMissing(PulsusError, code="STARTER_MISSING", exit_status=2):
    """This installation contains no starter catalogue."""


class RunNotFound(PulsusError, code="RUN_NOT_FOUND", exit_status=2):
    """No run has that id, or its trace does not contain the request."""


class ExtraMissing(PulsusError, code="EXTRA_MISSING", exit_status=2):
    """A setting or flag needs packages of an extra that is not installed."""

    @classmethod
    def of(cls, purpose: str, lacking: Iterable[str], extra: str) -> ExtraMissing:
        """Return the error for packages that `purpose` needs. `extra` may be several: "a,b"."""
        from pulsus.install_hint import install_command  # only for an error

        names = list(lacking)
        absent = "which is not" if len(names) == 1 else "which are not"
        return cls(
            f"{purpose} needs {', '.join(names)}, {absent} installed",
            hint=install_command(extra),
            extra=extra.partition(",")[0],
        )


class ClusterInvalid(PulsusError, code="CLUSTER_INVALID", exit_status=2):
    """A cluster file or a placement plan has an unknown key or an invalid value."""


class CalibrationRefused(PulsusError, code="CALIBRATION_REFUSED", exit_status=2):
    """The requests allow no calibration: too few, of one kind, or worse than the one in use."""


class StateCorrupt(PulsusError, code="STATE_CORRUPT", exit_status=2):
    """`.pulsus/` or metadata cannot be read, or was written by a newer Pulsus."""


class SessionCorrupt(StateCorrupt, code="SESSION_CORRUPT"):
    """A saved session of the agent cannot be read. The file stays as it is."""


class MetadataCorrupt(StateCorrupt, code="METADATA_CORRUPT"):
    """A promotion record is not a JSON object, so the tool's history is not trusted."""


class StorageUnwritable(PulsusError, code="STORAGE_UNWRITABLE", exit_status=2):
    """A folder Pulsus must write to is read-only."""


class UserStateInvalid(PulsusError, code="USER_STATE_INVALID", exit_status=2):
    """The user's state folder has no path, is damaged, or is writable by other users."""


class DiskFull(PulsusError, code="DISK_FULL", exit_status=75):
    """The disk is full. No file was left half-written. Worth trying again."""


class Busy(PulsusError, code="BUSY", exit_status=75):
    """Another Pulsus holds the lock, or verifying a module timed out. Worth trying again."""


class AuditTampered(PulsusError, code="AUDIT_TAMPERED"):
    """The decision log or a promoted file differs from its record."""


_IN_SETTINGS = "name another folder in the settings"


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
    hint = f"give this user write access to it, or {_IN_SETTINGS}"
    if failure.errno == errno.ENOENT:
        missing = None if path.parent.exists() else path.parent
        why = f"the folder {missing} does not exist" if missing else "nothing can be made there"
        make = f"make the folder {missing}, or name" if missing else "name"
        hint = f"{make} another place"
    if blocking:
        hint = f"{blocking} is not a folder, and Pulsus needs a folder there: move it away"
    return StorageUnwritable(f"cannot write {path}: {why}", hint=hint, path=str(path))


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Raise `storage_error` for an OSError in the block."""
    try:
        yield
    except OSError as failure:
        raise storage_error(failure, path) from failure


@contextmanager
def place_from_option(instead: str) -> Iterator[None]:
    """Offer `instead` for a place that the command line names and no setting does."""
    try:
        yield
    except StorageUnwritable as failure:
        failure.hint = failure.hint.replace(_IN_SETTINGS, instead)
        raise


def _blocking_file(path: Path) -> Path | None:
    """Return the first part of `path` that exists and is not a folder."""
    way = (*reversed(path.parents), path)
    return next((p for p in way if p.is_symlink() or p.exists() if not p.is_dir()), None)


class ModelError(PulsusError, code="MODEL_FAILED"):
    """The language model or its plugin failed, and no more exact error applies."""


class ModelUnreachable(ModelError, code="MODEL_UNREACHABLE", exit_status=75):
    """The model server is unreachable, closes the connection or times out. Worth trying again."""


class ModelBusy(ModelError, code="MODEL_BUSY", exit_status=75):
    """The model server is overloaded or limits the rate. Worth trying again."""


class ModelRefused(ModelError, code="MODEL_REFUSED", exit_status=2):
    """The model server rejects the key or the account, or no key is configured."""


class ModelKeyWithheld(ModelError, code="MODEL_KEY_WITHHELD", exit_status=2):
    """The user's key would go to a host that only a project file names."""


class ModelUrlWrong(ModelError, code="MODEL_URL_WRONG", exit_status=2):
    """The address does not answer as a model server of the configured kind."""


class ModelNotFound(ModelError, code="MODEL_NOT_FOUND", exit_status=2):
    """The server has no model of that name."""


class ModelRequestRefused(ModelError, code="MODEL_REQUEST_REFUSED", exit_status=2):
    """The server rejects the form of the request, perhaps an option that it does not support."""


class ModelContextTooLong(ModelError, code="MODEL_CONTEXT_TOO_LONG", exit_status=2):
    """Request and answer together are longer than the model's context."""


class ModelBudget(ModelError, code="MODEL_BUDGET", exit_status=6):
    """The answer might use more tokens or money than this run may."""


class ModelAnswerInvalid(ModelError, code="MODEL_ANSWER_INVALID"):
    """The answer has the wrong form, or is longer than the limit.

    `raw` is an answer of the wrong form, byte by byte. No message and no JSON has it.
    """

    raw: str = ""


class PlanUnwirable(PulsusError, code="PLAN_UNWIRABLE", exit_status=5):
    """No plan can be made: no step or argument supplies an input."""


class NothingFits(PulsusError, code="NOTHING_FITS", exit_status=5):
    """No candidate reaches τ, and no other way to a tool is left."""


class PartLeftOut(NothingFits, code="PART_LEFT_OUT"):
    """A part of the request asks for a change, and nothing of the decision makes it."""


class NothingToUndo(PulsusError, code="NOTHING_TO_UNDO", exit_status=5):
    """No write of a run can be reversed."""


class LlmNotConfigured(NothingFits, code="LLM_NOT_CONFIGURED"):
    """No candidate reaches τ, and no model is configured to write a new tool."""


class ValidationFailed(PulsusError, code="VALIDATION_FAILED", exit_status=3):
    """A module was refused or could not be verified."""


class VerifyMissing(ValidationFailed, code="VERIFY_MISSING"):
    """A new tool of `Kind: write` does not say how a change is verified."""


class VerifyUnrelated(ValidationFailed, code="VERIFY_UNRELATED"):
    """`Verify:` of a new tool uses no input and no output of the write, so it proves no change."""


class VerifyInvalid(ValidationFailed, code="VERIFY_INVALID"):
    """`Verify:` or `Undo:` names a tool that does not exist or does not fit."""


class ApprovalNeeded(PulsusError, code="APPROVAL_REQUIRED", exit_status=4):
    """The run needs an approval, and it is non-interactive."""


class LowConfidence(ApprovalNeeded, code="LOW_CONFIDENCE"):
    """The match is too uncertain to act on it unattended, or no answer about it was understood."""


class InputMissing(ApprovalNeeded, code="INPUT_MISSING"):
    """A required argument has no value, and the run is non-interactive."""


class InputUnclear(ApprovalNeeded, code="INPUT_UNCLEAR"):
    """A value of the request may be for an optional argument, and the run is non-interactive."""


class ConfigUntrusted(PulsusError, code="CONFIG_UNTRUSTED", exit_status=4):
    """A project file sets a value that the user did not approve on this machine."""


class RecordUnknown(ApprovalNeeded, code="RECORD_UNKNOWN"):
    """A promotion record came from another machine, and the user did not accept it here."""


class Denied(PulsusError, code="POLICY_BLOCKED", exit_status=6):
    """The policy blocks the action. No approval can allow it."""


class TokenRefused(PulsusError, code="TOKEN_REFUSED", exit_status=6):
    """A token is not valid, or its role may not do this."""


class CommandRefused(PulsusError, code="COMMAND_REFUSED", exit_status=6):
    """A command is not proven to read only and to end by itself."""


class SensitivePath(CommandRefused, code="SENSITIVE_PATH"):
    """A command names a path that holds secrets."""


class ServerUnreachable(PulsusError, code="SERVER_UNREACHABLE", exit_status=75):
    """A `pulsus serve` cannot be reached, or broke off. Worth trying again."""


class ServerRefused(Denied, code="SERVER_REFUSED"):
    """A `pulsus serve` refused a request: the token, its role, or a limit."""


class ApprovalUnknown(Denied, code="APPROVAL_UNKNOWN"):
    """A request for approval, or its token, is unknown, used, decided or expired."""


class SelfApprovalRefused(Denied, code="SELF_APPROVAL"):
    """A person may not approve an own request while others may."""


class TooManyApprovals(Denied, code="TOO_MANY_APPROVALS"):
    """So many requests wait for approval that no more are taken."""


class GoalInvalid(PulsusError, code="GOAL_INVALID", exit_status=2):
    """A goal of the knowledge base is ill-formed, or an argument is of the wrong type."""


class GoalRefused(PulsusError, code="GOAL_REFUSED", exit_status=6):
    """A goal is more than one allowed, read-only predicate. Nothing of it was evaluated."""


class FactsInvalid(PulsusError, code="FACTS_INVALID", exit_status=2):
    """A facts file, or the document of a fact source, is not valid."""


class FactsIncomplete(PulsusError, code="FACTS_INCOMPLETE", exit_status=1):
    """The facts lack what a migration plan needs: a capacity, a size, or a node."""


class KnowledgeTimeout(PulsusError, code="KNOWLEDGE_TIMEOUT"):
    """A query of the knowledge base took longer than it may."""


class TargetRefused(Denied, code="TARGET_REFUSED"):
    """A promotion target lies outside the workflows folder or crosses a link."""


class PlanEdited(Denied, code="PLAN_EDITED"):
    """A plan file was changed after it was made."""


class PlanMoved(Denied, code="PLAN_MOVED"):
    """A tool, setting or input of a plan is no longer the one that was reviewed."""

    new_plan_inputs: str | None = None

    def offer_new_plan(self, inputs: str, file: str = "FILE") -> None:
        """Offer to make the plan again, with `--input` options as the shell takes them.

        The raiser does not know the file of the plan. Who knows it calls this again.
        """
        self.new_plan_inputs = inputs
        self.offer(f"make and review the plan again: pulsus plan --file {file} -o NEW_FILE{inputs}")


class HashMoved(Denied, code="HASH_MOVED"):
    """A tool's bytes differ from the promoted or pinned ones."""


class NotPromoted(Denied, code="NOT_PROMOTED"):
    """The settings allow promoted tools only, and these bytes are not promoted."""


class ToolInUse(Denied, code="TOOL_IN_USE"):
    """Another promoted tool needs the tool that is to be removed."""


class ConfinementUnavailable(ApprovalNeeded, code="CONFINEMENT_UNAVAILABLE"):
    """The tool may only run confined, and this machine cannot confine it."""


class RecordChanged(Denied, code="RECORD_CHANGED"):
    """The decision log contradicts a promotion record. Pulsus never runs such bytes."""


class ToolFailed(PulsusError, code="EXECUTION_FAILED"):
    """A tool ran and failed."""


class ScriptFailed(ToolFailed, code="SCRIPT_FAILED"):
    """The script of a tool ended with a status that its contract does not call a success."""


class SourceUnreadable(ToolFailed, code="SOURCE_UNREADABLE"):
    """A read ran, and could not read what it reports on."""


class PlanFailed(PulsusError, code="PLAN_FAILED"):
    """A step of a plan failed, and the run ended."""


class WriteUnverified(PulsusError, code="WRITE_UNVERIFIED"):
    """A write ran, and the read that its contract names does not confirm the change."""


class NotReady(PulsusError, code="NOT_READY", exit_status=3):
    """This machine or project lacks what promotion needs."""


class EvalBelowFloor(PulsusError, code="EVAL_BELOW_FLOOR", exit_status=3):
    """A measured figure is below the required floor."""


class Aborted(PulsusError, code="ABORTED", exit_status=130):
    """The user stopped the command. A promotion happened completely or not at all."""


class Terminated(PulsusError, code="TERMINATED", exit_status=143):
    """SIGTERM ended Pulsus while a tool ran. Pulsus ended the tool too."""


class HungUp(PulsusError, code="HUNG_UP", exit_status=129):
    """SIGHUP (the terminal closed) ended Pulsus while a tool ran. Pulsus ended the tool too."""
