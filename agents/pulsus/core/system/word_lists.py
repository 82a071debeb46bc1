"""Lists of names in a YAML file beside the module that uses them. Effect: reads that file.

Forbidden names and effects of the library are such lists:
`core/compose/guardrails/forbidden_names.yaml` and `core/validators/effects/library_effects.yaml`.
The files belong to the package, so a mistake in one is a mistake of ours: it raises what it raises.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from pulsus.core.system import strict_yaml


class WordLists:
    """The lists in the YAML file that has the name of a module and lies beside it."""

    def __init__(self, module_file: str) -> None:
        text = Path(module_file).with_suffix(".yaml").read_text(encoding="utf-8")
        self._lists = cast("dict[str, Any]", strict_yaml.load_yaml(text))

    def names(self, key: str) -> frozenset[str]:
        """Return a list of names, or the dotted names of lists that stand below their modules."""
        found = self._lists[key]
        if isinstance(found, dict):
            return frozenset(f"{module}.{name}" for module in found for name in found[module])
        return frozenset(found)

    def by_key(self, key: str) -> dict[str, frozenset[str]]:
        """Return the list of names below each key."""
        return {name: frozenset(words) for name, words in self._lists[key].items()}
