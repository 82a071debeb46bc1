"""The likely first call of a request: its tool and the inputs that the words give. Pure.

It also says if a request names a path or a host.

The router ranks tools and fills their inputs better than a small model does. Its choice is shown to
the model and offered as one answer of the first turn. The model takes it, or another tool. The
gates judge the call like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.types import ArgSpec, InputValue, ToolSpec

_PATH: Final = re.compile(r"(?<![\w/])/(?!/)[\w.@+/-]+")
_FOLDER: Final = re.compile(r"(?<![^\W_])(?:folder|directory|dir)(?![^\W_])", re.IGNORECASE)
_FILE: Final = re.compile(r"(?<![^\W_])file(?! system)(?![^\W_])", re.IGNORECASE)
_HOST: Final = re.compile(r"\w\.\w|[@:]\w|://")

IsFolder = Callable[[str], bool | None]
"""Says if a path is a folder, False for another file, or None if nothing is there."""


def likely_call(
    request: str,
    name: str,
    tool: ToolSpec,
    inputs: Mapping[str, InputValue],
    is_folder: IsFolder = lambda path: None,
) -> ProposedCall | None:
    """Return the call of the selected tool, which the agent calls `name`, or None.

    The tool has to read only, and every required input needs a value. The inputs have to hold each
    path of the request: otherwise the tool answers something else. An input for a folder takes no
    file, and one for a file no folder. Defaults are left out.
    """
    said = {key: one.value for key, one in inputs.items() if one.source == "request"}
    needed = {arg.name for arg in tool.args if arg.required}
    given = [value for value in said.values() if isinstance(value, str)]
    if tool.kind == "write" or not needed <= said.keys():
        return None
    paths = named_paths(request)
    if not all(path in given for path in paths):
        return None
    takers = [arg for arg in tool.args if said.get(arg.name) in paths]
    if not all(takes_path(_words(arg), is_folder(str(said[arg.name]))) for arg in takers):
        return None
    return ProposedCall("suggested", name, said)


def path_call(request: str, is_folder: IsFolder) -> ProposedCall | None:
    """Return the read of the one path that a request names: the folder's list, or the file's end.

    None if it names no path or several, or if nothing is there. For requests that no tool fits.
    """
    match named_paths(request):
        case [path] if (found := is_folder(path)) is not None:
            action = "find" if found else "tail"
            return ProposedCall("suggested", "pulsus_read", {"action": action, "path": path})
        case _:
            return None


def _words(arg: ArgSpec) -> str:
    return f"{arg.name} {arg.description}"


def takes_path(words: str, is_folder: bool | None) -> bool:
    """Return False if the words about an input say that it takes the other kind of path."""
    wants_folder, wants_file = bool(_FOLDER.search(words)), bool(_FILE.search(words))
    return is_folder is None or wants_folder in (wants_file, is_folder)


def named_paths(request: str) -> Sequence[str]:
    """Return the absolute paths in the words of a request."""
    found = (each.group().rstrip(".,;:?!") for each in _PATH.finditer(request))
    return [path for path in found if path]


def names_host(request: str) -> bool:
    """Return True if a request may name a host: `example.org`, an address, a URL or a mention."""
    return _HOST.search(request) is not None
