"""Finds expressions that are files of the run's own: temporary ones, memory. Pure.

An expression is own only if the text decides it. It comes from `tempfile`, `io` or `os.pipe` by an
import that nothing shadows. Every part below it is a constant, a number, or the last part of a
path. So writes to temporary files need no declaration.
"""

from __future__ import annotations

import ast

from pulsus.core.python_source.constant_folding import PATHS
from pulsus.core.python_source.local_bindings import Bound, LocalBindings
from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.python_source.names import last_name
from pulsus.core.validators.effects.library_effects import TEMPORARY

_ROUNDS = 8
_DEEPEST = 40
OBJECT, PAIR, LEAF = -1, -2, -3
"""An open file or memory; two descriptors or a descriptor and a path; a path that ends in a part
the text does not show. From 0 on: a path, that many parts below a temporary folder."""
_PAIRS = frozenset(("tempfile.mkstemp", "os.pipe", "os.openpty", "pty.openpty"))
_PLACES = frozenset(("tempfile.mkdtemp", "tempfile.gettempdir"))
_SAME = frozenset(("str", "fspath", "resolve", "absolute", "as_posix", "realpath", "abspath"))
_LIBRARY = frozenset(
    (
        *(f"pathlib.{name}" for name in PATHS),
        *("path.join", "posixpath.join", "os.fspath", "path.abspath", "path.realpath"),
        *("io.open", "os.fdopen", "gzip.open", "zipfile.ZipFile", "gzip.GzipFile"),
        "io.TextIOWrapper",
    )
)
_TEXT_ARGUMENTS = frozenset(("prefix", "suffix"))


