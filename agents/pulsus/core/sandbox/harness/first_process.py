"""Keep the candidate away from the sandbox's first process (spec §17).

The first process has the candidate's user, and neither its limits nor its second filter. The kernel
would let a candidate write into its memory (/proc/1/mem) and so run code there. A Landlock domain
prevents that: a process inside cannot trace a process outside, or look into it.

Runs inside the sandbox, before the candidate is loaded. Standard library only.
"""

from __future__ import annotations

import posix

from pulsus.core.sandbox.harness.system_calls import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NoReturn

    Way = Literal["scope", "refer", "parent"]

MEMORY = "/proc/1/mem"
_SCOPES = 3  # abstract sockets and signals
_REFER = 1 << 13
_BENEATH = 1
_DUMPABLE = 4
_PIPES = 4096


class FirstProcessOpen(Exception):
    """The candidate can write into the first process."""


def way_for(abi: int) -> Way:
    """Return the way for that version of Landlock, 0 for none.

    A domain must handle at least one right. The lightest is a scope, from version 6 on. From
    version 2 on it can be the right to move files between folders, allowed everywhere. Version 1
    would forbid such moves. There, and without Landlock, a parent of this process becomes the first
    process.
    """
    if abi >= 6:
        return "scope"
    return "refer" if abi >= 2 else "parent"


def shut_off(way: Way) -> None:
    """Shut the first process off for good. Raises OSError or FirstProcessOpen."""
    if way == "parent":
        _continue_in_child()
    else:
        _enter_domain(way)
    try:
        posix.close(posix.open(MEMORY, posix.O_RDWR))
    except PermissionError:
        return
    raise FirstProcessOpen("the memory of process 1 can be written")


def _enter_domain(way: Way) -> None:
    rights = (0, 0, _SCOPES) if way == "scope" else (_REFER,)
    attributes = b"".join(right.to_bytes(8, "little") for right in rights)
    ruleset = call("landlock_create_ruleset", attributes, len(attributes), 0)
    if way == "refer":
        top = posix.open("/", posix.O_PATH)
        rule = _REFER.to_bytes(8, "little") + top.to_bytes(4, "little")
        call("landlock_add_rule", ruleset, _BENEATH, rule, 0)
        posix.close(top)
    call("landlock_restrict_self", ruleset, 0)
    posix.close(ruleset)


def _continue_in_child() -> None:
    """Continue in a child. This process stays as the first one and lets no process in."""
    call("prctl", _DUMPABLE, 0, 0, 0, 0)
    child = posix.fork()
    if child:
        _reap_until_end_of(child)
    call("prctl", _DUMPABLE, 1, 0, 0, 0)


def _reap_until_end_of(child: int) -> NoReturn:
    """Reap the processes of the sandbox until the child ends, which ends the sandbox."""
    posix.closerange(0, _PIPES)
    while posix.waitpid(-1, 0)[0] != child:
        pass
    posix._exit(0)
