"""The arguments of a call that may say where a tool of the catalogue connects to. Pure.

`agent/control/protection/own_address.py` refuses those that name Pulsus itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from pulsus.agent.loop.call_draft import CallDraft
from pulsus.core.python_source import python_parser
from pulsus.core.types import JsonValue, ToolSpec


def connecting_arguments(draft: CallDraft, spec: ToolSpec) -> Iterator[tuple[str, str]]:
    """Yield the name of an argument and a text or number in its value, however deep it lies.

    Arguments that the call leaves out have their defaults. A tool whose contract declares that it
    reaches no host yields nothing.
    """
    if spec.effects is not None and not spec.effects.hosts:
        return
    args = draft.call.args
    for name, value in args.items():
        yield from _texts(name, value)
    for each in spec.args:
        if each.default is not None and each.name not in args:
            # A default that is no literal is not a text that the call chooses.
            with suppress(ValueError, SyntaxError):
                yield from _texts(each.name, python_parser.read_literal(each.default))
    # Hosts that the contract itself names, such as `127.0.0.1:9001`.
    for host in spec.effects.hosts if spec.effects is not None else ():
        if not any(sign.isspace() for sign in host):
            yield from _texts("host", host)


def _texts(name: str, value: JsonValue) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield name, value
        case bool() | None:
            return
        case int():
            yield name, str(value)
        case float():
            yield name, str(int(value)) if value.is_integer() else str(value)
        case Mapping():
            for key, each in value.items():
                yield from _texts(name, key)
                yield from _texts(key, each)
        case _:
            for each in value:
                yield from _texts(name, each)
