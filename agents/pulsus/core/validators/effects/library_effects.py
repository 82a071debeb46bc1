"""Functions of Python's library that change files, reach hosts or start programs (ADR 33).

`library_effects.yaml` lists them, and says what each list is for. Effect: reads that file.
"""

from __future__ import annotations

from collections.abc import Mapping

from pulsus.core.system.word_lists import WordLists

_LISTS = WordLists(__file__)

CHANGING = _LISTS.names("changing")
METHODS = _LISTS.names("methods")
EXTRACTING = _LISTS.names("extracting")
METHODS_OF_ONE = _LISTS.names("methods_of_one")
METHODS_OF = _LISTS.by_key("methods_of")
CREATING_WITHOUT_ARGUMENTS = _LISTS.names("creating_without_arguments")
OPENERS: Mapping[str, int] = {
    **dict.fromkeys(("open", *_LISTS.names("openers")), 1),
    "argparse.FileType": 0,
}
"""Functions that open a file, with the position of the mode among the arguments."""
DATABASES = _LISTS.names("databases")
CONNECTING = _LISTS.names("connecting")
CONNECTING_METHODS = _LISTS.names("connecting_methods")
SOCKET_METHODS = _LISTS.names("socket_methods")
CONNECTING_METHODS_OF = _LISTS.by_key("connecting_methods_of")
STARTING = _LISTS.names("starting")
STARTING_METHODS = _LISTS.names("starting_methods")
WRITING_FLAGS = _LISTS.names("writing_flags")
ANYTHING = _LISTS.names("anything")
ANYTHING_METHODS_OF = _LISTS.by_key("anything_methods_of")
FUNCTION_SETS = _LISTS.names("function_sets")
INWARD = _LISTS.names("inward")
INNER = _LISTS.names("inner")
TEMPORARY = _LISTS.names("temporary")
C_READING = _LISTS.names("c_reading")
