"""Check the form of entries of `approvals.notify`. Pure, and loaded with every setting.

A webhook over plain HTTP is refused, but for this machine. `web/notices/notice_delivery.py` sends
the notices.
"""

from __future__ import annotations

from pulsus.late_pattern import late_pattern

_MAIL = late_pattern(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,253}")
_WEB = late_pattern(r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?(/[!-~]*)?")
_LOCAL = late_pattern(r"http://(localhost|127\.0\.0\.1|\[::1\])[:/]")
_SHOWN = 40
"""Characters of a wrong entry that the error shows: the rest may be a secret."""


def is_mail_address(text: str) -> bool:
    """Return True for a plain mail address."""
    return _MAIL.fullmatch(text) is not None


def notify_target_error(target: str) -> str:
    """Return why an entry of `approvals.notify` is refused; "" for a valid one."""
    if target.startswith("command:"):
        import shlex

        try:
            words = shlex.split(target.removeprefix("command:"))
        except ValueError as failure:
            return f"{target[:_SHOWN]!r}: {failure}"
        return "" if words else "'command:' names no program: write command:PROGRAM ARGUMENTS"
    if target.startswith("mailto:"):
        fits = is_mail_address(target.removeprefix("mailto:"))
        return "" if fits else f"{target[:_SHOWN]!r} is no mail address: write mailto:NAME@HOST"
    if not _WEB.fullmatch(target):
        return (
            f"{target[:_SHOWN]!r} is no target: write https://HOST/PATH, "
            "command:PROGRAM ARGUMENTS or mailto:NAME@HOST"
        )
    if target.startswith("http:") and not _LOCAL.match(f"{target}/"):
        return f"{target[:_SHOWN]!r} would travel unencrypted: use https://"
    return ""
