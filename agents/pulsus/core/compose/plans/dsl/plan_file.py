"""The plan DSL as text: read and write plans in YAML and JSON, within limits (spec §6).

A plan with a syntax error (with line and column), or that is too large, has a duplicate key, an
anchor or a tag is refused here. What the text means, key by key (the grammar of the DSL), is in
`plan_mapping.py`. The files of saved plans are read in
`core/compose/saved_plans/saved_plan_file.py`.

`parse_yaml(render_yaml(p)) == p` and `parse_json(render_json(p)) == p` for every plan. The YAML
reader is the one of the tool contract. This is a module of its own because importing a YAML library
is slow, and most routes do without.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import yaml

from pulsus.core.compose.plans.dsl.plan_mapping import plan_from_dict, plan_to_dict
from pulsus.core.compose.plans.dsl.refusal import refuse
from pulsus.core.system import strict_yaml
from pulsus.core.types import JsonValue, Plan

# A plan of 50 steps with long constants stays far below. A saved plan also holds its inputs.
MAX_CHARS = 10_000_000
WHOLE = "the plan file"
"""The place of the whole document in messages."""
_NUMERIC = frozenset("0123456789+-.")
_DIGEST = 64
"""Characters of a SHA-256. All are quoted, not only those that begin like a number."""
_HEXADECIMAL = frozenset("0123456789abcdef")


def parse_yaml(text: str) -> Plan:
    """Return the plan in YAML 1.2 text. Raises PlanInvalid with place, value and fix."""
    return plan_from_dict(read_yaml(text))


def parse_json(text: str) -> Plan:
    """Return the plan in JSON text. Raises PlanInvalid with place, value and fix."""
    return plan_from_dict(read_json(text))


def read_yaml(text: str) -> JsonValue:
    """Return the one value in YAML 1.2 text. Raises PlanInvalid."""
    _check_size(text)
    try:
        return strict_yaml.load_yaml(text)
    except strict_yaml.YamlError as error:
        line, column = error.position or (1, 1)
        shown, reason = _read_line(text, line), f"it is not plain YAML: {error.problem}"
        refuse(WHOLE, shown, reason, "correct that line", line=line, column=column)


def read_json(text: str) -> JsonValue:
    """Return the one value in JSON text. Raises PlanInvalid."""
    _check_size(text)
    try:
        found: JsonValue = json.loads(
            text, object_pairs_hook=_reject_repeated_keys, parse_constant=_reject_constant
        )
    except json.JSONDecodeError as error:
        position = {"line": error.lineno, "column": error.colno}
        shown, reason = _read_line(text, error.lineno), f"it is not JSON: {error.msg}"
        refuse(WHOLE, shown, reason, "correct that line", **position)
    except RecursionError:
        refuse(WHOLE, text[:40], "it is nested too deeply", "write plain JSON", line=1)
    except ValueError:  # of Python's own limit for the digits of a number
        refuse(WHOLE, text[:40], "it holds a number of too many digits", "shorten it", line=1)
    return found


def render_yaml(plan: Plan) -> str:
    """Return `plan` as YAML in the form of spec §6. The same plan gives the same text."""
    return dump_yaml(plan_to_dict(plan))


def render_json(plan: Plan) -> str:
    """Return `plan` as indented JSON. The same plan gives the same text."""
    return json.dumps(plan_to_dict(plan), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def dump_yaml(data: object, *, compact: bool = False) -> str:
    """Return `data` as YAML in its given order, with each text on one line.

    If `compact` is True, mappings and lists without children use the flow style.
    """
    flow = None if compact else False
    return yaml.dump(
        data,
        Dumper=_PlanDumper,
        sort_keys=False,
        allow_unicode=True,
        width=10**9,
        default_flow_style=flow,
    )


class _PlanDumper(yaml.SafeDumper):
    """The safe dumper without anchors. It escapes all characters that do not print."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # PyYAML knows what YAML 1.1 takes for a number; 1.2, which is read, takes more.
    digest = len(text) == _DIGEST and _HEXADECIMAL.issuperset(text)
    quoted = not text.isprintable() or text[:1] in _NUMERIC or digest
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if quoted else None)


_PlanDumper.add_representer(str, _represent_text)


def _check_size(text: str) -> None:
    if len(text) > MAX_CHARS:
        refuse(WHOLE, len(text), f"longer than {MAX_CHARS} characters", "split the plan")


def _read_line(text: str, number: int) -> str:
    """Return a line of the text, from 1; empty for one behind its end."""
    lines = text.split("\n")
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _reject_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        refuse(WHOLE, twice, "the key is written twice", "remove one")
    return data


def _reject_constant(text: str) -> NoReturn:
    refuse(WHOLE, text, "JSON cannot express this number", "use a finite number or null")
