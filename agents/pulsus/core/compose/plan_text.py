"""Plan files as text: YAML and JSON read strictly, within bounds (routing spec §6).

Anchors and aliases are refused: a plan needs none, and a small file of them can grow without end.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any, NoReturn

import yaml

from pulsus.core.compose.plan_rules import MAX_DEPTH, invalid

# A plan of 50 steps with long constants stays below a tenth of this.
MAX_CHARS = 1_000_000
_FILE = "the plan file"


def load_yaml(text: str) -> object:
    """The value that YAML text writes. Raises PlanInvalid with line and column."""
    _check_size(text)
    try:
        _check_events(text)
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        invalid(_FILE, _where(error), "it is not YAML", _problem(error))
    except (ValueError, RecursionError) as error:
        invalid(_FILE, text[:40], f"it cannot be read: {error}", "write plain YAML")


def load_json(text: str) -> object:
    """The value that JSON text writes. Raises PlanInvalid with line and column."""
    _check_size(text)
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        invalid(_FILE, place, "it is not JSON", error.msg)
    except (ValueError, RecursionError) as error:
        invalid(_FILE, text[:40], f"it cannot be read: {error}", "write plain JSON")


def dump_yaml(data: object, *, compact: bool = False) -> str:
    """`data` as YAML in the order given, each text on one line; `compact` puts leaves in flow."""
    flow = None if compact else False
    return yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=10**9,
        default_flow_style=flow,
    )


class _Loader(yaml.SafeLoader):
    """The safe loader, refusing a key that is written twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else id(key_node)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is written twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """The safe dumper without anchors, and with escapes for all that does not print."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent)


def _check_size(text: str) -> None:
    if len(text) > MAX_CHARS:
        invalid(_FILE, len(text), f"longer than {MAX_CHARS} characters", "split the plan")


def _check_events(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            line = event.start_mark.line + 1 if event.start_mark else "?"
            invalid(_FILE, f"line {line}", "anchors and aliases are refused", "write it out")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH + 8:
            invalid(_FILE, depth, f"nested deeper than {MAX_DEPTH}", "flatten it")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        invalid(_FILE, twice, "the key is written twice", "remove one")
    return data


def _no_constant(text: str) -> NoReturn:
    invalid(_FILE, text, "JSON has no such number", "use a finite number or null")


def _where(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f"line {mark.line + 1} column {mark.column + 1}" if mark else "somewhere"


def _problem(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or error).splitlines()[0]
