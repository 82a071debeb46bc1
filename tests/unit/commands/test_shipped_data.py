"""Parsed data is kept for exactly the file it came from."""

import os

import pytest

from pulsus.commands import shipped_data


@pytest.fixture(autouse=True)
def bytecode(monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", False)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text("a: 1\n", encoding="utf-8")
    return path


def read(file):
    return shipped_data.shipped(file, shipped_data.parse_yaml)


def never(text):
    raise AssertionError("it was parsed again")


def test_an_unchanged_file_is_parsed_once(file):
    assert read(file) == {"a": 1}
    assert shipped_data.shipped(file, never) == {"a": 1}


def test_a_changed_file_is_parsed_again(file):
    read(file)
    file.write_text("a: 2\n", encoding="utf-8")
    os.utime(file, ns=(1, 1))
    assert read(file) == {"a": 2}


@pytest.mark.parametrize("kept", [b"", b"\xff" * 40, b"N"])
def test_damaged_data_is_parsed_again(file, kept):
    read(file)
    (cached,) = (file.parent / "__pycache__").iterdir()
    cached.write_bytes(kept)
    assert read(file) == {"a": 1}


def test_no_cache_is_written_if_python_writes_no_bytecode(file, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert read(file) == {"a": 1}
    assert not (file.parent / "__pycache__").exists()


def test_a_folder_that_cannot_be_written_is_no_error(file, monkeypatch):
    def denied(*_, **__):
        raise PermissionError

    monkeypatch.setattr(os, "makedirs", denied)
    assert read(file) == {"a": 1}
