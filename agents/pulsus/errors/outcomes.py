"""How a route, a check or a run ended where it did not succeed."""

from __future__ import annotations

from pulsus.errors.base import PulsusError


class PlanUnwirable(PulsusError):
    """No plan can be made: an input has nowhere to come from."""

    code = "PLAN_UNWIRABLE"
    exit_status = 5


class NothingFits(PulsusError):
    """No candidate reaches τ and nothing else can be done about it."""

    code = "NOTHING_FITS"
    exit_status = 5


class LlmNotConfigured(NothingFits):
    """Nothing fits and there is no model to write a new tool."""

    code = "LLM_NOT_CONFIGURED"


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


class ConfigUntrusted(PulsusError):
    """A project file sets a value that this machine's user did not approve."""

    code = "CONFIG_UNTRUSTED"
    exit_status = 4


class RecordUnknown(ApprovalNeeded):
    """A promotion record came from elsewhere, and nobody accepted it on this machine."""

    code = "RECORD_UNKNOWN"


class Denied(PulsusError):
    """Policy refuses it, whoever asks."""

    code = "POLICY_BLOCKED"
    exit_status = 6


class CommandRefused(PulsusError):
    """A command is not proven to be a read that ends by itself."""

    code = "COMMAND_REFUSED"
    exit_status = 6


class SensitivePath(CommandRefused):
    """A command names a place where secrets are kept."""

    code = "SENSITIVE_PATH"


class TargetRefused(Denied):
    """A promotion target lies outside the workflows folder or crosses a link."""

    code = "TARGET_REFUSED"


class HashMoved(Denied):
    """A tool's bytes are not those that were promoted or pinned."""

    code = "HASH_MOVED"


class NotPromoted(Denied):
    """Only promoted tools are run, and this one is not promoted in its present form."""

    code = "NOT_PROMOTED"


class ConfinementUnavailable(ApprovalNeeded):
    """A tool was to run confined only, and this machine cannot confine it."""

    code = "CONFINEMENT_UNAVAILABLE"


class RecordChanged(Denied):
    """The decision log contradicts a promotion record: its bytes are never run."""

    code = "RECORD_CHANGED"


class ToolFailed(PulsusError):
    """A tool ran and failed."""

    code = "EXECUTION_FAILED"


class NotReady(PulsusError):
    """This machine or project lacks what promotion needs."""

    code = "NOT_READY"
    exit_status = 3


class EvalBelowFloor(PulsusError):
    """A measured figure is below the floor that was asked for."""

    code = "EVAL_BELOW_FLOOR"
    exit_status = 3


class Aborted(PulsusError):
    """Somebody stopped it; a promotion had happened whole or not at all."""

    code = "ABORTED"
    exit_status = 130


class Terminated(PulsusError):
    """SIGTERM ended Pulsus while a tool ran; the tool was ended too."""

    code = "TERMINATED"
    exit_status = 143


class HungUp(PulsusError):
    """The terminal of Pulsus was closed (SIGHUP) while a tool ran; the tool was ended too."""

    code = "HUNG_UP"
    exit_status = 129
