"""Records: what frozen dataclasses are, made quickly."""

import copy
import dataclasses
import pickle
from collections.abc import Mapping
from typing import Any

import pytest

from pulsus.fast_dataclass import dataclass, replace


@dataclass(frozen=True, slots=True)
class Own:
    """A record."""

    a: int
    b: str = "x"
    c: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Std:
    """The same, the usual way."""

    a: int
    b: str = "x"
    c: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class One:
    """One field, checked."""

    a: int

    def __post_init__(self):
        if self.a < 0:
            raise ValueError("a < 0")


@dataclass(frozen=True)
class More(One):
    """An heir."""

    b: int = 2


@pytest.mark.parametrize("given", [{"a": 1}, {"a": 1, "b": "y"}, {"a": 1, "c": {"k": 2}}])
def test_a_fast_dataclass_behaves_like_a_dataclass(given):
    own, std = Own(**given), Std(**given)
    assert repr(own) == repr(std).replace("Std", "Own")
    assert dataclasses.asdict(own) == dataclasses.asdict(std)
    assert dataclasses.astuple(dataclasses.replace(own, a=5)) == (5, own.b, own.c)
    assert own == Own(**given)
    assert own != Own(**{**given, "a": 9})
    assert (own == std) is False  # type: ignore[comparison-overlap]


@pytest.mark.parametrize("changes", [{}, {"a": 5}, {"b": "y", "c": {"k": 2}}])
def test_a_quick_replace_changes_what_that_of_the_library_changes(changes):
    own = Own(1, c={"k": 1})
    made = replace(own, **changes)
    assert made == dataclasses.replace(own, **changes)
    assert made is not own
    assert replace(More(1), a=2) == More(2)
    assert replace(One(1), a=2) == One(2)


def test_a_quick_replace_takes_no_unknown_field_and_checks_values():
    unknown: dict[str, Any] = {"z": 1}
    with pytest.raises(TypeError):
        replace(Own(1), **unknown)
    with pytest.raises(ValueError, match="a < 0"):
        replace(One(1), a=-1)


def test_a_fast_dataclass_cannot_be_changed():
    own = Own(1)
    for change in (lambda: setattr(own, "a", 2), lambda: setattr(own, "z", 2)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    with pytest.raises(dataclasses.FrozenInstanceError):
        del own.a
    assert not hasattr(own, "__dict__")


def test_equal_values_have_equal_hashes_and_a_list_field_has_none():
    assert hash(One(1)) == hash(One(1))
    assert len({One(1), One(1), One(2)}) == 2
    with pytest.raises(TypeError):
        hash(Own(1))


def test_every_instance_gets_its_own_default():
    assert Own(1).c is not Own(1).c


def test_instances_can_be_copied_and_pickled():
    own = Own(1, c={"k": [1]})
    assert pickle.loads(pickle.dumps(own)) == own
    assert copy.deepcopy(own) == copy.copy(own) == own


def test_pattern_matching_inheritance_and_post_init_work():
    match Own(1, "z"):
        case Own(a, b):
            assert (a, b) == (1, "z")
    assert More(1) == More(1, 2)
    assert One(1) != More(1)
    for broken in (lambda: One(-1), lambda: More(-1), lambda: Own(**{})):
        with pytest.raises((ValueError, TypeError)):
            broken()


def test_a_class_that_is_not_frozen_is_refused():
    with pytest.raises(ValueError, match="frozen"):
        dataclass(frozen=False)
