"""Create frozen dataclasses quickly.

`dataclasses` generates and compiles six functions for each frozen class. That takes half a
millisecond a class, and a warm route imports more than a hundred of them: a fifth of its time. Here
only `__init__` is compiled, at its first call; all classes share the other methods. Type checkers
see `dataclasses.dataclass`, and `fields`, `replace` and `asdict` work as usual. The `replace` of
this module does the same as that of `dataclasses`, in less time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:

    def dataclass(*, frozen: bool, slots: bool = False) -> Callable[[type], type]:
        """Return a decorator for a frozen dataclass with `__init__`, `==`, `hash` and `repr`.

        The arguments mean the same as in `dataclasses.dataclass`. Raises ValueError for a class
        that is not frozen: use the original for it.
        """
        if not frozen:
            raise ValueError("the class is not frozen: use dataclasses.dataclass for it")
        # `dataclasses` still collects the fields, so its helpers know the class.
        plain = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)
        return lambda cls: _add_methods(plain(cls))

    def replace(value: Any, /, **changes: Any) -> Any:
        """Return a copy of a value of a class of this module, with the fields of `changes`.

        Raises TypeError for a field that the class does not have.
        """
        cls = value.__class__
        values = [*cls._values(value)]
        for name, changed in changes.items():
            if name not in cls._places:
                raise TypeError(f"{cls.__qualname__} has no field {name!r}")
            values[cls._places[name]] = changed
        return cls(*values)


def _add_methods(cls: Any) -> Any:
    fields = dataclasses.fields(cls)
    names = [f.name for f in fields]
    cls._places = {name: place for place, name in enumerate(names)}
    cls._values = staticmethod(_build_getter(names))
    cls._shown = [f.name for f in fields if f.repr]
    _build_init_late(cls, fields)
    # A method that the class defines itself stays. Python sets `__hash__` to None beside `__eq__`.
    for name, method in _METHODS.items():
        if name not in cls.__dict__ or cls.__dict__[name] is None:
            setattr(cls, name, method)
    return cls


def _build_getter(names: list[str]) -> Callable[[Any], Any]:
    match names:
        case []:
            return lambda _: ()
        case [name]:  # the getter of one name returns no tuple
            return lambda value: (getattr(value, name),)
        case _:
            return attrgetter(*names)


def _build_init_late(cls: Any, fields: tuple[dataclasses.Field[Any], ...]) -> None:
    """Give the class an `__init__` that replaces itself by the compiled one at its first call.

    A run makes values of half of the classes that it imports.
    """

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        cls.__init__ = _build_init(cls, fields)
        cls.__init__(self, *args, **kwargs)

    cls.__init__ = __init__


def _build_init(cls: Any, fields: tuple[dataclasses.Field[Any], ...]) -> Any:
    """Return an `__init__` that takes the fields, by position or name, with their defaults."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": dataclasses.MISSING}
    arguments, lines = [], []
    for f in fields:
        value = f.name
        if f.default is not dataclasses.MISSING:
            known[f"_default_{f.name}"] = f.default
            arguments.append(f"{f.name}=_default_{f.name}")
        elif f.default_factory is not dataclasses.MISSING:
            known[f"_factory_{f.name}"] = f.default_factory
            arguments.append(f"{f.name}=_missing")
            value = f"_factory_{f.name}() if {f.name} is _missing else {f.name}"
        else:
            arguments.append(f.name)
        slot = getattr(cls, f.name, None)
        if isinstance(slot, MemberDescriptorType):
            # Two thirds of the time that `object.__setattr__` takes.
            known[f"_slot_{f.name}"] = slot.__set__
            lines.append(f"  _slot_{f.name}(_self, {value})")
        else:
            lines.append(f"  _set(_self, {f.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("  _self.__post_init__()")
    text = f"def __init__({', '.join(('_self', *arguments))}):\n" + "\n".join(lines or ["  pass"])
    made: dict[str, Any] = {}
    # `text` has only names of fields: values come in through `known`.
    exec(text, known, made)
    init = made["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._values(self) == self._values(other)


def _hash(self: Any) -> int:
    return hash(self._values(self))


def _repr(self: Any) -> str:
    shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in self._shown])
    return f"{self.__class__.__qualname__}({shown})"


def _setattr(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for f, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)


_METHODS: dict[str, Any] = {
    "__eq__": _eq,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
}
