"""A place that cannot be written is named with a way that leads on."""

import errno
import os

import pytest

from pulsus.errors import StorageUnwritable, place_from_option, storage_error, storage_errors


def denied():
    return OSError(errno.EACCES, os.strerror(errno.EACCES))


def test_a_place_from_the_command_line_is_not_sent_to_the_settings(tmp_path):
    with (
        pytest.raises(StorageUnwritable) as refused,
        place_from_option("name another file with -o"),
        storage_errors(tmp_path),
    ):
        raise denied()
    assert refused.value.hint == "give this user write access to it, or name another file with -o"
    assert storage_error(denied(), tmp_path).hint.endswith("name another folder in the settings")


def test_the_whole_missing_folder_is_named_and_not_only_its_beginning(tmp_path):
    failure = OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    found = storage_error(failure, tmp_path / "nope/x/plan.yaml")
    assert f"the folder {tmp_path}/nope/x does not exist" in found.message
    assert found.hint == f"make the folder {tmp_path}/nope/x, or name another place"
