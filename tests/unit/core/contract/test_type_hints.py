"""Type hints as text: what fits what (routing spec §6)."""

import pytest

from pulsus.core.contract import type_compatibility, type_hints


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("str", "str"),
        ("str", None),
        (None, "list[int]"),
        ("Any", "dict[str, Any]"),
        ("int", "float"),
        ("str", "Path"),
        ("pathlib.Path", "str"),
        ("str", "str | None"),
        ("str | None", "str"),
        ("Optional[str]", "str"),
        ("str", "Union[int, str]"),
        ("list", "list[dict[str, Any]]"),
        ("list[dict[str, Any]]", "list"),
        ("list[dict[str, int]]", "Sequence[Mapping[str, Any]]"),
        ("List[Dict[str, Any]]", "list[dict[str, Any]]"),
        ("tuple[int, ...]", "list[int]"),
        ("Literal['a', 'b']", "str"),
        ("Literal['a']", "Literal['a', 'b']"),
        ("'list[str]'", "Iterable[str]"),
        ("rows of things", "int"),
        ("int) or (str", "list[int]"),
        ("", "list[int]"),
        ("int" + " | int" * 5000, "str"),
        ("list[" * 90 + "int" + "]" * 90, "str | list[Any]"),
        ("pd.DataFrame", "DataFrame"),
    ],
)
def test_fits(source, target):
    assert type_compatibility.fits(type_hints.parse_hint(source), type_hints.parse_hint(target))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("str", "int"),
        ("float", "int"),
        ("bool", "int"),
        ("str", "list[dict[str, Any]]"),
        ("list[str]", "list[dict[str, Any]]"),
        ("dict[str, Any]", "list[dict[str, Any]]"),
        ("str | list[str]", "str"),
        ("str", "Literal['a']"),
        ("Literal['c']", "Literal['a', 'b']"),
        ("DataFrame", "dict[str, Any]"),
    ],
)
def test_does_not_fit(source, target):
    assert not type_compatibility.fits(type_hints.parse_hint(source), type_hints.parse_hint(target))


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        ("int", True, False),
        ("float", 1, True),
        ("bool", True, True),
        ("list[int]", [1, "2"], False),
        ("dict[str, list[int]]", {"a": [1]}, True),
        ("Literal[1]", True, False),
        ("str | None", None, True),
        ("str", None, False),
        (None, {"x": None}, True),
        ("DataFrame", [1], True),
    ],
)
def test_accepts(hint, value, expected):
    assert type_compatibility.accepts(type_hints.parse_hint(hint), value) is expected


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        ("Optional[pathlib.Path]", "Path | None"),
        ("Sequence[Mapping[str, object]]", "list[dict[str, Any]]"),
        ("pd.DataFrame", "Any"),
        ("Literal['a', 2]", 'Literal["a", 2]'),
        ("lambda: 0", "Any"),
        ("__import__('os').system('id')", "Any"),
    ],
)
def test_an_annotation_uses_only_names_a_module_has(hint, expected):
    assert type_hints.write_annotation(type_hints.parse_hint(hint)) == expected
