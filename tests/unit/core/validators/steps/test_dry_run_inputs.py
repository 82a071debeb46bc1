"""A dry run calls a tool with its examples, or with values made of its types."""

import pytest

from pulsus.core.types import ArgSpec
from pulsus.core.validators.steps.dry_run_inputs import (
    FILE,
    FOLDER,
    NeedsExample,
    list_cases,
    make_up_value,
)
from tests.candidates import DOCUMENTED, tool_of


def arg(hint, name="value"):
    return ArgSpec(name=name, type_hint=hint, required=True, default=None)


def signature(text, doc="Tool."):
    return tool_of(f'"""{doc}"""\ndef run({text}):\n    """It."""\n')


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        ("str", "example"),
        ("int", 1),
        ("float", 1.0),
        ("bool", False),
        ("list", []),
        ("list[str]", ["example"]),
        ("list[dict[str, Any]]", []),
        ("Sequence[int]", [1]),
        ("dict[str, int]", {}),
        ("collections.abc.Mapping[str, int]", {}),
        ("Path", FILE),
        ("pathlib.Path", FILE),
        ("'Path'", FILE),
        ("list[Path]", [FILE]),
        ("Optional[int]", None),
        ("int | None", None),
        ("Union[int, str]", 1),
        ("Callable[[], int] | str", "example"),
        ("Literal['json', 'csv']", "json"),
        ("Annotated[int, 'bytes']", 1),
        ("None", None),
        ("datetime.date", "2024-01-31"),
        ("datetime | None", None),
        ("list[date]", ["2024-01-31"]),
    ],
)
def test_a_value_is_made_up_from_the_hint(hint, value):
    assert make_up_value(arg(hint)) == value


def test_a_path_named_like_a_folder_is_a_folder():
    assert make_up_value(arg("Path", "log_dir")) == FOLDER


@pytest.mark.parametrize("hint", [None, "Any", "Callable[[], int]", "bytes", "Widget", "a b", ""])
def test_nothing_is_guessed_for_other_hints(hint):
    with pytest.raises(NeedsExample, match=r"'value'.*example"):
        make_up_value(arg(hint))


def test_all_examples_are_taken_in_order():
    items = "".join(f"    - inputs: {{value: {n}}}\n" for n in range(8))
    source = DOCUMENTED.replace("    - inputs: {value: 4}\n      output: {value: 8}\n", items)
    found = list_cases(tool_of(source))
    assert [case.example.inputs["value"] for case in found] == list(range(8))
    assert not any(case.made_up for case in found)


def test_arguments_missing_in_an_example_are_made_up_and_named():
    source = DOCUMENTED.replace("value: int)", "value: int, unit: str)")
    (case,) = list_cases(tool_of(source))
    assert case.example.inputs == {"value": 4, "unit": "example"}
    assert case.made_up == ("unit",)


def test_defaults_are_left_alone():
    (case,) = list_cases(signature("a: int = 3, *args, **kwargs"))
    assert (case.example.inputs, case.made_up) == ({}, ())


def test_a_made_up_path_exists():
    (case,) = list_cases(signature("folder: Path"))
    assert case.example.inputs == {"folder": FOLDER}
    assert [file.path for file in case.example.files] == [FILE]


def test_a_write_tool_is_called_with_dry_run_true():
    (case,) = list_cases(signature("dry_run: bool = False"))
    assert case.example.inputs == {"dry_run": True}


def test_a_write_tools_example_may_say_otherwise():
    doc = "Tool.\n\nKind: write\n\nExamples:\n    - inputs: {dry_run: false}\n"
    own, tried = list_cases(signature("dry_run: bool = False", doc))
    assert own.example.inputs == {"dry_run": False}
    assert tried.example.inputs == {"dry_run": True}  # it is tried with it all the same
    assert not tried.example.has_expected


def test_a_read_tools_flag_is_its_own_affair():
    (case,) = list_cases(signature("dry_run: bool = False", "Tool.\n\nKind: read\n"))
    assert case.example.inputs == {}
