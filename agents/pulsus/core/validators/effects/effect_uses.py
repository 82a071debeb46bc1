"""Finds every place of a module's text that could have an effect outside the run (ADR 33). Pure.

`undeclared_effects.py` refuses those that the contract rules out. `library_effects.py` has the
functions of Python's library, `monkeypatching.py` replaced attributes and environment variables,
`reflection.py` other ways to a function, and `temporary_files.py` the files that are free.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple, TypeGuard

from pulsus.core.python_source.constant_folding import PATHS
from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.python_source.names import last_name
from pulsus.core.validators.effects import library_effects as library
from pulsus.core.validators.effects.c_libraries import CLibraries
from pulsus.core.validators.effects.monkeypatching import ExchangeFinder
from pulsus.core.validators.effects.open_modes import (
    get_keyword,
    get_writing_mode,
    is_read_only_database,
    is_writing_mode,
    list_modes,
    may_flags_write,
)
from pulsus.core.validators.effects.private_targets import PrivateTargets
from pulsus.core.validators.effects.reflection import Reflection
from pulsus.core.validators.effects.xml_sources import XmlSources
from pulsus.late_pattern import late_pattern

_ATTACHES = late_pattern(r"\battach\s+(?!.{0,9}:memory:)|\bvacuum\b.{0,40}\binto\b", re.I | re.S)
_CHANGING_KEYWORDS: Mapping[str, str] = {
    "fileinput.input": "inplace",
    "fileinput.FileInput": "inplace",
    "logging.basicConfig": "filename",
}
_OF_PATHS = tuple(f"{name}." for name in PATHS)
_INPLACE = frozenset(("fileinput.input", "fileinput.FileInput"))
_OPENS = frozenset(library.OPENERS)
_METHODS = library.METHODS.union(
    library.METHODS_OF_ONE,
    library.METHODS_OF,
    library.CONNECTING_METHODS,
    library.SOCKET_METHODS,
    library.STARTING_METHODS,
    library.CONNECTING_METHODS_OF,
    ("parse",),
)
_READ = frozenset(
    (
        *(ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript, ast.MatchClass),
        ast.ClassDef,
    )
)
_REFERENCES = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
"""Nodes of `_READ` that may have a dotted name."""
_NO_MODULES: frozenset[str] = frozenset()
_OWN_NAMES = frozenset(("gethostname", "getfqdn", "AI_NUMERICHOST"))


class EffectUse(NamedTuple):
    """One place of the text and its effect (`changes`, `reaches`, `starts`, `anything`)."""

    kind: str
    name: str
    line: int


def find_uses(module: ModuleIndex) -> Iterator[EffectUse]:
    """Yield every place of the text that could have an effect outside the run."""
    reader = _Reader(module)
    for node in reader.read:
        for kind, name in reader.of(node):
            yield EffectUse(kind, name, node.lineno)
        for kind, name in (*reader.reflection.of(node), *reader.exchanges.of(node)):
            yield EffectUse(kind, name, node.lineno)


class _Reader:
    def __init__(self, module: ModuleIndex) -> None:
        self.module = module
        self.targets = PrivateTargets(module)
        self.reflection = Reflection(module)
        self.exchanges = ExchangeFinder(module)
        self.read = [node for node in module.nodes if self._may_act(node)]
        self.sources = XmlSources(module)
        self.partial = {
            id(node.args[0]): node
            for node in module.calls.values()
            if node.args and last_name(node.func) == "partial"
        }
        self.opener_passed = self.reflection.makes_classes or any(
            id(node) not in module.calls and not module.keys(node).isdisjoint(_OPENS)
            for kind in _REFERENCES
            for node in module.of_class(kind)
        )

    @cached_property
    def libraries(self) -> CLibraries:
        """Return the C libraries of the module. Few modules load one."""
        return CLibraries(self.module)

    def _may_act(self, node: ast.AST) -> TypeGuard[ast.expr | ast.MatchClass | ast.ClassDef]:
        """Return False for most nodes: those of which no reader yields anything."""
        kind = type(node)
        if kind is ast.Name:  # plain names act only if an import gives them
            return bool(self.module.keys(node))
        if kind is ast.Constant:
            return isinstance(node.value, str)  # type: ignore[attr-defined]
        return kind in _READ

    def of(self, node: ast.AST) -> Iterator[tuple[str, str]]:
        match node:
            case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()) | ast.Subscript():
                yield from self._judge_reference(node)
            case ast.Call():
                yield from self._judge_reference(node)
                yield from self._judge_call(node)
            case ast.Constant(value=str() as text) if "sqlite3" in self.module.modules:
                if _ATTACHES.search(text):
                    yield "changes", "SQL that attaches or makes a database file"
            case _:
                pass

    def _judge_reference(self, node: ast.expr) -> Iterator[tuple[str, str]]:
        keys = self.module.keys(node)
        call = self.module.calls.get(id(node))
        if (
            isinstance(node, ast.Attribute)
            and node.attr in _METHODS
            and all(key.startswith(_OF_PATHS) for key in keys)
        ):
            yield from self._judge_method(node, call)
        if keys:
            yield from self._judge_name(node, keys, call)

    def _judge_name(
        self, node: ast.expr, keys: frozenset[str], call: ast.Call | None
    ) -> Iterator[tuple[str, str]]:
        """Judge a name that an import gives."""
        for key in keys:
            if key in library.CHANGING and not (call and self.targets.is_own(call, last=key)):
                yield "changes", key
            if key in library.CONNECTING and not (call and _is_own_name(call)):
                yield "reaches", key
            if key in library.STARTING:
                yield "starts", key
            if key in library.ANYTHING and not self._is_plain_import(key, call):
                yield "anything", key
            if key in library.OPENERS:
                yield from self._judge_opener(key, call or self.partial.get(id(node)), call is None)
        if call is not None:
            yield from self._judge_arguments(keys, call)
        elif "ctypes.CDLL" in keys:
            yield "anything", "ctypes.CDLL"

    def _judge_arguments(self, keys: frozenset[str], call: ast.Call) -> Iterator[tuple[str, str]]:
        """Judge a call of a function whose arguments decide about its effects."""
        for key in keys:
            match key:
                case "os.open":
                    flags = call.args[1] if len(call.args) > 1 else get_keyword(call, "flags")
                    writing = flags is not None and may_flags_write(flags, self.module)
                    if (writing or _is_unpacked(call)) and not self.targets.is_own(call):
                        yield "changes", key
                case "os.kill":
                    if not _is_zero(call.args[1] if len(call.args) > 1 else None):
                        yield "changes", key
                case "sqlite3.connect":
                    own = bool(call.args) and self.targets.owns(call.args[0])
                    if not (own or is_read_only_database(call, self.module)):
                        yield "changes", "sqlite3.connect without mode=ro"
                case "sax.parse" if not self.sources.is_open(call):
                    yield "reaches", "sax.parse of what may be an address"
                case "ctypes.CDLL":
                    yield from (("anything", name) for name in self.libraries.unknown(call))
                case _:
                    yield from self._judge_keywords(key, call)

    def _judge_keywords(self, key: str, call: ast.Call) -> Iterator[tuple[str, str]]:
        word = _CHANGING_KEYWORDS.get(key)
        if word is not None and get_keyword(call, word):
            yield "changes", f"{key} with {word}"
        if key in _INPLACE and len(call.args) > 1:
            yield "changes", f"{key} with inplace"
        if (
            key in library.TEMPORARY
            and key.startswith("tempfile.")
            and not self.targets.stays(call)
        ):
            yield "changes", f"{key} in another folder or with an open name"

    def _judge_method(
        self, node: ast.Attribute, call: ast.Call | None
    ) -> Iterator[tuple[str, str]]:
        name, owner = node.attr, node.value
        own = self.targets.is_own_object(owner, name)
        if (
            name in library.EXTRACTING or name in library.METHODS_OF_ONE
        ):  # its argument is changed, too
            own = (
                call is not None
                and self.targets.is_own(call)
                and (own or name in library.EXTRACTING)
            )
        if name in library.METHODS and not own:
            gives_text = (
                name in library.CREATING_WITHOUT_ARGUMENTS and call and not _has_arguments(call)
            )
            if not gives_text:
                yield "changes", f".{name}"
        elif name in library.METHODS_OF_ONE and call and len(call.args) == 1 and not call.keywords:
            if not own:
                yield "changes", f".{name} with one argument"
        elif not library.METHODS_OF.get(name, _NO_MODULES).isdisjoint(self.module.modules):
            if not own and not (call and self.targets.is_own(call)):
                yield "changes", f".{name}"
        else:
            yield from self._judge_reaching_method(name, call)

    def _judge_reaching_method(self, name: str, call: ast.Call | None) -> Iterator[tuple[str, str]]:
        """Judge a method that may reach hosts or start programs."""
        modules = self.module.modules
        of_socket = name in library.SOCKET_METHODS and "socket" in modules
        of_another = not library.CONNECTING_METHODS_OF.get(name, _NO_MODULES).isdisjoint(modules)
        if name in library.CONNECTING_METHODS or of_socket or of_another:
            yield "reaches", f".{name}"
        elif name == "parse" and call and self.sources.asked:
            if not self.sources.is_open(call):
                yield "reaches", ".parse of what may be an address"
        elif name in library.STARTING_METHODS:
            yield "starts", f".{name}"

    def _judge_call(self, node: ast.Call) -> Iterator[tuple[str, str]]:
        """Judge calls that name an attribute as text, and calls of unknown functions."""
        name = last_name(node.func)
        if name in ("getattr", "methodcaller", "attrgetter") and node.args:
            at = node.args[1] if name == "getattr" and len(node.args) > 1 else node.args[0]
            text = self.module.text(at)
            if text is not None:
                if not library.METHODS.isdisjoint(text.split(".")):
                    yield "changes", f"{name} of {text!r}"
            elif name == "getattr" and self.module.keys(node.args[0]) & library.INNER:
                yield "anything", "getattr of a name that is put together"
        keys = self.module.keys(node.func)
        if not keys and (name == "open" or self.opener_passed):
            yield from self._judge_unknown_open(node, name)

    def _judge_unknown_open(self, call: ast.Call, name: str) -> Iterator[tuple[str, str]]:
        """Judge a call of an unknown function with a mode that writes."""
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if (owner is not None and self.targets.owns(owner)) or self.targets.is_own(call):
            return
        named = get_keyword(call, "mode")
        for mode in (*call.args[:2], *((named,) if named is not None else ())):
            if text := get_writing_mode(mode, self.module):
                yield "changes", f"{name or 'a function'} with mode {text!r}"

    def _judge_opener(
        self, key: str, call: ast.Call | None, passed_on: bool
    ) -> Iterator[tuple[str, str]]:
        if call is None:
            return
        position = library.OPENERS[key] + passed_on
        if _is_unpacked(call):
            yield "changes", f"{key} with arguments that the text does not decide"
            return
        mode = call.args[position] if len(call.args) > position else get_keyword(call, "mode")
        if get_keyword(call, "opener") is not None:
            yield "changes", f"{key} with an opener"
        if mode is None or (not passed_on and self.targets.is_own(call)):
            return
        found = list_modes(mode, self.module)
        if found is None:
            yield "changes", f"{key} with a mode that the text does not decide"
        elif any(map(is_writing_mode, found)) or (key in library.DATABASES and found != ["r"]):
            yield "changes", f"{key} with a mode that writes"

    def _is_plain_import(self, key: str, call: ast.Call | None) -> bool:
        """Return True for an import of a constant module name: its names are judged as usual."""
        if key not in ("builtins.__import__", "importlib.import_module") or call is None:
            return False
        return bool(call.args) and self.module.text(call.args[0]) is not None


def _has_arguments(call: ast.Call) -> bool:
    return bool(call.args or call.keywords)


def _is_unpacked(call: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) for each in call.args) or any(
        each.arg is None for each in call.keywords
    )


def _is_zero(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _is_own_name(call: ast.Call) -> bool:
    """Return True for a look-up of this machine's name, or of an address that needs none."""
    return any(
        last_name(node) in _OWN_NAMES for node in ast.walk(call) if isinstance(node, ast.expr)
    )
