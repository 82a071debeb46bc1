"""The mistakes that click finds on a command line, told with value, reason and fix. Pure.

A mistyped command (did you mean) is found in `cli/suggested_commands.py`, and the exit status is
that of `errors.py`. `console.py` prints the error, as JSON with `--output json`.

Click's own words for some values are those of its types, such as `integer range`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise

import click

from pulsus.errors import UsageError
from pulsus.late_pattern import late_pattern

_ROUTE_ASKS = "leave it out: a terminal asks, and elsewhere the error names a command with it"

_PAIR = late_pattern(r"[A-Za-z_]\w*:?=")
_FILE_FAULT = late_pattern(
    r"\w+ (?P<path>.+) (?P<fault>is a directory|is not readable|is not writable)\.", re.DOTALL
)
_NUMBER_FAULT = late_pattern(
    r"(?P<value>.+) (?P<fault>is not a valid \w+ range|is not in the range .+)\.", re.DOTALL
)
"""Click's sentences about a value, without the option."""


def explain_usage(
    error: click.ClickException, words: Sequence[str], group: click.Group
) -> UsageError:
    """Return the error of Pulsus for one of click. `words` are the line, `group` is `pulsus`."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "pulsus"
    if isinstance(error, click.BadOptionUsage):  # click gives it no context
        path = _command_path(words, group)
    called = context.command if context else None
    if isinstance(error, click.exceptions.NoArgsIsHelpError) or (
        isinstance(error, click.NoSuchOption) and _lacks_subcommand(called, path, words)
    ):
        known = ", ".join(called.commands) if isinstance(called, click.Group) else ""
        return UsageError(
            f"`{path}` needs a subcommand",
            hint=f"it is one of: {known}; `{path} --help` explains them",
        )
    hint = f"`{path} --help` shows how"
    if isinstance(error, click.NoSuchOption) and path == "pulsus" and _is_of_route(error, group):
        hint = f'options come last: pulsus "REQUEST" {error.option_name}; {hint}'
    elif isinstance(error, click.NoSuchOption) and not error.possibilities and _has_inputs(called):
        name = error.option_name.lstrip("-").replace("-", "_")
        confirms = name == "yes" and path == "pulsus route"
        fix = _ROUTE_ASKS if confirms else f"for an input of a tool, write --input {name}=VALUE"
        hint = f"{fix}; {hint}"
    if isinstance(error, click.BadParameter):
        message, fix = explain_bad_value(error)
        if fix:
            hint = f"{fix}; {hint}"
            error = click.BadParameter(message, error.ctx, error.param, error.param_hint)
    if isinstance(error, click.MissingParameter) and context:
        hint = _missing_file_hint(error, context, words) + hint
    if path == "pulsus commands classify" and not isinstance(error, click.BadParameter):
        hint = f"give the whole command as one word, in quotes; {hint}"
    if context and (pairs := _pairs_without_option(error, context, words)):
        hint = f"write {' '.join(f'--input {shlex.quote(pair)}' for pair in pairs)}; {hint}"
    return UsageError(error.format_message(), hint=hint)


def _lacks_subcommand(called: click.Command | None, path: str, words: Sequence[str]) -> bool:
    """Return True if the line has an option for a group such as `pulsus runs`, but no subcommand.

    `pulsus` itself routes a request, and needs none.
    """
    return (
        isinstance(called, click.Group)
        and path != "pulsus"
        and not any(word in called.commands for word in words)
    )


def _has_inputs(called: click.Command | None) -> bool:
    return called is not None and any("--input" in each.opts for each in called.params)


def _is_of_route(error: click.NoSuchOption, group: click.Group) -> bool:
    """Return True for an option that `pulsus route` has: behind a request it would be known."""
    route = group.get_command(click.Context(group), "route")
    return route is not None and any(
        error.option_name in (*option.opts, *option.secondary_opts) for option in route.params
    )


def _pairs_without_option(
    error: click.ClickException, context: click.Context, words: Sequence[str]
) -> list[str]:
    """Return the words K=V of the line that a command with `--input` got without it."""
    if not _has_inputs(context.command) or not error.message.startswith(
        "Got unexpected extra argument"
    ):
        return []
    behind = pairwise(words)
    return [word for before, word in behind if before != "--input" and _PAIR.match(word)]


def _missing_file_hint(
    error: click.MissingParameter, context: click.Context, words: Sequence[str]
) -> str:
    """Return how to give the word behind the command as the file of the option that is missing."""
    bare = not any(isinstance(each, click.Argument) for each in context.command.params)
    named = error.param
    if not bare or not isinstance(named, click.Option) or not isinstance(named.type, click.Path):
        return ""
    before = len(context.command_path.split()) - 1
    word = next(iter(words[before:]), "-")
    return "" if word.startswith("-") else f"write {named.opts[0]} {shlex.quote(word)}; "


def _command_path(words: Sequence[str], group: click.Group) -> str:
    """Return the command that the line calls: `pulsus config trust`, or `pulsus route`."""
    known = group.list_commands(click.Context(group))
    if words and words[0] not in known and not words[0].startswith("-"):
        return "pulsus route"
    path: list[str] = ["pulsus"]
    command: click.Command | None = group
    for word in words:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(click.Context(command), word)
        path += [word] if command else []
    return " ".join(path)


def explain_bad_value(error: click.BadParameter) -> tuple[str, str]:
    """Return message and fix of a refused value; the fix is empty if click's message needs none."""
    said, kind = error.message, error.param.type if error.param else None
    told = _FILE_FAULT.fullmatch(said)
    if told and told["fault"] == "is a directory":
        return f"{told['path']} is a folder, and a file is expected.", "name a file"
    if told:
        access = "read" if told["fault"] == "is not readable" else "write"
        return said, f"give this user {access} access to it"
    if "does not exist" in said:
        return said, "correct the path; a relative path begins in the current folder"
    wrong = _NUMBER_FAULT.fullmatch(said)
    if wrong and isinstance(kind, click.IntRange | click.FloatRange):
        number = "whole number" if isinstance(kind, click.IntRange) else "number"
        outside = wrong["fault"].startswith("is not in")
        reason = "is out of range" if outside else f"is no {number}"
        return f"{wrong['value']} {reason}.", f"give {_describe_bounds(kind)}"
    return said, ""


def _describe_bounds(kind: click.IntRange | click.FloatRange) -> str:
    if kind.max is None:
        return f"{kind.min:g} or more"
    if kind.min is None:
        return f"{kind.max:g} or less"
    return f"{kind.min} to {kind.max}"
