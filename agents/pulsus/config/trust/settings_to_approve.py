"""Find the settings to approve: values of the project's files that need `config trust`. Pure.

They are found by the marks of the settings (`approval_marks.py`), when settings are validated.
`config/settings_cache.py` keeps the result for warm starts. What the user has approved is in
`approved_settings.py`; `bootstrap/project_trust.py` refuses or ignores the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pulsus.config.setting_line import line_of
from pulsus.config.setting_types import Section, json_value
from pulsus.config.trust.approval_hash import Widening, value_hash
from pulsus.config.trust.approval_marks import Mark
from pulsus.config.trust.approved_settings import SOURCES, project_value


def find_widenings(
    settings: Section, origins: Mapping[str, str], project: Path
) -> tuple[Widening, ...]:
    """Return the values of project files that allow more than the default does, in the settings'
    order.
    """
    default = type(settings)()
    return tuple(
        found
        for key, mark in setting_marks(type(settings)).items()
        if (found := _find_widening(settings, default, origins, project, key, mark)) is not None
    )


def setting_marks(model: type[Section]) -> dict[str, Mark]:
    """Return the mark of every setting by its dotted key.

    Raises TypeError for one that has none.
    """
    return dict(_marked(model))


def _read_marks(model: type[Section], prefix: str) -> Iterator[tuple[str, Mark]]:
    hints = get_type_hints(model, include_extras=True)
    for each in fields(model):
        key, hint = f"{prefix}{each.name}", hints[each.name]
        if isinstance(hint, type) and issubclass(hint, Section):
            yield from _read_marks(hint, f"{key}.")
            continue
        extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        found = [extra for extra in extras if isinstance(extra, Mark)]
        if len(found) != 1:
            raise TypeError(
                f"{key} needs one mark of config/trust/approval_marks.py, and has {len(found)}"
            )
        yield key, found[0]


# Resolving every annotation takes longer than reading the settings does.
_marked: Callable[[Any], dict[str, Mark]] = cache(lambda model: dict(_read_marks(model, "")))


def _find_widening(
    settings: Section,
    default: Section,
    origins: Mapping[str, str],
    project: Path,
    key: str,
    mark: Mark,
) -> Widening | None:
    file = _setting_file(origins, key)
    if file is None:
        return None
    value = project_value(settings, origins, key)
    if not mark.widens(value, json_value(attrgetter(key)(default))):
        return None
    sha256 = value_hash(key, value, unordered=mark.unordered)
    return Widening(key, sha256, file, line_of(project / file, file, key), mark.program)


def _setting_file(origins: Mapping[str, str], key: str) -> str | None:
    """Return the project file that has the last word on a key or on an entry of its table."""
    found = {o for k, o in origins.items() if k == key or k.startswith(f"{key}.")}
    return next((file for file in reversed(SOURCES) if file in found), None)
