"""The language model did not answer as it should."""

from __future__ import annotations

from pulsus.errors.base import PulsusError


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


class ModelKeyWithheld(ModelError):
    """The user's key would go to a host that only a file of the project names."""

    code = "MODEL_KEY_WITHHELD"
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