class TemporaryFiles:
    """The results of `tempfile`, `io` or `os.pipe`, and names bound to them or to paths below."""

    def __init__(self, module: ModuleIndex) -> None:
        self._module = module
        self._kinds: dict[Bound, int] = {}
        self._memo: dict[int, int | None] = {}
        self._bindings: LocalBindings | None = None
        self._renames = any(
            (n.attr == "name" and not isinstance(n.ctx, ast.Load)) or n.attr == "__dict__"
            for n in module.attributes
        ) or any(
            last_name(n.func) in ("setattr", "__setattr__", "vars") for n in module.calls.values()
        )
        """True if the name of an open file may differ from the one the library gave."""
        if not any(map(self._is_temporary_source, module.calls.values())):
            return
        self._bindings = LocalBindings(module.nodes)
        for _ in range(_ROUNDS):  # optimistic: one binding is enough
            if not self._update_kinds(all_of_them=False):
                break
        for _ in range(_ROUNDS):  # then every binding has to be own
            if not self._update_kinds(all_of_them=True):
                return
        self._kinds = {}
        self._memo = {}

    def owns(self, node: ast.expr) -> bool:
        """Return True if an expression is such a file or folder, or lies below one."""
        kind = self._cached_kind(node)
        return kind is not None and kind != PAIR

    def owns_folder(self, node: ast.expr) -> bool:
        """Return True if the text shows the whole path of such a file or folder."""
        kind = self._cached_kind(node)
        return kind is not None and kind >= 0

    def _update_kinds(self, *, all_of_them: bool) -> bool:
        """Judge every binding again. Return True if a kind changed."""
        found: dict[Bound, int] = {}
        self._memo = {}
        for bound, values in self._bindings.values.items() if self._bindings else ():
            if all_of_them and bound not in self._kinds:
                continue
            kinds = [self._kind_of_binding(value, how) for value, how in values]
            own = [kind for kind in kinds if kind is not None]
            if not own or (all_of_them and len(own) < len(kinds)):
                continue
            if len(set(own)) == 1 or min(own) >= 0:
                found[bound] = min(own)
        changed = found != self._kinds
        self._kinds, self._memo = found, {}
        return changed

    def _kind_of_binding(self, value: ast.expr | None, how: str) -> int | None:
        kind = None if value is None else self._cached_kind(value)
        if how == "with" and kind == OBJECT and isinstance(value, ast.Call):
            folder = self._module.keys(value.func) == {"tempfile.TemporaryDirectory"}
            return 0 if folder else kind
        if how == "item":
            return 0 if kind == PAIR else None
        if how == "each":
            return self._kind_of_elements(value)
        return kind

    def _kind_of_elements(self, value: ast.expr | None) -> int | None:
        """Return the kind of a loop's elements: files of an own folder, or own paths."""
        if isinstance(value, ast.Tuple | ast.List) and value.elts:
            kinds = [self._cached_kind(each) for each in value.elts]
            own = [kind for kind in kinds if kind is not None and kind >= 0]
            return min(own) if len(own) == len(kinds) else None
        if isinstance(value, ast.Call) and last_name(value.func) == "sorted" and value.args:
            return self._kind_of_elements(value.args[0])
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in ("iterdir", "glob", "rglob")
            and all(self._count_parts(each) is not None for each in value.args)
        ):
            kind = self._cached_kind(value.func.value)
            return None if kind is None or kind < 0 else kind
        return None

    def _cached_kind(self, node: ast.expr, depth: int = _DEEPEST) -> int | None:
        if self._bindings is None or depth == 0:
            return None
        if id(node) not in self._memo:
            self._memo[id(node)] = self._judge_kind(node, depth - 1)
        return self._memo[id(node)]

    def _judge_kind(self, node: ast.expr, depth: int) -> int | None:
        match node:
            case ast.Name():
                bound = self._bindings.of(node) if self._bindings else None
                return None if bound is None else self._kinds.get(bound)
            case ast.Attribute(value=value, attr=name):
                exchanged = name == "name" and self._renames
                return (
                    None if exchanged else _kind_of_attribute(self._cached_kind(value, depth), name)
                )
            case ast.Subscript(value=value, slice=ast.Constant(value=int())):
                return 0 if self._cached_kind(value, depth) == PAIR else None
            case ast.IfExp(body=body, orelse=orelse):
                first, second = self._cached_kind(body, depth), self._cached_kind(orelse, depth)
                return first if first == second else None
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self._kind_below(self._cached_kind(left, depth), [right])
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._kind_with_suffix(self._cached_kind(left, depth), [right])
            case ast.JoinedStr(values=[ast.FormattedValue(value=first, format_spec=None), *rest]):
                return self._kind_with_suffix(self._cached_kind(first, depth), rest)
            case ast.Call():
                return self._kind_of_call(node, depth)
            case _:
                return None

    def _kind_of_call(self, call: ast.Call, depth: int) -> int | None:
        if self._is_temporary_source(call):
            return self._kind_of_source(call)
        name = last_name(call.func)
        plain = isinstance(call.func, ast.Name)
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        own = self._cached_kind(owner, depth) if owner is not None else None
        if own is not None:
            return self._kind_of_method(own, name, call)
        opens = name in ("open", "fdopen", "ZipFile", "GzipFile", "TextIOWrapper")
        if not call.args or (call.keywords and not opens) or not self._is_library(call.func, name):
            return None
        first = self._cached_kind(call.args[0], depth)
        if name in PATHS or name == "join":
            return self._kind_below(first, call.args[1:])
        if name in _SAME and len(call.args) == 1 and (plain or owner is not None):
            return first
        if opens:
            return None if first is None or first == PAIR else OBJECT
        return None

    def _is_library(self, func: ast.expr, name: str) -> bool:
        """Return True if a function is the library's, by an import that nothing shadows."""
        if isinstance(func, ast.Name) and self._module.is_builtin(name):
            return name in ("str", "open")
        return self._module.is_sure(func) and not self._module.keys(func).isdisjoint(_LIBRARY)

    def _kind_of_method(self, own: int, name: str, call: ast.Call) -> int | None:
        if name == "open" or (own == OBJECT and name in ("__enter__", "detach")):
            return OBJECT
        if own < 0:
            return own if own == LEAF and name in _SAME else None
        if name == "joinpath":
            return self._kind_below(own, call.args)
        if name in ("with_name", "with_suffix", "with_stem") and own > 0:
            return own if self._kind_below(own, call.args) is not None else None
        return own if name in _SAME else None

    def _kind_below(self, own: int | None, parts: list[ast.expr]) -> int | None:
        if own is None or own < 0:
            return own if own == LEAF and not parts else None
        for position, part in enumerate(parts):
            if self._is_last_part(part):
                return LEAF if position == len(parts) - 1 else None
            more = self._count_parts(part)
            if more is None:
                return None
            own += more
        return own

    def _count_parts(self, node: ast.expr) -> int | None:
        """Return the number of parts of a relative path, or None if the text does not decide it."""
        text = self._module.text(node)
        if text is not None:
            parts = [part for part in text.split("/") if part not in ("", ".")]
            out = text.startswith(("/", "~")) or ".." in parts
            return None if out else (0 if "*" in text else len(parts))
        if isinstance(node, ast.JoinedStr):
            return (
                1
                if all(map(self._is_text_without_slash, node.values)) and len(node.values) > 1
                else None
            )
        return 1 if self._is_text_without_slash(node) else None

    def _is_text_without_slash(self, node: ast.expr) -> bool:
        """Return True for text without a slash: a constant, or a number."""
        if isinstance(node, ast.FormattedValue):
            spec = node.format_spec
            shown = None if spec is None else self._module.text(spec)
            if spec is not None and (shown is None or "/" in shown):
                return False
            node = node.value
        text = self._module.text(node)
        if text is not None:
            return "/" not in text and ".." not in text
        if isinstance(node, ast.Name):
            return bool(self._bindings and self._bindings.is_number(node))
        if not isinstance(node, ast.Call):
            return isinstance(node, ast.Constant)
        if isinstance(node.func, ast.Name) and node.func.id in ("len", "int", "hash", "id"):
            return self._module.is_builtin(node.func.id)
        if isinstance(node.func, ast.Name) and node.func.id == "str" and len(node.args) == 1:
            return self._module.is_builtin("str") and self._is_text_without_slash(node.args[0])
        return self._module.is_sure(node.func) and bool(
            self._module.keys(node.func) & {"os.getpid", "secrets.token_hex", "uuid.uuid4"}
        )

    def _is_last_part(self, node: ast.expr) -> bool:
        """Return True for `.name` or `.stem` of a path, or its basename."""
        match node:
            case ast.Attribute(value=ast.Call(func=func), attr="name" | "stem"):
                return last_name(func) in PATHS and self._module.is_sure(func)
            case ast.Call(func=func, args=[_]):
                return "path.basename" in self._module.keys(func) and self._module.is_sure(func)
            case _:
                return False

    def _kind_with_suffix(self, own: int | None, parts: list[ast.expr]) -> int | None:
        """Return the kind of a path with text after it."""
        if own is None or own < 0:
            return None
        for part in parts:
            text = self._module.text(part)
            decided = ".." not in text if text is not None else self._is_text_without_slash(part)
            if not decided:
                return None
        return own

    def _is_temporary_source(self, call: ast.Call) -> bool:
        return bool(self._module.keys(call.func) & TEMPORARY) and self._module.is_sure(call.func)

    def _kind_of_source(self, call: ast.Call) -> int | None:
        (key,) = self._module.keys(call.func)
        if key.startswith("tempfile.") and not self.stays(call):
            return None
        if key in _PAIRS:
            return PAIR
        return 0 if key in _PLACES else OBJECT

    def stays(self, call: ast.Call) -> bool:
        """Return True if the library chooses a temporary file's name and folder."""
        is_file = last_name(call.func).endswith("TemporaryFile")
        first = call.args[0] if call.args else None
        plain = first is None or is_file or (_is_none(first) or self._is_text_without_slash(first))
        return plain and len(call.args) < 2 and all(map(self._is_harmless_keyword, call.keywords))

    def _is_harmless_keyword(self, each: ast.keyword) -> bool:
        if _is_none(each.value):
            return True
        if each.arg == "dir":
            return self.owns_folder(each.value)
        if each.arg in _TEXT_ARGUMENTS:
            return self._is_text_without_slash(each.value) or self._count_parts(each.value) == 1
        return each.arg is not None


def _kind_of_attribute(kind: int | None, name: str) -> int | None:
    if kind == OBJECT and name in ("name", "buffer", "raw", "file"):
        return 0 if name == "name" else OBJECT
    return kind - 1 if kind is not None and kind > 0 and name == "parent" else None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
