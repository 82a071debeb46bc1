r"""Convert the inputs of a step to JSON values and back (spec §6).

References and templates are parsed here; `expressions.py` evaluates expressions, and
`plan_checks.py` refuses references to unknown steps. Text that is exactly one `{{ expression }}` is
a reference or an expression, and keeps its type. Other text with `{{ }}` is a template. Literal
braces are written `\{{`, so that a constant is never read as a reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from pulsus.core.compose.plans.dsl.json_check import check_json
from pulsus.core.compose.plans.dsl.refusal import refuse
from pulsus.core.types import (
    Constant,
    Expression,
    JsonValue,
    OutputRef,
    ParamRef,
    PlanValue,
    Structure,
    Template,
)
from pulsus.late_pattern import late_pattern

ITEM = "item"
"""The name of the current item of `for_each`, in expressions."""

_REFERENCE = late_pattern(r"\{\{\s*(?:input\.(\w+)|steps\.(\w+)\.outputs\.(\w+))\s*\}\}")
_BRACES = late_pattern(r"(\\*)\{\{")


def value_to_json(value: PlanValue) -> JsonValue:
    """Return the value as it is written in a plan file."""
    match value:
        case ParamRef(name):
            return f"{{{{input.{name}}}}}"
        case OutputRef(step, output):
            return f"{{{{steps.{step}.outputs.{output}}}}}"
        case Expression(source):
            return f"{{{{ {source} }}}}"
        case Template(source):
            return source
        case Structure(parts) if isinstance(parts, Mapping):
            return {key: value_to_json(part) for key, part in parts.items()}
        case Structure(parts):
            return [value_to_json(part) for part in cast("tuple[PlanValue, ...]", parts)]
        case Constant(constant):
            return _escape_braces(constant)


def parse_value(value: object, place: str) -> PlanValue:
    """Return the value that is written in a plan file. Raises PlanInvalid."""
    check_json(value, place)
    return _parse(cast(JsonValue, value), place)


def parse_expression(value: object, place: str) -> Expression:
    """Return the one expression that `value` is. Raises PlanInvalid for anything else."""
    found = parse_value(value, place)
    if isinstance(found, ParamRef):
        return Expression(f"input.{found.name}")
    if isinstance(found, OutputRef):
        return Expression(f"steps.{found.step}.outputs.{found.output}")
    if not isinstance(found, Expression):
        refuse(place, value, "it is not one expression", 'write "{{ expression }}"')
    return found


def references(value: PlanValue, place: str = "") -> Iterator[ParamRef | OutputRef | str]:
    """Yield what the value reads: parameters, outputs, and the word `item` for the item.

    Raises PlanInvalid for an expression that is not allowed.
    """
    match value:
        case ParamRef() | OutputRef():
            yield value
        case Expression(source) | Template(source):
            from pulsus.core.compose.plans.dsl import expressions  # imports jinja2: slow

            yield from expressions.find_references(
                source, place, template=isinstance(value, Template)
            )
        case Structure(parts):
            mapping = parts.items() if isinstance(parts, Mapping) else enumerate(parts)
            for key, part in mapping:
                yield from references(part, f"{place}[{key}]")
        case Constant():
            return


def evaluate(
    value: PlanValue,
    inputs: Mapping[str, JsonValue],
    outputs: Mapping[OutputRef, JsonValue],
    item: JsonValue = None,
) -> JsonValue:
    """Return the value, given the plan's inputs and the outputs that it refers to.

    Raises PlanValueFailed if it cannot be computed, and KeyError for a missing input or output.
    """
    match value:
        case ParamRef(name):
            return inputs[name]
        case OutputRef():
            return outputs[value]
        case Constant(constant):
            return constant
        case Structure(parts) if isinstance(parts, Mapping):
            return {key: evaluate(part, inputs, outputs, item) for key, part in parts.items()}
        case Structure(parts):
            listed = cast("tuple[PlanValue, ...]", parts)
            return [evaluate(part, inputs, outputs, item) for part in listed]
        case Expression(source):
            from pulsus.core.compose.plans.dsl import expressions

            return expressions.evaluate_expression(source, inputs, outputs, item)
        case Template(source):
            from pulsus.core.compose.plans.dsl import expressions

            return expressions.render_template(source, inputs, outputs, item)


def _parse(value: JsonValue, place: str) -> PlanValue:
    if isinstance(value, str):
        return _parse_text(value, place)
    if isinstance(value, list):
        items = tuple(_parse(each, f"{place}[{i}]") for i, each in enumerate(value))
        if all(isinstance(each, Constant) for each in items):
            return Constant([cast(Constant, each).value for each in items])
        return Structure(items)
    if isinstance(value, dict):
        parts = {key: _parse(each, f"{place}.{key}") for key, each in value.items()}
        if all(isinstance(each, Constant) for each in parts.values()):
            return Constant({key: cast(Constant, each).value for key, each in parts.items()})
        return Structure(parts)
    return Constant(value)


def _parse_text(text: str, place: str) -> PlanValue:
    if found := _REFERENCE.fullmatch(text.strip()):
        param, step, output = found.groups()
        return ParamRef(param) if param else OutputRef(step, output)
    if all(found[1] for found in _BRACES.finditer(text)):
        return Constant(_BRACES.sub(lambda found: found[0][1:], text))
    from pulsus.core.compose.plans.dsl import expressions

    source = expressions.read_expression(text)
    value = Template(text) if source is None else Expression(source)
    for _ in references(value, place):  # raises for an expression that is not allowed
        pass
    return value


def _escape_braces(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        # One more backslash before each `{{`; reading takes one away.
        return _BRACES.sub(lambda found: f"\\{found[0]}", value)
    if isinstance(value, list):
        return [_escape_braces(item) for item in value]
    if isinstance(value, dict):
        return {key: _escape_braces(item) for key, item in value.items()}
    return value
