"""Turn a failed exchange into an error with cause and fix, and decide about a retry. Pure.

It tells apart a timeout, a refused key, a quota or money that is used up, a rate limit, a context
that is too long, a missing model and a wrong address. `Retry-After` is read here; the statuses that
are retried, and the wait without this header, are in `retries.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import (
    ModelAnswerInvalid,
    ModelBusy,
    ModelContextTooLong,
    ModelNotFound,
    ModelRefused,
    ModelRequestRefused,
    ModelUnreachable,
    ModelUrlWrong,
)
from pulsus.fast_dataclass import dataclass
from pulsus.llm.http.exchange import WireFailed
from pulsus.llm.http.retries import BUSY, ExchangeFailure, is_transient

_TOO_LONG = re.compile(
    r"context[ _-](?:length|size|window)|maximum context|max_model_len|prompt is too long"
    r"|too many (?:input )?tokens|exceed_context",
    re.I,
)
_NO_MODEL = re.compile(
    r"model\b.{0,200}?(?:not found|not exist|unknown|is not available|not supported|no such)"
    r"|^model: |(?:no such|unknown|invalid) model|model_not_found",
    re.I | re.S,
)
_NO_MONEY = re.compile(r"insufficient_quota|credit balance|billing|payment", re.I)
_NO_KEY = re.compile(
    r"api[ _-]?key.{0,40}(?:invalid|not valid|missing)|(?:invalid|incorrect|missing).{0,20}"
    r"api[ _-]?key",
    re.I,
)
_NO_TOOLS = re.compile(
    r"(?:not support|unsupported|without).{0,40}\btools?\b|tool use|tools? param requires", re.I
)


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """The server and model of a question, for messages. `redact` hides echoed secrets.

    `base_form` says what `model.base_url` has to be for this dialect.
    """

    base: str
    model: str
    key_env: str
    has_key: bool
    redact: Callable[[str], str]
    base_form: str = "the address up to and with /v1"


def wire_failure(failure: WireFailed, place: ServerPlace) -> ExchangeFailure:
    """Return the failure to reach a server, or to read its answer."""
    said = one_line(place.redact(failure.reason), 300)
    match failure.why:
        case "connect":
            tls = "SSL" in said or "certificate" in said.lower()
            hint = "start the server, or correct model.base_url"
            if tls:
                hint = "compare http:// and https:// in model.base_url; for a certificate of your "
                hint += "own name its authority in SSL_CERT_FILE"
            error = ModelUnreachable(f"cannot connect to {place.base}: {said}", hint=hint)
            return ExchangeFailure(error, again=not tls)
        case "timeout":
            # The same again would take as long again.
            hint = "raise model.read_seconds and model.total_seconds, or choose a smaller model"
            return ExchangeFailure(
                ModelUnreachable(f"{place.base} gave no answer: {said}", hint=hint)
            )
        case "dropped":
            hint = "try again; if it stays, look at the server's own log"
            error = ModelUnreachable(f"{place.base} broke off: {said}", hint=hint)
            return ExchangeFailure(error, again=True)
        case "too_long":
            hint = "raise model.max_answer_kb if that is expected of this model"
            return ExchangeFailure(ModelAnswerInvalid(f"{place.base}: {said}", hint=hint))
        case "unreadable":
            return ExchangeFailure(unreadable_answer(place, said))


def status_failure(
    status: int, headers: Mapping[str, str], body: str, place: ServerPlace, now: datetime
) -> ExchangeFailure:
    """Return the failure for a status other than 200. `now` has a time zone."""
    said = one_line(place.redact(_error_message(body)), 300)
    raw = f"{said} {_error_kind(body)}"
    if status == 413 or (status in (400, 422, 500) and _TOO_LONG.search(raw)):
        return ExchangeFailure(_context_too_long(said, place))
    if status in (401, 402, 403) or _NO_MONEY.search(raw) or _NO_KEY.search(raw):
        return ExchangeFailure(_access_refused(status, said, raw, place))
    if status == 500 and _NO_TOOLS.search(said):
        # llama.cpp refuses tools so. The same again would be refused again.
        return ExchangeFailure(_form_refused(status, said, place), server_text=raw)
    if is_transient(status):
        return _transient_failure(status, headers, said, place, now)
    if status == 404 and not _NO_MODEL.search(raw):
        return ExchangeFailure(wrong_url(place, f"HTTP 404 {said}".strip()))
    if status in (400, 404, 422) and _NO_MODEL.search(raw):
        return ExchangeFailure(missing_model(place, said))
    if 300 <= status < 400:
        target = one_line(place.redact(headers.get("location", "")), 200)
        return ExchangeFailure(
            wrong_url(place, f"HTTP {status}, a redirect to {target!r} (not followed)")
        )
    if status in (400, 422):
        return ExchangeFailure(
            _form_refused(status, said, place), server_text=f"{raw} {_error_parameter(body)}"
        )
    return ExchangeFailure(wrong_url(place, f"HTTP {status} {said}".strip()))


def wrong_url(place: ServerPlace, said: str, hint: str = "") -> ModelUrlWrong:
    """Return the error for a server without this endpoint."""
    hint = hint or f"model.base_url is {place.base_form}; compare model.provider too"
    return ModelUrlWrong(f"{place.base} is no such model server: {said}", hint=hint, said=said)


def missing_model(place: ServerPlace, said: str, served: tuple[str, ...] = ()) -> ModelNotFound:
    """Return the error for a missing model. `served` are the existing ones."""
    near = f"set model.name to one of: {', '.join(served)}" if served else ""
    return ModelNotFound(
        f"{place.base} has no model {place.model!r}: {said}",
        hint=near or "correct model.name, or fetch that model on the server",
        served=list(served),
    )


def unreadable_answer(place: ServerPlace, said: str) -> ModelAnswerInvalid:
    """Return the error for an HTTP 200 answer in an unknown form."""
    return ModelAnswerInvalid(
        f"{place.base} answered in a form that is not understood: {said}",
        hint=f"compare model.base_url ({place.base_form}) and model.provider with the server's "
        "manual",
    )


def quote_answer(text: str, place: ServerPlace) -> str:
    """Return the beginning of a server's answer without secrets, for a message."""
    return repr(one_line(place.redact(text[:2000]), 120))


