"""What Pulsus was given is wrong or not there: a call, a setting, a request, a name."""

from __future__ import annotations

from pulsus.errors.base import PulsusError


class UsageError(PulsusError):
    """The call itself is wrong: an argument, a flag, a value."""

    code = "USAGE"
    exit_status = 2


class ConfigError(PulsusError):
    """A settings file, variable or flag has a key or value that does not fit."""

    code = "CONFIG_INVALID"
    exit_status = 2


class ExamplesImpossible(UsageError):
    """No one tool can give what all the examples ask."""

    code = "EXAMPLES_IMPOSSIBLE"


class RequestInvalid(PulsusError):
    """The request is empty, too long or not text."""

    code = "REQUEST_INVALID"
    exit_status = 2


class WorkflowsMissing(PulsusError):
    """There is no catalogue where the settings say."""

    code = "WORKFLOWS_MISSING"
    exit_status = 2


class PlanInvalid(PulsusError):
    """A plan does not parse, or refers to what is not there."""

    code = "PLAN_INVALID"
    exit_status = 2


class ToolNotFound(PulsusError):
    """No tool has that id or name."""

    code = "TOOL_NOT_FOUND"
    exit_status = 2


class ToolAmbiguous(PulsusError):
    """A bare name fits several tools."""

    code = "TOOL_AMBIGUOUS"
    exit_status = 2


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


class ExtraMissing(PulsusError):
    """A setting or flag needs packages of an extra that is not installed."""

    code = "EXTRA_MISSING"
    exit_status = 2


class CalibrationRefused(PulsusError):
    """The requests cannot be calibrated on: too few, of one kind, or worse than what is in use."""

    code = "CALIBRATION_REFUSED"
    exit_status = 2
