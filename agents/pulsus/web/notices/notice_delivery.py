"""Send one notice to one target of `approvals.notify`. Effect: network, or one process.

A target is a webhook's address, `command:PROGRAM ARGUMENTS` or `mailto:NAME@HOST`. Each delivery
has a timeout, `approvals.notify_seconds`. A failed one is not retried (`card_notifier.py`). The
target's answer is not kept. Invalid targets are refused with the settings, in
`config/notify_targets.py`.
"""

from __future__ import annotations

import shlex
import smtplib
from email.message import EmailMessage
from typing import Final
from urllib.parse import urlsplit

from pulsus.execution.input_command import run_with_input
from pulsus.fast_dataclass import dataclass
from pulsus.llm.http.exchange import ExchangeLimits, HttpRequest, WireFailed, exchange
from pulsus.web.notices.card_notice import CardNotice

_MOST_ANSWER: Final = 64 * 1024
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class DeliveryFailed(Exception):
    """A notice did not reach its target. The text has no part of a secret address."""


@dataclass(frozen=True, slots=True)
class MailRoute:
    """The server that takes mails, as `host:port`, and the sender of the mails."""

    server: str
    sender: str


def describe_target(target: str) -> str:
    """Return a target without its secrets: the path of a webhook often is one."""
    if target.startswith("command:"):
        return f"command {shlex.split(target.removeprefix('command:'))[0]}"
    if target.startswith("mailto:"):
        return target
    found = urlsplit(target)
    port = f":{found.port}" if found.port else ""
    return f"{found.scheme}://{found.hostname}{port}"


def deliver(notice: CardNotice, target: str, mail: MailRoute, seconds: float) -> None:
    """Send a notice. Raises DeliveryFailed."""
    if target.startswith("command:"):
        _run_command(notice, shlex.split(target.removeprefix("command:")), seconds)
    elif target.startswith("mailto:"):
        _send_mail(notice, target.removeprefix("mailto:"), mail, seconds)
    else:
        _post(notice, target, seconds)


def _post(notice: CardNotice, address: str, seconds: float) -> None:
    local = urlsplit(address).hostname in _LOCAL
    request = HttpRequest(
        address, {"content-type": "application/json"}, notice.to_bytes(), local=local
    )
    limits = ExchangeLimits(seconds, seconds, seconds, _MOST_ANSWER)
    try:
        with exchange(request, limits) as answer:
            status = answer.status
    except WireFailed as failure:
        raise DeliveryFailed(f"{failure.why}: no answer") from None
    if not 200 <= status < 300:
        raise DeliveryFailed(f"it answered with status {status}")


def _run_command(notice: CardNotice, argv: list[str], seconds: float) -> None:
    try:
        status = run_with_input(argv, notice.to_bytes(), seconds)
    except OSError as failure:
        raise DeliveryFailed(f"it cannot be started: {failure.strerror}") from None
    if status is None:
        raise DeliveryFailed(f"it did not end within {seconds:g} s")
    if status != 0:
        raise DeliveryFailed(f"it ended with status {status}")


def _send_mail(notice: CardNotice, receiver: str, mail: MailRoute, seconds: float) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = mail.sender, receiver, notice.subject
    message.set_content(notice.text)
    host, _, port = mail.server.rpartition(":")
    try:
        with smtplib.SMTP(host, int(port), timeout=seconds) as server:
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as failure:
        raise DeliveryFailed(f"{mail.server} did not take the mail: {_reason(failure)}") from None


def _reason(failure: Exception) -> str:
    code = getattr(failure, "smtp_code", None)
    return f"status {code}" if code else type(failure).__name__
