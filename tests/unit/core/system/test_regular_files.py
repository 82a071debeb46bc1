"""Files that a user named (core/system/regular_files.py)."""

import pytest

from pulsus.core.system.regular_files import read_named_file
from pulsus.errors import PlanInvalid, UsageError


def read(path, most=10_000_000):
    return read_named_file(path, "there.yaml", "a plan", most, PlanInvalid)[0]


@pytest.mark.parametrize("name", ["missing.yaml", "file/below"])
def test_a_missing_file_is_named_as_missing(tmp_path, name):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match=r"there\.yaml does not exist") as error:
        read(tmp_path / name)
    assert "correct the path" in error.value.hint


def test_only_a_file_that_is_too_large_is_answered_with_the_limit(tmp_path):
    (tmp_path / "large").write_bytes(b"x" * 1_000_001)
    with pytest.raises(PlanInvalid, match="1000001 bytes") as error:
        read(tmp_path / "large", 1_000_000)
    assert "at most 1 MB" in error.value.hint
    with pytest.raises(PlanInvalid, match="is a folder") as error:
        read(tmp_path)
    assert "MB" not in error.value.hint
    (tmp_path / "link").symlink_to(tmp_path / "large")
    assert len(read(tmp_path / "link")) == 1_000_001