def _access_refused(status: int, said: str, raw: str, place: ServerPlace) -> ModelRefused:
    if _NO_MONEY.search(raw) or status == 402:
        hint = "see the account's billing at the provider"
    elif place.has_key:
        hint = f"the key in {place.key_env} is not accepted: correct or renew it"
    else:
        hint = f"put a key in {place.key_env or 'the variable model.api_key_env names'}"
    return ModelRefused(f"{place.base} refuses (HTTP {status}): {said}", hint=hint)


def _context_too_long(said: str, place: ServerPlace) -> ModelContextTooLong:
    return ModelContextTooLong(
        f"the request is too long for {place.model}: {said}",
        hint="start the server with a longer context, lower model.max_answer_tokens, or choose "
        "a model with a longer context",
    )


def _transient_failure(
    status: int, headers: Mapping[str, str], said: str, place: ServerPlace, now: datetime
) -> ExchangeFailure:
    wait = _retry_after(headers.get("retry-after", ""), now)
    later = f" in {wait:.0f} s" if wait else ""
    kind = ModelBusy if status in BUSY else ModelUnreachable
    message = f"{place.base} is busy or failed (HTTP {status}): {said}"
    return ExchangeFailure(kind(message, hint=f"try again{later}"), again=True, wait=wait)


def _form_refused(status: int, said: str, place: ServerPlace) -> ModelRequestRefused:
    hint = "this server or model does not take what Pulsus sends; try another model"
    if _NO_TOOLS.search(said):
        hint = 'this model takes no native tools: set agent.protocol = "json"; if Pulsus sent none '
        hint += "(outside of the agent), something between it and the model adds them"
    return ModelRequestRefused(f"{place.base} refuses (HTTP {status}): {said}", hint=hint)


def _retry_after(value: str, now: datetime) -> float | None:
    """Return the seconds to wait, given as a number or a date (RFC 9110, 10.2.3)."""
    value = value.strip()
    if value.isdecimal():
        return float(value[:9])
    try:
        when = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, (when - now).total_seconds()) if when.tzinfo else None


def _parse_body(body: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _error_field(body: str) -> Any:
    found = _parse_body(body)
    if isinstance(found, dict):
        return next((found[k] for k in ("error", "detail", "message") if k in found), "")
    return "" if "<html" in body.lower() else body


def _error_message(body: str) -> str:
    error = _error_field(body)
    if isinstance(error, dict):
        error = error.get("message") or error.get("type") or ""
    return str(error).encode("utf-8", "replace").decode("utf-8")


def _error_kind(body: str) -> str:
    error = _error_field(body)
    return f"{error.get('type')} {error.get('code')}" if isinstance(error, dict) else ""


def _error_parameter(body: str) -> str:
    error = _error_field(body)
    return str(error.get("param") or "") if isinstance(error, dict) else ""
