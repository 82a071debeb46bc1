"""Derive the id of a tool from its path (spec §4, §9). Pure.

A name has letters, digits, `_` and `-`; files whose names begin with `.` or `_` are ignored. An id
that two modules claim (a duplicate) is refused in `routing/index/catalogue_builder.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

SHARED = "shared"

_NAME = late_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class ToolPath:
    """A tool's id and its parts. `domain` is None for a shared tool."""

    id: str
    domain: str | None
    action: str
    name: str


@dataclass(frozen=True, slots=True)
class InvalidToolPath:
    """The reason why no tool can be at this path: a stable code and one line."""

    code: str
    reason: str


def parse_tool_path(parts: Sequence[str]) -> ToolPath | InvalidToolPath:
    """Return the tool a module at these path parts, below the workflows folder, would be.

    `domains/{domain}/{action}/[…/]{name}.py` or `shared_tools/{action}/[…/]{name}.py`: folders
    between the action and the file order a big action and are no part of the id.
    """
    match parts:
        case ["domains", domain, action, *_, file]:
            if domain == SHARED:
                return InvalidToolPath(
                    "BAD_NAME", f"domain {domain!r} is reserved for shared tools"
                )
            return _check_names(domain, action, file)
        case ["shared_tools", action, *_, file]:
            return _check_names(None, action, file)
        case _:
            return InvalidToolPath(
                "MISPLACED",
                "a tool lies in domains/{domain}/{action}/ or shared_tools/{action}/",
            )


def is_ignored(name: str, tmp_dirname: str) -> bool:
    """Return True if a file or folder of that name is never read."""
    return name.startswith((".", "_")) or name == tmp_dirname


def _check_names(domain: str | None, action: str, file: str) -> ToolPath | InvalidToolPath:
    name = file.removesuffix(".py")
    for what, value in (("domain", domain), ("action", action), ("name", name)):
        if value is not None and not _NAME.fullmatch(value):
            return InvalidToolPath(
                "BAD_NAME", f"{what} {value!r} has more than letters, digits, _ and -"
            )
    return ToolPath(f"{domain or SHARED}/{action}/{name}", domain, action, name)
