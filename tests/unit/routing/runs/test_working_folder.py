"""A relative path is a file of the folder in which its run began."""

import pytest

from pulsus.core.types import Effects
from pulsus.routing.runs.working_folder import find_relative_path
from tests.compositions import spec


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.ini").write_text("a = 1\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"path": "app.ini"}, "app.ini"),
        ({"rows": [{"path": "./app.ini", "mode": "600"}]}, "./app.ini"),
        ({"folder": "."}, "."),
        ({"path": "/etc/hosts", "text": "app", "user": ""}, None),
        ({"path": "~/app.ini"}, None),
        ({"text": "a\0b", "long": "x" * 9000}, None),
    ],
)
def test_a_path_of_the_folder_is_found_at_any_depth(values, expected, folder):
    assert find_relative_path([(None, values)], folder) == expected


def test_a_file_that_does_not_exist_yet_is_a_path_if_the_effects_name_it(folder):
    declared = spec("shared/report/make_report", "out", effects=Effects(paths=("{out}",)))
    values = {"out": "report.md", "title": "report"}
    assert find_relative_path([(declared, values)], folder) == "report.md"
    assert find_relative_path([(None, values)], folder) is None
