"""Check what stands around a program's words: redirections and variables (`>f`, `LANG=C`).

Output to a file (`>`, `>>`) and variables such as `LD_PRELOAD=…` are refused here.

If such a command may run with an approval is decided in `gates/command_policy.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulsus.commands.command_verdict import ASSIGNED, CallFinding, Destination, refusal
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.shell.script_parser import Redirect, Stage

_HARMLESS_NAMES: Final = {"LANG", "LANGUAGE", "TZ"}
_OPENED: Final = re.compile(r":?/(?!usr/share/zoneinfo/)|.*\.\.", re.DOTALL)
"""Values that name a file outside the places where a language or a time zone is looked for."""
_WHICH: Final = re.compile(r"AWS_(?:PROFILE|REGION|DEFAULT_REGION)=[A-Za-z0-9_-]+")
"""Assignments with the same effect as an option that the table allows (`aws --profile`)."""

_INSTEAD: Final = {"KUBECONFIG": "kubectl --context names one of your own configuration"}


def check_redirect(redirect: Redirect) -> Iterator[CallFinding]:
    """Refuse a redirection, unless it opens one file to read, or goes to /dev/null."""
    target, written = (
        redirect.target.text,
        f"{redirect.fd}{redirect.operator}{redirect.target.text}",
    )
    if redirect.operator in {">", ">>", "&>", "&>>", ">|"} and target == "/dev/null":
        return
    if redirect.operator in {">&", "<&"} and target in {"1", "2", "-"}:
        return
    plain_file = not redirect.target.wild and not target.startswith(("/dev/tcp/", "/dev/udp/"))
    if redirect.operator == "<" and not redirect.fd and plain_file:
        return
    yield refusal("guard", written, "it writes a file or opens more than a file to read")


def check_assignments(stage: Stage, context: JudgeContext) -> Iterator[CallFinding]:
    """Refuse variables set before a program, other than a language or a time zone."""
    if context.measures is not None:
        context.measures.variables += stage.assignments
    for name, value in stage.assignments:
        known = name in _HARMLESS_NAMES or name.startswith("LC_")
        if known and not _OPENED.match(value):
            continue
        if _WHICH.fullmatch(f"{name}={value}"):
            if name == "AWS_PROFILE" and context.measures is not None:
                place = Destination(f"@{value}", None, "aws", dynamic=False)
                context.measures.destinations.append(place)
            continue
        yield refusal("guard", f"{name}={value}", ASSIGNED, _INSTEAD.get(name, ""))
