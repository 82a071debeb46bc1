"""Refuse a write whose target the model made up (hallucinated): neither request nor results name it
(§32).

Targets are resources, paths, services and the inputs that a contract calls `Target:`. The model
gets similar names from `session_words.py`. Content that is written is not a target: a person sees
it as a difference before it is approved.

All modules about what a model made up: `agent/answers/phantom_claims.py`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.agent.control.session_words import SessionWords
from pulsus.agent.tool_protocol import CallNeeds
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.risk.file_uses import FileUse, find_uses
from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.core.types import JsonValue
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.tool_response import ToolResponse, tool_blocked

UNGROUNDED: Final = "ungrounded"
"""The value of `reason` in the details of such a refusal."""

_FILE_CHANGERS: Final = frozenset(
    {
        *("rm", "mv", "cp", "ln", "touch", "mkdir", "rmdir", "tee", "truncate", "unlink", "shred"),
        *("install", "chmod", "chown", "chgrp"),
    }
)
_AFTER_MODE: Final = frozenset({"chmod", "chown", "chgrp"})
_MANAGERS: Final = frozenset(
    {
        *("systemctl", "docker", "podman", "nerdctl", "kubectl", "virsh", "lxc", "incus"),
        *("initctl", "supervisorctl", "rc-service", "service", "pct", "qm", "machinectl"),
    }
)
"""Programs whose operands name services, containers and guests, behind a verb."""
_NAME_FIRST: Final = frozenset({"service", "rc-service"})
_NOUNS: Final = frozenset(
    {
        *("container", "image", "volume", "network", "compose", "system", "deployment", "deploy"),
        *("pod", "pods", "service", "svc", "rollout", "node", "statefulset", "daemonset"),
        *("up", "down", "start", "stop", "restart", "rm", "kill", "pause", "unpause", "update"),
        *("delete", "scale", "exec", "run", "create", "prune"),
    }
)
_WRITTEN: Final = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
_NOWHERE: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2"})


def refuse_ungrounded(
    needs: CallNeeds,
    resources: Sequence[ResolvedResource],
    inputs: Sequence[JsonValue],
    words: SessionWords,
    tables: Tables,
) -> ToolResponse | None:
    """Return the refusal INVALID_INPUT of a write on a target that was not named, or None.

    `inputs` are the values of the inputs that a contract names in `Target:`.
    """
    names = [each.name for each in resources if not any(map(words.is_known, each.names))]
    if not resources:
        names += [name for name in needs.targets if not words.is_known(name)]
    others = [str(each) for each in inputs if isinstance(each, str | int | float)]
    others += [*needs.paths, *(_targets_of(needs.command, tables) if needs.command else ())]
    names += [each for each in others if not is_known_target(each, words)]
    return _refuse(names[0], words) if names else None


def is_known_target(target: str, words: SessionWords) -> bool:
    """Return True if the user or a result named this target, a path also in two parts."""
    return _is_known_path(target, words) if "/" in target else words.is_known(target)


def _is_known_path(path: str, words: SessionWords) -> bool:
    """Return True if the path was named: whole, or its folder and its name apart."""
    plain = posixpath.normpath(path)
    if words.is_known(path) or words.is_known(plain):
        return True
    folder, _, name = plain.rpartition("/")
    return bool(folder) and words.is_known(folder) and words.is_known(name)


def _targets_of(command: str, tables: Tables) -> Iterator[str]:
    """Yield the paths, services and containers that a command would change.

    Raises nothing: a command that cannot be read was refused before.
    """
    try:
        script = parse_command(command)
    except Unreadable:
        return
    for redirect in script.redirects:
        if redirect.operator in _WRITTEN and redirect.target.text not in _NOWHERE:
            yield _literal_part(redirect.target)
    for use in find_uses(script, tables):
        if use.program:
            yield from _targets_of_call(use)


def _targets_of_call(use: FileUse) -> Iterator[str]:
    operands = [
        (at, word)
        for at, word in enumerate(use.words[1:], 1)
        if at not in use.searched and word.text[:1] != "-"
    ]
    named = [word for _, word in operands]
    if use.program in _FILE_CHANGERS:
        yield from map(_literal_part, named[use.program in _AFTER_MODE :])
    elif use.program in _MANAGERS:
        names = named[:1] if use.program in _NAME_FIRST else named[1:]
        yield from (word.text for word in names if word.text not in _NOUNS)
    else:
        for word in named:
            text = word.text.partition("=")[2] if use.program == "dd" else word.text
            if text[:1] in {"/", "~"} or text[:2] == "./" or text[:3] == "../":
                yield _literal_part(Word(text, word.wild, word.head, word.tail))


def _literal_part(word: Word) -> str:
    """Return the word, or the folder that its pattern is in."""
    if not word.wild:
        return word.text
    return word.head.rpartition("/")[0] or word.text


def _refuse(target: str, words: SessionWords) -> ToolResponse:
    similar: list[JsonValue] = [*words.similar(target)]
    said = f"; known are: {', '.join(map(str, similar))}" if similar else ""
    return tool_blocked(
        "INVALID_INPUT",
        f"{target!r} is in neither the request nor a result of this session{said}",
        reason=UNGROUNDED,
        suggestions=similar,
        recovery_hint="Use a name from the request or from a result, or find it with pulsus_query",
        auto_recoverable=True,
    )
