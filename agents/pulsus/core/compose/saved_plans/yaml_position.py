"""Find the line and column of a place in a YAML or JSON document, for error messages. Pure."""

from __future__ import annotations

import re

import yaml

_PART = re.compile(r"[^.\[\]]+")


def find_position(text: str, place: str) -> tuple[int, int] | None:
    """Return line and column, from 1, of the node at `place`, such as `plan.steps[1].tool`.

    If the document has no such node, the position is that of the deepest part that it has. Returns
    None for text that is not YAML. The text must have passed `strict_yaml`, which limits its depth.
    """
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return None
    if node is None:
        return None
    mark = node.start_mark
    for part in _PART.findall(place):
        found = _find_child(node, part)
        if found is None:
            break
        mark, node = found
    return mark.line + 1, mark.column + 1


def _find_child(node: yaml.Node, part: str) -> tuple[yaml.Mark, yaml.Node] | None:
    """Return the mark of the key or item, and its value."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key.start_mark, value
    if isinstance(node, yaml.SequenceNode) and part.isdecimal() and int(part) < len(node.value):
        item: yaml.Node = node.value[int(part)]
        return item.start_mark, item
    return None
